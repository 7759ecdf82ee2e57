// Disruption budgets: shares, selectors, generations, the status and the row.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFound, contextWith, type Row } from '../core/pod-spec/pod-spec.fixture.js'
import { testMetadata, writerOf } from '../core/workload.fixture.js'
import { podDisruptionBudget } from './pod-disruption-budget.js'
import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from './v1.schema.js'

const { kind, complete, create, update, createErrors, updateErrors, statusErrors, cells } =
  writerOf<PodDisruptionBudget>(podDisruptionBudget)

test('the label that stood for an empty selector is never mixed with others', () => {
  const key = 'pdb.cluster.io/deprecated-v1beta1-empty-selector-match'
  const marker = { key, operator: 'DoesNotExist' }
  const other = { key: 'a', operator: 'Exists' }
  const kept = (selector: PodDisruptionBudgetSpec['selector'] & object) => complete({ spec: { selector } }).spec?.selector
  assert.deepEqual(kept({ matchExpressions: [marker] }), { matchExpressions: [marker] })
  assert.deepEqual(kept({ matchExpressions: [{ key, operator: 'Exists' }] }), { matchExpressions: [{ key, operator: 'Exists' }] })
  assert.deepEqual(kept({ matchExpressions: [marker, other] }), { matchExpressions: [other] })
  assert.deepEqual(kept({ matchLabels: { a: 'b' }, matchExpressions: [marker] }), { matchLabels: { a: 'b' } })
  assert.deepEqual(kept({ matchExpressions: [{ key, operator: 'In', values: ['x'] }] }), {})
})

const rows: readonly Row<PodDisruptionBudgetSpec>[] = [
  { title: 'nothing', given: {}, found: [] },
  { title: 'a number and a selector', given: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } }, found: [] },
  {
    title: 'both bounds',
    given: { minAvailable: 1, maxUnavailable: '10%' },
    found: ['spec: Invalid value: {"minAvailable":1,"maxUnavailable":"10%"}: minAvailable and maxUnavailable cannot be both set'],
  },
  {
    title: 'wrong shares',
    given: { maxUnavailable: '101%', selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    found: [
      'spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
      'spec.selector.matchExpressions[0].values: Required value',
    ],
  },
  { title: 'a negative number', given: { minAvailable: -1 }, found: ['spec.minAvailable: Invalid value: -1'] },
  { title: 'a word', given: { minAvailable: 'most' }, found: ['spec.minAvailable: Invalid value: "most": a valid percent string'] },
  {
    title: 'an unknown policy',
    given: { unhealthyPodEvictionPolicy: 'Maybe' },
    found: ['spec.unhealthyPodEvictionPolicy: Unsupported value: "Maybe": supported values: "AlwaysAllow", "IfHealthyBudget"'],
  },
]
for (const { title, given, found } of rows) {
  test(`a budget with ${title}`, () => {
    assertFound(createErrors({ spec: given }), found)
    assertFound(updateErrors({ spec: given }, create({})), found)
  })
}

test('changes raise the generation, a version must be given, and features that are off drop their field', () => {
  const old = create({ spec: { minAvailable: 1 } })
  assert.equal(old.metadata?.generation, 1)
  assert.equal(update({ metadata: old.metadata ?? {}, spec: { minAvailable: '50%' } }, old).metadata?.generation, 2)
  assert.equal(kind.versionRequiredOnUpdate, true)
  const without = writerOf<PodDisruptionBudget>(podDisruptionBudget, contextWith({ gates: () => false }))
  assert.deepEqual(without.create({ spec: { unhealthyPodEvictionPolicy: 'Maybe' } }).spec, {})
})

test('a status that counts wrong', () => {
  assertFound(
    statusErrors(
      {
        status: {
          disruptionsAllowed: -1,
          conditions: [{ type: 'a', status: 'True', reason: 'R', lastTransitionTime: testMetadata.creationTimestamp }],
        },
      },
      create({}),
    ),
    ['status.disruptionsAllowed: Invalid value: -1'],
  )
})

test('the row', () => {
  assert.deepEqual(cells({ spec: { minAvailable: 2 }, status: { disruptionsAllowed: 1 } }), ['a', '2', 'N/A', 1, '90s'])
  assert.deepEqual(cells({ spec: { maxUnavailable: '10%' } }), ['a', 'N/A', '10%', 0, '90s'])
})

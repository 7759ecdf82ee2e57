// Tests of PodDisruptionBudgets: bounds, selector, generation, status, printer columns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contextWith, type Row } from '../core/pod-spec/pod-spec.fixture.js'
import { testMetadata, writerOf } from '../core/workload/workload.fixture.js'
import { expectErrors, rowTitle } from '../expect-errors.fixture.js'
import { podDisruptionBudget } from './pod-disruption-budget.js'
import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from './v1.schema.js'

const { kind, complete, create, update, createErrors, updateErrors, statusErrors, cells } =
  writerOf<PodDisruptionBudget>(podDisruptionBudget)

test('the label of empty v1beta1 selectors is dropped next to other requirements', () => {
  const key = 'pdb.cluster.io/deprecated-v1beta1-empty-selector-match'
  const emptySelectorRequirement = { key, operator: 'DoesNotExist' }
  const other = { key: 'a', operator: 'Exists' }
  const kept = (selector: PodDisruptionBudgetSpec['selector'] & object) => complete({ spec: { selector } }).spec?.selector
  assert.deepEqual(kept({ matchExpressions: [emptySelectorRequirement] }), { matchExpressions: [emptySelectorRequirement] })
  assert.deepEqual(kept({ matchExpressions: [{ key, operator: 'Exists' }] }), { matchExpressions: [{ key, operator: 'Exists' }] })
  assert.deepEqual(kept({ matchExpressions: [emptySelectorRequirement, other] }), { matchExpressions: [other] })
  assert.deepEqual(kept({ matchLabels: { a: 'b' }, matchExpressions: [emptySelectorRequirement] }), { matchLabels: { a: 'b' } })
  assert.deepEqual(kept({ matchExpressions: [{ key, operator: 'In', values: ['x'] }] }), {})
})

const rows: readonly Row<PodDisruptionBudgetSpec>[] = [
  [{}],
  [{ minAvailable: 1, selector: { matchLabels: { a: 'b' } } }],
  [
    { minAvailable: 1, maxUnavailable: '10%' },
    'spec: Invalid value: {"minAvailable":1,"maxUnavailable":"10%"}: minAvailable and maxUnavailable cannot be both set',
  ],
  [
    { maxUnavailable: '101%', selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    'spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
    'spec.selector.matchExpressions[0].values: Required value',
  ],
  [{ minAvailable: -1 }, 'spec.minAvailable: Invalid value: -1'],
  [{ minAvailable: 'most' }, 'spec.minAvailable: Invalid value: "most": a valid percent string'],
  [
    { unhealthyPodEvictionPolicy: 'Maybe' },
    'spec.unhealthyPodEvictionPolicy: Unsupported value: "Maybe": supported values: "AlwaysAllow", "IfHealthyBudget"',
  ],
]
for (const [given, ...expected] of rows) {
  test(`a budget: ${rowTitle(given, expected)}`, () => {
    expectErrors(createErrors({ spec: given }), expected)
    expectErrors(updateErrors({ spec: given }, create({})), expected)
  })
}

test('spec changes increase the generation, PUT requires a resourceVersion, disabled feature gates drop fields', () => {
  const old = create({ spec: { minAvailable: 1 } })
  assert.equal(old.metadata?.generation, 1)
  assert.equal(update({ metadata: old.metadata ?? {}, spec: { minAvailable: '50%' } }, old).metadata?.generation, 2)
  assert.equal(kind.versionRequiredOnUpdate, true)
  const withoutGates = writerOf<PodDisruptionBudget>(podDisruptionBudget, contextWith({ gates: () => false }))
  assert.deepEqual(withoutGates.create({ spec: { unhealthyPodEvictionPolicy: 'Maybe' } }).spec, {})
})

test('status counts are validated', () => {
  expectErrors(
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

test('printer columns', () => {
  assert.deepEqual(cells({ spec: { minAvailable: 2 }, status: { disruptionsAllowed: 1 } }), ['a', '2', 'N/A', 1, '90s'])
  assert.deepEqual(cells({ spec: { maxUnavailable: '10%' } }), ['a', 'N/A', '10%', 0, '90s'])
})

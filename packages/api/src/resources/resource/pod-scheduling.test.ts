// Tests of PodScheduling: potential and unsuitable nodes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, rowTitle } from '../expect-errors.fixture.js'
import { podScheduling } from './resource-claims.js'
import type { PodScheduling } from './v1alpha1.schema.js'

const context = testContext()
const metadata = { name: 'p', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (more: PodScheduling = {}): PodScheduling => frozen({ metadata, ...more })
const nodes = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `n${i}`)

const lists: readonly (readonly [nodes: readonly string[], ...expected: readonly string[]])[] = [
  [[]],
  [nodes(128)],
  [nodes(129), ': Too long: may not be longer than 128'],
  [['a', 'b', 'a'], '[2]: Duplicate value: "a"'],
  [['A'], '[0]: Invalid value: "A": a lowercase RFC 1123 subdomain'],
]

for (const [nodes, ...problems] of lists) {
  test(`potential nodes: ${rowTitle(nodes, problems)}`, () => {
    const expected = problems.map((line) => `spec.potentialNodes${line}`)
    expectErrors(validateCreation(podScheduling, make({ spec: { potentialNodes: nodes } }), context), expected)
  })
  test(`unsuitable nodes: ${rowTitle(nodes, problems)}`, () => {
    const subresource = podScheduling.subresources?.[0]
    assert.ok(subresource !== undefined)
    const next = make({ status: { resourceClaims: [{ name: 'a' }, { name: 'b', unsuitableNodes: nodes }] } })
    const expected = problems.map((line) => `status.claims[1].unsuitableNodes${line}`)
    expectErrors(validateChange(podScheduling, { next, old: make(), subresource }, context), expected)
  })
}

test('claim names must be unique', () => {
  const next = make({ status: { resourceClaims: [{ name: 'a' }, { name: 'a' }] } })
  const errors = podScheduling.subresources?.[0]?.validateUpdate?.(next, make(), context) ?? []
  assert.deepEqual(lines(errors), ['status.claims[1]: Duplicate value: "a"'])
})

test('spec and status are updated separately', () => {
  const sent = make({ spec: { selectedNode: 'n' }, status: { resourceClaims: [{ name: 'a' }] } })
  const old = make({ spec: { selectedNode: 'o' }, status: {} })
  assert.deepEqual(podScheduling.prepareCreate?.(sent, context), { ...sent, status: {} })
  assert.deepEqual(podScheduling.prepareUpdate?.(sent, old, context), { ...sent, status: {} })
  assert.deepEqual(podScheduling.subresources?.[0]?.prepareUpdate(sent, old, context), { ...sent, spec: old.spec })
})

test('printer columns', () => {
  assert.deepEqual(podScheduling.table?.cells(make({ spec: { selectedNode: 'n' } }), context), ['p', 'n', '60m'])
})

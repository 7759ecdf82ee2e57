// The lists of nodes between scheduler and drivers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { podScheduling } from './pod-scheduling.js'
import type { PodScheduling } from './v1alpha1.schema.js'

const context = testContext()
const metadata = { name: 'p', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (more: PodScheduling = {}): PodScheduling => frozen({ metadata, ...more })
const nodes = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `n${i}`)

const lists: readonly { readonly title: string; readonly nodes: readonly string[]; readonly found: readonly string[] }[] = [
  { title: 'no nodes', nodes: [], found: [] },
  { title: '128 nodes', nodes: nodes(128), found: [] },
  { title: '129 nodes', nodes: nodes(129), found: [': Too long: may not be longer than 128'] },
  { title: 'a node twice', nodes: ['a', 'b', 'a'], found: ['[2]: Duplicate value: "a"'] },
  { title: 'a node that cannot be', nodes: ['A'], found: ['[0]: Invalid value: "A": a lowercase RFC 1123 subdomain'] },
]

for (const row of lists) {
  test(`potential nodes: ${row.title}`, () => {
    const errors = lines(validateCreation(podScheduling, make({ spec: { potentialNodes: row.nodes } }), context))
    const found = row.found.map((line) => `spec.potentialNodes${line}`)
    assert.deepEqual(
      errors.map((line, i) => line.slice(0, found[i]?.length)),
      found,
    )
  })
  test(`unsuitable nodes: ${row.title}`, () => {
    const subresource = podScheduling.subresources?.[0]
    assert.ok(subresource !== undefined)
    const next = make({ status: { resourceClaims: [{ name: 'a' }, { name: 'b', unsuitableNodes: row.nodes }] } })
    const errors = lines(validateChange(podScheduling, { next, old: make(), subresource }, context))
    const found = row.found.map((line) => `status.claims[1].unsuitableNodes${line}`)
    assert.deepEqual(
      errors.map((line, i) => line.slice(0, found[i]?.length)),
      found,
    )
  })
}

test('claims are told apart by name', () => {
  const next = make({ status: { resourceClaims: [{ name: 'a' }, { name: 'a' }] } })
  const errors = podScheduling.subresources?.[0]?.validateUpdate?.(next, make(), context) ?? []
  assert.deepEqual(lines(errors), ['status.claims[1]: Duplicate value: "a"'])
})

test('spec and status are written apart', () => {
  const sent = make({ spec: { selectedNode: 'n' }, status: { resourceClaims: [{ name: 'a' }] } })
  const old = make({ spec: { selectedNode: 'o' }, status: {} })
  assert.deepEqual(podScheduling.prepareCreate?.(sent, context), { ...sent, status: {} })
  assert.deepEqual(podScheduling.prepareUpdate?.(sent, old, context), { ...sent, status: {} })
  assert.deepEqual(podScheduling.subresources?.[0]?.prepareUpdate(sent, old, context), { ...sent, spec: old.spec })
})

test('a row of the table', () => {
  assert.deepEqual(podScheduling.table?.cells(make({ spec: { selectedNode: 'n' } }), context), ['p', 'n', '60m'])
})

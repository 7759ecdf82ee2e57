// Tests of Leases.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { rowTitle } from '../expect-errors.fixture.js'
import { lease } from './lease.js'
import type { Lease } from './v1.schema.js'

const context = testContext()
const metadata = { name: 'l', namespace: 'shop', resourceVersion: '1', finalizers: ['plain'], creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (spec?: NonNullable<Lease['spec']>): Lease => frozen({ metadata, ...(spec === undefined ? {} : { spec }) })

const rows: readonly (readonly [object: Lease, ...expected: readonly string[]])[] = [
  [make()],
  [make({ holderIdentity: 'h', leaseDurationSeconds: 1, leaseTransitions: 0 })],
  [
    make({ leaseDurationSeconds: 0, leaseTransitions: -1 }),
    'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
    'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
  ],
]

for (const [object, ...expected] of rows) {
  test(`create: ${rowTitle(object, expected)}`, () => assert.deepEqual(lines(validateCreation(lease, object, context)), expected))
  test(`update: ${rowTitle(object, expected)}`, () =>
    assert.deepEqual(lines(validateChange(lease, { next: object, old: make() }, context)), expected))
}

test('printer columns', () => {
  assert.deepEqual(lease.table?.cells(make({ holderIdentity: 'h' }), context), ['l', 'h', '60m'])
  assert.deepEqual(lease.table?.cells(make(), context), ['l', '', '60m'])
})

test('PUT creates, and requires a resourceVersion on update', () => {
  assert.equal(lease.createOnUpdate, true)
  assert.equal(lease.versionRequiredOnUpdate, true)
})

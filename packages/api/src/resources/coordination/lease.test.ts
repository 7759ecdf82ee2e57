// The few rules of leases.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { lease } from './lease.js'
import type { Lease } from './v1.schema.js'

const context = testContext()
const metadata = { name: 'l', namespace: 'shop', resourceVersion: '1', finalizers: ['plain'], creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (spec?: NonNullable<Lease['spec']>): Lease => frozen({ metadata, ...(spec === undefined ? {} : { spec }) })

const rows: readonly { readonly title: string; readonly object: Lease; readonly found: readonly string[] }[] = [
  { title: 'without spec', object: make(), found: [] },
  { title: 'in full', object: make({ holderIdentity: 'h', leaseDurationSeconds: 1, leaseTransitions: 0 }), found: [] },
  {
    title: 'without duration and with less than no transitions',
    object: make({ leaseDurationSeconds: 0, leaseTransitions: -1 }),
    found: [
      'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
      'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
    ],
  },
]

for (const { title, object, found } of rows) {
  test(`create ${title}`, () => assert.deepEqual(lines(validateCreation(lease, object, context)), found))
  test(`update ${title}`, () => assert.deepEqual(lines(validateChange(lease, { next: object, old: make() }, context)), found))
}

test('a row of the table', () => {
  assert.deepEqual(lease.table?.cells(make({ holderIdentity: 'h' }), context), ['l', 'h', '60m'])
  assert.deepEqual(lease.table?.cells(make(), context), ['l', '', '60m'])
})

test('a PUT creates, and needs a version where there is one', () => {
  assert.equal(lease.createOnUpdate, true)
  assert.equal(lease.versionRequiredOnUpdate, true)
})

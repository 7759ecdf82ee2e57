// Tests of ResourceClaims: immutable spec, status transitions, printer columns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, rowTitle } from '../expect-errors.fixture.js'
import { resourceClaim } from './resource-claims.js'
import type { ResourceClaim, ResourceClaimStatus } from './v1alpha1.schema.js'

const context = testContext()
const metadata = { name: 'c', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const spec = { resourceClassName: 'gpu', allocationMode: 'WaitForFirstConsumer' }
const make = (more: ResourceClaim = {}): ResourceClaim => frozen({ metadata, spec, ...more })

test('allocationMode defaults to WaitForFirstConsumer', () => {
  assert.deepEqual(resourceClaim.defaults?.(frozen({ metadata }), context), { metadata, spec: { allocationMode: 'WaitForFirstConsumer' } })
  const immediate = make({ spec: { allocationMode: 'Immediate' } })
  assert.equal(resourceClaim.defaults?.(immediate, context), immediate)
})

test('an update keeps the status, a status update keeps the spec', () => {
  const sent = make({ metadata: { ...metadata, labels: { l: '1' } }, spec: { resourceClassName: 'x' }, status: { driverName: 'd' } })
  const old = make({ status: { driverName: 'old' } })
  assert.deepEqual(resourceClaim.prepareCreate?.(sent, context), { ...sent, status: {} })
  assert.deepEqual(resourceClaim.prepareUpdate?.(sent, old, context), { ...sent, status: old.status })
  assert.deepEqual(resourceClaim.subresources?.[0]?.prepareUpdate(sent, old, context), { ...sent, spec })
})

const subdomain = 'a lowercase RFC 1123 subdomain must consist of'
const specs: readonly (readonly [spec: NonNullable<ResourceClaim['spec']>, ...expected: readonly string[]])[] = [
  [{ ...spec, parametersRef: { apiGroup: 'x.io', kind: 'P', name: 'n' } }],
  [{ ...spec, allocationMode: 'Immediate' }],
  [{ ...spec, resourceClassName: '' }, `spec.resourceClassName: Invalid value: "": ${subdomain}`],
  [{ ...spec, resourceClassName: 'GPU!' }, `spec.resourceClassName: Invalid value: "GPU!": ${subdomain}`],
  [{ ...spec, parametersRef: {} }, 'spec.parametersRef.kind: Required value', 'spec.parametersRef.name: Required value'],
  [
    { ...spec, allocationMode: 'Later' },
    'spec.allocationMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"',
  ],
]

for (const [spec, ...expected] of specs) {
  test(`a spec: ${rowTitle(spec, expected)}`, () => {
    expectErrors(validateCreation(resourceClaim, make({ spec }), context), expected)
  })
}

test('the spec is immutable, and errors of an invalid one are repeated', () => {
  const errors = lines(validateChange(resourceClaim, { next: make({ spec: { ...spec, resourceClassName: '!' } }), old: make() }, context))
  assert.deepEqual(
    errors.map((line) => line.split(': ')[0]),
    ['spec.resourceClassName', 'spec', 'spec.resourceClassName'],
  )
  assert.equal(errors[1], 'spec: Invalid value: {"resourceClassName":"!","allocationMode":"WaitForFirstConsumer"}: field is immutable')
  assert.deepEqual(validateChange(resourceClaim, { next: make({ status: {} }), old: make() }, context), [])
})

const driverName = 'd.example.com'
const allocation = { resourceHandle: 'h', shareable: true }
const consumer = (n: number) => ({ resource: 'pods', name: `p${n}`, uid: `uid-${n}` })
const allocated = { driverName, allocation }
const deallocating = { ...allocated, deallocationRequested: true }
const noNewConsumers =
  'status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set'
const unallocated = 'status.reservedFor: Forbidden: may not be specified when `allocated` is not set'

type StatusRow = readonly [
  next: ResourceClaimStatus,
  old: ResourceClaimStatus | undefined,
  isDeleted: boolean | undefined,
  ...expected: readonly string[],
]

const statuses: readonly StatusRow[] = [
  [{}, undefined, undefined],
  [{ driverName }, undefined, undefined],
  [allocated, undefined, undefined],
  [{ allocation }, undefined, undefined, 'status.driverName: Required value: must be specified when `allocation` is set'],
  [{ driverName: 'a_b' }, undefined, undefined, `status.driverName: Invalid value: "a_b": ${subdomain}`],
  [{ driverName: 'd'.repeat(64) }, undefined, undefined, 'status.driverName: Too long: must have at most 63 bytes'],
  [{ driverName, allocation: { resourceHandle: 'h'.repeat(16384) } }, undefined, undefined],
  [
    { driverName, allocation: { resourceHandle: 'h'.repeat(16385) } },
    undefined,
    undefined,
    'status.allocation.resourceHandle: Too long: may not be longer than 16384',
  ],
  [
    { driverName, allocation: { availableOnNodes: {} } },
    undefined,
    undefined,
    'status.allocation.availableOnNodes.nodeSelectorTerms: Required value: must have at least one node selector term',
  ],
  [{ driverName, allocation: { resourceHandle: 'other' } }, allocated, undefined],
  [{ ...allocated, reservedFor: [consumer(1), consumer(2)] }, undefined, undefined],
  [{ ...allocated, reservedFor: Array.from({ length: 32 }, (_, n) => consumer(n)) }, undefined, undefined],
  [
    { ...allocated, reservedFor: Array.from({ length: 33 }, (_, n) => consumer(n)) },
    undefined,
    undefined,
    'status.reservedFor: Too long: may not be longer than 32',
  ],
  [
    { ...allocated, reservedFor: [consumer(1), { ...consumer(2), uid: 'uid-1' }] },
    undefined,
    undefined,
    'status.reservedFor[1].uid: Duplicate value: "uid-1"',
  ],
  [
    { ...allocated, reservedFor: [{}] },
    undefined,
    undefined,
    ...['resource', 'name', 'uid'].map((name) => `status.reservedFor[0].${name}: Required value`),
  ],
  [{ driverName, reservedFor: [consumer(1)] }, undefined, undefined, unallocated],
  [
    { driverName, allocation: { resourceHandle: 'h' }, reservedFor: [consumer(1), consumer(2)] },
    undefined,
    undefined,
    'status.reservedFor: Forbidden: may not be reserved more than once',
  ],
  [{ driverName, allocation: {}, reservedFor: [consumer(1)] }, undefined, undefined],
  [deallocating, allocated, undefined],
  [
    { driverName, deallocationRequested: true },
    undefined,
    undefined,
    'status: Forbidden: `allocation` must be set when `deallocationRequested` is set',
  ],
  [
    { ...deallocating, reservedFor: [consumer(1)] },
    { ...allocated, reservedFor: [consumer(1)] },
    undefined,
    'status.deallocationRequested: Forbidden: deallocation cannot be requested while `reservedFor` is set',
  ],
  [{ ...deallocating, reservedFor: [consumer(3)] }, deallocating, undefined, noNewConsumers],
  [{ ...deallocating, reservedFor: [consumer(2)] }, { ...deallocating, reservedFor: [consumer(1), consumer(2)] }, undefined],
  [
    { ...deallocating, reservedFor: [{ ...consumer(1), name: 'other' }] },
    { ...deallocating, reservedFor: [consumer(1)] },
    undefined,
    noNewConsumers,
  ],
  [{ ...allocated, reservedFor: [consumer(1)] }, allocated, true, noNewConsumers],
  [allocated, deallocating, undefined, 'status.deallocationRequested: Forbidden: may not be cleared when `allocation` is set'],
  [{}, deallocating, undefined],
]

for (const [next, old, isDeleted, ...expected] of statuses) {
  test(`a status: ${rowTitle(next, expected)}`, () => {
    const subresource = resourceClaim.subresources?.[0]
    assert.ok(subresource !== undefined)
    const deletion = isDeleted ? { deletionTimestamp: '2024-03-01T11:00:00Z' } : {}
    const claim = (status: ResourceClaimStatus): ResourceClaim => make({ metadata: { ...metadata, ...deletion }, status })
    expectErrors(validateChange(resourceClaim, { next: claim(next), old: claim(old ?? {}), subresource }, context), expected)
  })
}

const deleted = { ...metadata, deletionTimestamp: '2024-03-01T11:00:00Z' }
const states: readonly (readonly [claim: ResourceClaim, state: string])[] = [
  [{}, 'pending'],
  [{ status: allocated }, 'allocated'],
  [{ status: { ...allocated, reservedFor: [consumer(1)] } }, 'allocated,reserved'],
  [{ metadata: deleted }, 'deleted'],
  [{ metadata: deleted, status: { ...allocated, reservedFor: [consumer(1)] } }, 'deleted,allocated,reserved'],
]
for (const [claim, state] of states) {
  test(`printer columns of the state ${state}`, () => {
    assert.deepEqual(resourceClaim.table?.cells(make(claim), context), ['c', 'gpu', 'WaitForFirstConsumer', state, '60m'])
  })
}

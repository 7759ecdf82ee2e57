// The life of a claim: a spec that is written once, and a status between allocated, reserved and deallocating.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { resourceClaim } from './resource-claim.js'
import type { ResourceClaim, ResourceClaimStatus } from './v1alpha1.schema.js'

const context = testContext()
const metadata = { name: 'c', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const spec = { resourceClassName: 'gpu', allocationMode: 'WaitForFirstConsumer' }
const make = (more: ResourceClaim = {}): ResourceClaim => frozen({ metadata, spec, ...more })

test('allocation waits for the first consumer unless said otherwise', () => {
  assert.deepEqual(resourceClaim.defaults?.(frozen({ metadata }), context), { metadata, spec: { allocationMode: 'WaitForFirstConsumer' } })
  const immediate = make({ spec: { allocationMode: 'Immediate' } })
  assert.equal(resourceClaim.defaults?.(immediate, context), immediate)
})

test('the main resource does not write the status, and the status nothing but itself and metadata', () => {
  const sent = make({ metadata: { ...metadata, labels: { l: '1' } }, spec: { resourceClassName: 'x' }, status: { driverName: 'd' } })
  const old = make({ status: { driverName: 'old' } })
  assert.deepEqual(resourceClaim.prepareCreate?.(sent, context), { ...sent, status: {} })
  assert.deepEqual(resourceClaim.prepareUpdate?.(sent, old, context), { ...sent, status: old.status })
  assert.deepEqual(resourceClaim.subresources?.[0]?.prepareUpdate(sent, old, context), { ...sent, spec })
})

const subdomain = 'a lowercase RFC 1123 subdomain must consist of'
const specs: readonly { readonly title: string; readonly spec: NonNullable<ResourceClaim['spec']>; readonly found: readonly string[] }[] = [
  { title: 'good', spec: { ...spec, parametersRef: { apiGroup: 'x.io', kind: 'P', name: 'n' } }, found: [] },
  { title: 'immediate', spec: { ...spec, allocationMode: 'Immediate' }, found: [] },
  { title: 'without class', spec: { ...spec, resourceClassName: '' }, found: [`spec.resourceClassName: Invalid value: "": ${subdomain}`] },
  {
    title: 'with a bad class',
    spec: { ...spec, resourceClassName: 'GPU!' },
    found: [`spec.resourceClassName: Invalid value: "GPU!": ${subdomain}`],
  },
  {
    title: 'with incomplete parameters',
    spec: { ...spec, parametersRef: {} },
    found: ['spec.parametersRef.kind: Required value', 'spec.parametersRef.name: Required value'],
  },
  {
    title: 'with an unknown mode',
    spec: { ...spec, allocationMode: 'Later' },
    found: ['spec.allocationMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"'],
  },
]

for (const row of specs) {
  test(`a spec ${row.title}`, () => {
    const errors = lines(validateCreation(resourceClaim, make({ spec: row.spec }), context))
    assert.deepEqual(
      errors.map((line, i) => line.slice(0, row.found[i]?.length)),
      row.found,
    )
  })
}

test('a spec does not change, and a bad one is reported before and after', () => {
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
const going = { ...allocated, deallocationRequested: true }
const noNew = 'status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set'
const unallocated = 'status.reservedFor: Forbidden: may not be specified when `allocated` is not set'

interface StatusRow {
  readonly title: string
  readonly old?: ResourceClaimStatus
  readonly next: ResourceClaimStatus
  readonly isDeleted?: boolean
  readonly found: readonly string[]
}

const statuses: readonly StatusRow[] = [
  { title: 'nothing', next: {}, found: [] },
  { title: 'a driver that has not allocated yet', next: { driverName }, found: [] },
  { title: 'an allocation', next: allocated, found: [] },
  {
    title: 'an allocation by nobody',
    next: { allocation },
    found: ['status.driverName: Required value: must be specified when `allocation` is set'],
  },
  { title: 'a driver with a bad name', next: { driverName: 'a_b' }, found: [`status.driverName: Invalid value: "a_b": ${subdomain}`] },
  {
    title: 'a driver with a long name',
    next: { driverName: 'd'.repeat(64) },
    found: ['status.driverName: Too long: must have at most 63 bytes'],
  },
  { title: 'a handle at the limit', next: { driverName, allocation: { resourceHandle: 'h'.repeat(16384) } }, found: [] },
  {
    title: 'a handle over the limit',
    next: { driverName, allocation: { resourceHandle: 'h'.repeat(16385) } },
    found: ['status.allocation.resourceHandle: Too long: may not be longer than 16384'],
  },
  {
    title: 'an allocation on no nodes',
    next: { driverName, allocation: { availableOnNodes: {} } },
    found: ['status.allocation.availableOnNodes.nodeSelectorTerms: Required value: must have at least one node selector term'],
  },
  { title: 'another allocation', old: allocated, next: { driverName, allocation: { resourceHandle: 'other' } }, found: [] },
  { title: 'reservations', next: { ...allocated, reservedFor: [consumer(1), consumer(2)] }, found: [] },
  { title: '32 reservations', next: { ...allocated, reservedFor: Array.from({ length: 32 }, (_, n) => consumer(n)) }, found: [] },
  {
    title: '33 reservations',
    next: { ...allocated, reservedFor: Array.from({ length: 33 }, (_, n) => consumer(n)) },
    found: ['status.reservedFor: Too long: may not be longer than 32'],
  },
  {
    title: 'the same consumer twice',
    next: { ...allocated, reservedFor: [consumer(1), { ...consumer(2), uid: 'uid-1' }] },
    found: ['status.reservedFor[1].uid: Duplicate value: "uid-1"'],
  },
  {
    title: 'an empty consumer',
    next: { ...allocated, reservedFor: [{}] },
    found: ['resource', 'name', 'uid'].map((name) => `status.reservedFor[0].${name}: Required value`),
  },
  { title: 'a reservation of nothing', next: { driverName, reservedFor: [consumer(1)] }, found: [unallocated] },
  {
    title: 'several reservations of what is not shareable',
    next: { driverName, allocation: { resourceHandle: 'h' }, reservedFor: [consumer(1), consumer(2)] },
    found: ['status.reservedFor: Forbidden: may not be reserved more than once'],
  },
  { title: 'one reservation of what is not shareable', next: { driverName, allocation: {}, reservedFor: [consumer(1)] }, found: [] },
  { title: 'a request to deallocate', old: allocated, next: going, found: [] },
  {
    title: 'a request to deallocate what is not allocated',
    next: { driverName, deallocationRequested: true },
    found: ['status: Forbidden: `allocation` must be set when `deallocationRequested` is set'],
  },
  {
    title: 'a request to deallocate what is reserved',
    old: { ...allocated, reservedFor: [consumer(1)] },
    next: { ...going, reservedFor: [consumer(1)] },
    found: ['status.deallocationRequested: Forbidden: deallocation cannot be requested while `reservedFor` is set'],
  },
  { title: 'a reservation while deallocating', old: going, next: { ...going, reservedFor: [consumer(3)] }, found: [noNew] },
  {
    title: 'fewer reservations while deallocating',
    old: { ...going, reservedFor: [consumer(1), consumer(2)] },
    next: { ...going, reservedFor: [consumer(2)] },
    found: [],
  },
  {
    title: 'a reservation for another name while deallocating',
    old: { ...going, reservedFor: [consumer(1)] },
    next: { ...going, reservedFor: [{ ...consumer(1), name: 'other' }] },
    found: [noNew],
  },
  {
    title: 'a reservation while being deleted',
    old: allocated,
    next: { ...allocated, reservedFor: [consumer(1)] },
    isDeleted: true,
    found: [noNew],
  },
  {
    title: 'a request taken back',
    old: going,
    next: allocated,
    found: ['status.deallocationRequested: Forbidden: may not be cleared when `allocation` is set'],
  },
  { title: 'what is deallocated', old: going, next: {}, found: [] },
]

for (const row of statuses) {
  test(`the status may or may not be ${row.title}`, () => {
    const subresource = resourceClaim.subresources?.[0]
    assert.ok(subresource !== undefined)
    const ends = row.isDeleted ? { deletionTimestamp: '2024-03-01T11:00:00Z' } : {}
    const claim = (status: ResourceClaimStatus): ResourceClaim => make({ metadata: { ...metadata, ...ends }, status })
    const errors = lines(validateChange(resourceClaim, { next: claim(row.next), old: claim(row.old ?? {}), subresource }, context))
    assert.deepEqual(
      errors.map((line, i) => line.slice(0, row.found[i]?.length)),
      row.found,
    )
  })
}

const deleted = { ...metadata, deletionTimestamp: '2024-03-01T11:00:00Z' }
const states: readonly { readonly claim: ResourceClaim; readonly state: string }[] = [
  { claim: {}, state: 'pending' },
  { claim: { status: allocated }, state: 'allocated' },
  { claim: { status: { ...allocated, reservedFor: [consumer(1)] } }, state: 'allocated,reserved' },
  { claim: { metadata: deleted }, state: 'deleted' },
  { claim: { metadata: deleted, status: { ...allocated, reservedFor: [consumer(1)] } }, state: 'deleted,allocated,reserved' },
]
for (const { claim, state } of states) {
  test(`the table shows ${state}`, () => {
    assert.deepEqual(resourceClaim.table?.cells(make(claim), context), ['c', 'gpu', 'WaitForFirstConsumer', state, '60m'])
  })
}

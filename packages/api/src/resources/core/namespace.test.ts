// Tests of Namespaces: defaults, finalizers, phases, validation.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../api/object.js'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { rowTitle } from '../expect-errors.fixture.js'
import { namespace } from './namespace.js'
import type { Namespace } from './v1.schema.js'

const context = testContext()
const make = (more: Namespace = {}): ApiObject & Namespace => frozen({ metadata: { name: 'shop', resourceVersion: '1' }, ...more })
const stored = make({
  metadata: { name: 'shop', resourceVersion: '1', labels: { 'cluster.io/metadata.name': 'shop' } },
  spec: { finalizers: ['cluster'] },
  status: { phase: 'Active' },
})

test('a namespace gets the metadata.name label and the phase Active', () => {
  const sent = make({ metadata: { name: 'shop', labels: { team: 'x', 'cluster.io/metadata.name': 'other' } } })
  assert.deepEqual(namespace.defaults?.(sent, context), {
    metadata: { name: 'shop', labels: { team: 'x', 'cluster.io/metadata.name': 'shop' } },
    status: { phase: 'Active' },
  })
})

test('a complete object is returned unchanged', () => assert.equal(namespace.defaults?.(stored, context), stored))

test('a namespace without a name gets no label', () => {
  const sent = make({ metadata: { generateName: 'g-' }, status: { phase: 'Active' } })
  assert.equal(namespace.defaults?.(sent, context), sent)
})

test('create adds the system finalizer and the label, and drops the status', () => {
  const sent = make({
    metadata: { name: 'g-1', generateName: 'g-' },
    spec: { finalizers: ['x.io/mine'] },
    status: { phase: 'Terminating', conditions: [{ type: 'x' }] },
  })
  assert.deepEqual(namespace.prepareCreate?.(sent, testContext('kubernetes')), {
    metadata: { name: 'g-1', generateName: 'g-', labels: { 'kubernetes.io/metadata.name': 'g-1' } },
    spec: { finalizers: ['x.io/mine', 'kubernetes'] },
    status: { phase: 'Active' },
  })
})

test('the system finalizer is not added twice', () => {
  const sent = make({ spec: { finalizers: ['cluster', 'x.io/a'] } })
  const prepared: Namespace | undefined = namespace.prepareCreate?.(sent, context)
  assert.deepEqual(prepared?.spec, { finalizers: ['cluster', 'x.io/a'] })
})

test('an update changes neither spec nor status', () => {
  const next = make({ spec: {}, status: { phase: 'Terminating' } })
  assert.deepEqual(namespace.prepareUpdate?.(next, stored, context), { ...next, spec: stored.spec, status: stored.status })
})

const subresource = (name: string) => {
  const definition = namespace.subresources?.find((candidate) => candidate.name === name)
  assert.ok(definition !== undefined)
  return definition
}

test('`status` updates the status only, `finalize` the spec only', () => {
  const next = make({ spec: {}, status: { phase: 'Terminating' } })
  assert.deepEqual(subresource('status').prepareUpdate(next, stored, context), { ...next, spec: stored.spec })
  assert.deepEqual(subresource('finalize').prepareUpdate(next, stored, context), { ...next, status: stored.status })
})

test('spec finalizers block deletion, and the phase is Terminating', () => {
  assert.equal(namespace.isDeletionBlocked?.(stored), true)
  assert.equal(namespace.isDeletionBlocked?.(make({ spec: {} })), false)
  assert.deepEqual(namespace.prepareDelete?.(stored, context), { ...stored, status: { phase: 'Terminating' } })
})

const names: readonly (readonly [name: string, problems: number])[] = [
  ['shop-1', 0],
  ['shop.a', 1],
  ['n'.repeat(64), 1],
]
for (const [name, problems] of names) {
  test(`the name ${name.slice(0, 10)} has ${problems} problems`, () => assert.equal(namespace.nameProblems(name, false).length, problems))
}

const unqualified = 'name is neither a standard finalizer name nor is it fully qualified'

test('spec finalizers must be standard or qualified', () => {
  const errors = lines(validateCreation(namespace, make({ spec: { finalizers: ['orphan', 'plain', 'a b/c'] } }), context))
  assert.deepEqual(
    errors.map((line) => line.slice(0, 45)),
    [
      `spec.finalizers: Invalid value: "plain": ${unqualified}`.slice(0, 45),
      'spec.finalizers: Invalid value: "a b/c": prefix part'.slice(0, 45),
    ],
  )
})

test('`finalize` reports the index of an invalid finalizer', () => {
  const next = make({ spec: { finalizers: ['cluster', 'oops'] } })
  const errors = validateChange(namespace, { next, old: stored, subresource: subresource('finalize') }, context)
  assert.deepEqual(lines(errors), [`spec.finalizers[1]: Invalid value: "oops": ${unqualified}`])
})

const deleted = { name: 'shop', resourceVersion: '1', deletionTimestamp: '2024-01-01T00:00:00Z' }
const phases: readonly (readonly [next: Namespace, ...expected: readonly string[]])[] = [
  [{ status: { phase: 'Active' } }],
  [
    { status: { phase: 'Terminating' } },
    'status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
  ],
  [{ metadata: deleted, status: { phase: 'Terminating' } }],
  [
    { metadata: deleted, status: { phase: 'Active' } },
    'status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty',
  ],
]
for (const [next, ...expected] of phases) {
  test(`the phase: ${rowTitle(next, expected)}`, () => {
    const change = { next: make(next), old: make(next), subresource: subresource('status') }
    assert.deepEqual(lines(validateChange(namespace, change, context)), expected)
  })
}

test('an update validates metadata before and after the finalizers', () => {
  const next = make({ metadata: { name: 'shop', resourceVersion: '1', labels: { k: '-' } }, spec: { finalizers: ['plain'] } })
  const fields = validateChange(namespace, { next, old: stored }, context).map(({ field }) => field)
  assert.deepEqual(fields, ['metadata.labels', 'metadata.labels', 'metadata.labels', 'spec.finalizers', 'metadata.labels'])
})

test('printer columns', () => {
  const object = make({ metadata: { name: 'shop', creationTimestamp: '2024-03-01T11:55:00Z' }, status: { phase: 'Active' } })
  assert.deepEqual(namespace.table?.cells(object, context), ['shop', 'Active', '5m'])
})

test('status.phase can be selected', () => assert.equal(namespace.selectableFields?.['status.phase']?.(stored), 'Active'))

// What namespaces are given, and what is refused.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../api/object.js'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { namespace } from './namespace.js'
import type { Namespace } from './v1.schema.js'

const context = testContext()
const make = (more: Namespace = {}): ApiObject & Namespace => frozen({ metadata: { name: 'shop', resourceVersion: '1' }, ...more })
const stored = make({
  metadata: { name: 'shop', resourceVersion: '1', labels: { 'cluster.io/metadata.name': 'shop' } },
  spec: { finalizers: ['cluster'] },
  status: { phase: 'Active' },
})

test('every namespace is labelled with its name, whatever was sent, and is active until it is not', () => {
  const sent = make({ metadata: { name: 'shop', labels: { team: 'x', 'cluster.io/metadata.name': 'other' } } })
  assert.deepEqual(namespace.defaults?.(sent, context), {
    metadata: { name: 'shop', labels: { team: 'x', 'cluster.io/metadata.name': 'shop' } },
    status: { phase: 'Active' },
  })
})

test('what is complete stays the same object', () => assert.equal(namespace.defaults?.(stored, context), stored))

test('a namespace that has no name yet is not labelled', () => {
  const sent = make({ metadata: { generateName: 'g-' }, status: { phase: 'Active' } })
  assert.equal(namespace.defaults?.(sent, context), sent)
})

test('a new namespace gets the finalizer of the system, the label of its generated name, and no status of its sender', () => {
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

test('a finalizer that is there is not added again', () => {
  const sent = make({ spec: { finalizers: ['cluster', 'x.io/a'] } })
  const prepared: Namespace | undefined = namespace.prepareCreate?.(sent, context)
  assert.deepEqual(prepared?.spec, { finalizers: ['cluster', 'x.io/a'] })
})

test('an update writes neither spec nor status', () => {
  const next = make({ spec: {}, status: { phase: 'Terminating' } })
  assert.deepEqual(namespace.prepareUpdate?.(next, stored, context), { ...next, spec: stored.spec, status: stored.status })
})

const subresource = (name: string) => {
  const found = namespace.subresources?.find((candidate) => candidate.name === name)
  assert.ok(found !== undefined)
  return found
}

test('status writes the status alone, finalize the spec alone', () => {
  const next = make({ spec: {}, status: { phase: 'Terminating' } })
  assert.deepEqual(subresource('status').prepareUpdate(next, stored, context), { ...next, spec: stored.spec })
  assert.deepEqual(subresource('finalize').prepareUpdate(next, stored, context), { ...next, status: stored.status })
})

test('an object being deleted is held by its finalizers and terminates', () => {
  assert.equal(namespace.isHeld?.(stored), true)
  assert.equal(namespace.isHeld?.(make({ spec: {} })), false)
  assert.deepEqual(namespace.prepareDelete?.(stored, context), { ...stored, status: { phase: 'Terminating' } })
})

const names: readonly { readonly name: string; readonly problems: number }[] = [
  { name: 'shop-1', problems: 0 },
  { name: 'shop.a', problems: 1 },
  { name: 'n'.repeat(64), problems: 1 },
]
for (const { name, problems } of names) {
  test(`the name ${name.slice(0, 10)} has ${problems} problems`, () => assert.equal(namespace.nameProblems(name, false).length, problems))
}

const unqualified = 'name is neither a standard finalizer name nor is it fully qualified'

test('finalizers of the spec are standard or qualified', () => {
  const errors = lines(validateCreation(namespace, make({ spec: { finalizers: ['orphan', 'plain', 'a b/c'] } }), context))
  assert.deepEqual(
    errors.map((line) => line.slice(0, 45)),
    [
      `spec.finalizers: Invalid value: "plain": ${unqualified}`.slice(0, 45),
      'spec.finalizers: Invalid value: "a b/c": prefix part'.slice(0, 45),
    ],
  )
})

test('finalize says which finalizer is wrong', () => {
  const next = make({ spec: { finalizers: ['cluster', 'oops'] } })
  const errors = validateChange(namespace, { next, old: stored, subresource: subresource('finalize') }, context)
  assert.deepEqual(lines(errors), [`spec.finalizers[1]: Invalid value: "oops": ${unqualified}`])
})

const deleted = { name: 'shop', resourceVersion: '1', deletionTimestamp: '2024-01-01T00:00:00Z' }
const phases: readonly { readonly title: string; readonly next: Namespace; readonly found: readonly string[] }[] = [
  { title: 'active while live', next: { status: { phase: 'Active' } }, found: [] },
  {
    title: 'terminating while live',
    next: { status: { phase: 'Terminating' } },
    found: ['status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty'],
  },
  { title: 'terminating while deleted', next: { metadata: deleted, status: { phase: 'Terminating' } }, found: [] },
  {
    title: 'active while deleted',
    next: { metadata: deleted, status: { phase: 'Active' } },
    found: ['status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty'],
  },
]
for (const { title, next, found } of phases) {
  test(`the phase is ${title}`, () => {
    const change = { next: make(next), old: make(next), subresource: subresource('status') }
    assert.deepEqual(lines(validateChange(namespace, change, context)), found)
  })
}

test('an update looks at metadata before and after the finalizers', () => {
  const next = make({ metadata: { name: 'shop', resourceVersion: '1', labels: { k: '-' } }, spec: { finalizers: ['plain'] } })
  const fields = validateChange(namespace, { next, old: stored }, context).map(({ field }) => field)
  assert.deepEqual(fields, ['metadata.labels', 'metadata.labels', 'metadata.labels', 'spec.finalizers', 'metadata.labels'])
})

test('a row of the table', () => {
  const object = make({ metadata: { name: 'shop', creationTimestamp: '2024-03-01T11:55:00Z' }, status: { phase: 'Active' } })
  assert.deepEqual(namespace.table?.cells(object, context), ['shop', 'Active', '5m'])
})

test('a phase can be selected', () => assert.equal(namespace.selectableFields?.['status.phase']?.(stored), 'Active'))

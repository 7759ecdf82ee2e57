// Tests of ObjectMeta validation on create and update, the order of errors, and metadata of templates.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObjectMeta } from '../../object.js'
import { frozen, lines } from '../../rule-context.fixture.js'
import { dnsSubdomainProblems } from '../checks.js'
import { validateObjectMeta, validateObjectMetaUpdate } from './object-meta.js'
import { validateTemplateMeta } from './template-meta.js'

const standard = ['cluster', 'orphan', 'foregroundDeletion']
const rules = { namespaced: true, nameProblems: dnsSubdomainProblems, standardFinalizers: standard }
const valid: ObjectMeta = frozen({ name: 'a', namespace: 'shop', resourceVersion: '7', uid: 'u' })
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u-1' }
const entry = { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }

/** A change to valid metadata, and the beginnings of the expected error lines. */
type Row = readonly [title: string, meta: ObjectMeta, starts: readonly string[]]

function assertStarts(actual: readonly string[], starts: readonly string[]): void {
  assert.deepEqual(
    actual.map((line, i) => line.slice(0, starts[i]?.length ?? line.length)),
    starts,
  )
}

const onCreateAndUpdate: readonly Row[] = [
  ['valid metadata', {}, []],
  ['valid labels and annotations', { labels: { 'x.io/a': '' }, annotations: { 'Example.COM/Key': 'ü "q"\n' } }, []],
  ['an invalid label key', { labels: { 'a/b/c': 'v' } }, ['metadata.labels: Invalid value: "a/b/c": a qualified name']],
  ['an invalid label value', { labels: { k: '-v' } }, ['metadata.labels: Invalid value: "-v": a valid label must']],
  ['an invalid annotation key', { annotations: { 'a b': '!' } }, ['metadata.annotations: Invalid value: "a b": name part must']],
  ['annotations of maximum bytes', { annotations: { a: 'v'.repeat(256 * 1024 - 1) } }, []],
  [
    'annotations above the maximum',
    { annotations: { a: 'v'.repeat(256 * 1024) } },
    ['metadata.annotations: Too long: must have at most 262144 bytes'],
  ],
  ['annotations above the maximum in UTF-8 bytes', { annotations: { a: 'é'.repeat(128 * 1024) } }, ['metadata.annotations: Too long']],
  ['two owner references', { ownerReferences: [owner, { ...owner, controller: true }] }, []],
  [
    'an empty owner reference',
    { ownerReferences: [{}] },
    [
      'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
      'metadata.ownerReferences.kind: Invalid value: "": kind must not be empty',
      'metadata.ownerReferences.name: Invalid value: "": name must not be empty',
      'metadata.ownerReferences.uid: Invalid value: "": uid must not be empty',
    ],
  ],
  [
    'an owner reference with two slashes in apiVersion',
    { ownerReferences: [{ ...owner, apiVersion: 'a/b/c' }] },
    ['metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty'],
  ],
  [
    'an owner reference without a version in apiVersion',
    { ownerReferences: [{ ...owner, apiVersion: 'apps/' }] },
    ['metadata.ownerReferences.apiVersion: Invalid value: "apps/"'],
  ],
  [
    'a core Event as owner',
    { ownerReferences: [{ ...owner, kind: 'Event' }] },
    ['metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"o","uid":"u-1"}: /v1, Kind=Event is disall'],
  ],
  ['an Event of a custom group as owner', { ownerReferences: [{ ...owner, apiVersion: 'x.io/v1', kind: 'Event' }] }, []],
  [
    'two owner references with controller=true',
    {
      ownerReferences: [
        { ...owner, controller: true },
        { ...owner, name: 'p', controller: true },
      ],
    },
    ['metadata.ownerReferences: Invalid value: [{'],
  ],
  ['qualified and standard finalizers', { finalizers: ['x.io/a', 'cluster', 'orphan', 'x.io/a'] }, []],
  [
    'a finalizer without a domain',
    { finalizers: ['x.io/a', 'plain'] },
    ['metadata.finalizers[1]: Invalid value: "plain": name is neither a standard finalizer name nor is it fully qualified'],
  ],
  ['valid managedFields', { managedFields: [entry, { ...entry, operation: 'Apply', subresource: 'status' }] }, []],
  [
    'an invalid value in every field of a managedFields entry',
    { managedFields: [entry, { operation: 'Patch', fieldsType: 'FieldsV2', manager: 'a\tb', subresource: 's'.repeat(257) }] },
    [
      'metadata.managedFields[1].operation: Invalid value: "Patch": must be `Apply` or `Update`',
      'metadata.managedFields[1].fieldsType: Invalid value: "FieldsV2": must be `FieldsV1`',
      'metadata.managedFields[1].manager: Invalid value: "a\\tb": invalid character U+0009 (at position 1)',
      'metadata.managedFields[1].subresource: Too long: must have at most 256 bytes',
    ],
  ],
  [
    'a field manager name above 128 bytes',
    { managedFields: [{ ...entry, manager: 'm'.repeat(129) }] },
    ['metadata.managedFields[0].manager: Too long: must have at most 128 bytes'],
  ],
  ['non-ASCII characters in a field manager name', { managedFields: [{ ...entry, manager: 'Größe → ✓' }] }, []],
  [
    'an unprintable character in a field manager name',
    { managedFields: [{ ...entry, manager: 'é\u200b' }] },
    ['metadata.managedFields[0].manager: Invalid value: "é\\u200b": invalid character U+200B (at position 2)'],
  ],
]

const onCreate: readonly Row[] = [
  ['neither name nor generateName', { name: '' }, ['metadata.name: Required value: name or generateName is required']],
  ['an invalid name', { name: 'A' }, ['metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain']],
  ['both name and generateName', { generateName: 'a-' }, []],
  [
    'an invalid generateName and the name generated from it',
    { generateName: 'Bad_', name: 'Bad_x' },
    ['metadata.generateName: Invalid value: "Bad_": a low', 'metadata.name: Invalid value: "Bad_x": a low'],
  ],
  ['no namespace', { namespace: '' }, ['metadata.namespace: Required value']],
  ['an invalid namespace', { namespace: 'A.b' }, ['metadata.namespace: Invalid value: "A.b": a lowercase RFC 1123 label']],
  ['a negative generation', { generation: -1 }, ['metadata.generation: Invalid value: -1: must be greater than or equal to 0']],
  [
    'invalid finalizers',
    { finalizers: ['a/b/c', 'Example.com/ok'] },
    ['metadata.finalizers: Invalid value: "a/b/c": a qualified', 'metadata.finalizers: Invalid value: "Example.com/ok": prefix part'],
  ],
  [
    'both orphan and foregroundDeletion',
    { finalizers: ['orphan', 'foregroundDeletion'] },
    ['metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set'],
  ],
]

for (const [title, meta, starts] of [...onCreateAndUpdate, ...onCreate]) {
  test(`create with ${title}`, () => assertStarts(lines(validateObjectMeta(frozen({ ...valid, ...meta }), rules)), starts))
}

test('a namespace on a cluster-scoped kind is forbidden', () => {
  assert.deepEqual(lines(validateObjectMeta(valid, { ...rules, namespaced: false })), [
    'metadata.namespace: Forbidden: not allowed on this type',
  ])
})

test('custom resources may have finalizers without a domain', () => {
  const { namespaced, nameProblems } = rules
  assert.deepEqual(validateObjectMeta({ ...valid, finalizers: ['plain'] }, { namespaced, nameProblems }), [])
})

test('errors are in field order, under the given path', () => {
  const meta = { name: 'A', generation: -1, labels: { k: '-' }, annotations: { '': '' }, finalizers: ['plain', 'a b'] }
  const fields = validateObjectMeta(meta, rules, 'm').map(({ field }) => field)
  assert.deepEqual(fields, [
    'm.name',
    'm.namespace',
    'm.generation',
    'm.labels',
    'm.annotations',
    'm.annotations',
    'm.finalizers',
    'm.finalizers[0]',
    'm.finalizers[1]',
  ])
})

for (const [title, meta, starts] of onCreateAndUpdate) {
  test(`update with ${title}`, () => {
    assertStarts(lines(validateObjectMetaUpdate(frozen({ ...valid, ...meta }), valid, { standardFinalizers: standard })), starts)
  })
}

const changes: readonly (readonly [title: string, next: ObjectMeta, old: ObjectMeta, expected: readonly string[]])[] = [
  [
    'without resourceVersion',
    { resourceVersion: '' },
    {},
    ['metadata.resourceVersion: Invalid value: "": must be specified for an update'],
  ],
  ['with a lower generation', { generation: 1 }, { generation: 2 }, ['metadata.generation: Invalid value: 1: must not be decremented']],
  ['with a higher generation', { generation: 3 }, { generation: 2 }, []],
  [
    'that changes all immutable fields',
    { name: 'b', namespace: 'c', uid: 'd', creationTimestamp: '2024-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 },
    { deletionTimestamp: '2024-01-01T00:00:00Z' },
    [
      'metadata.name: Invalid value: "b": field is immutable',
      'metadata.namespace: Invalid value: "c": field is immutable',
      'metadata.uid: Invalid value: "d": field is immutable',
      'metadata.creationTimestamp: Invalid value: 2024-01-01 00:00:00 +0000 UTC: field is immutable',
      'metadata.deletionTimestamp: Invalid value: "null": field is immutable',
      'metadata.deletionGracePeriodSeconds: Invalid value: 3: field is immutable',
    ],
  ],
  ['that adds a finalizer', { finalizers: ['x.io/new'] }, {}, []],
  [
    'that adds finalizers to a terminating object',
    { finalizers: ['x.io/b', 'x.io/old', 'x.io/a', 'x.io/b'], deletionTimestamp: '2024-01-01T00:00:00Z' },
    { finalizers: ['x.io/old'], deletionTimestamp: '2024-01-01T00:00:00Z' },
    [
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ["x.io/a","x.io/b"]',
    ],
  ],
  [
    'that removes a finalizer from a terminating object',
    { finalizers: ['x.io/b'], deletionTimestamp: '2024-01-01T00:00:00Z' },
    { finalizers: ['x.io/a', 'x.io/b'], deletionTimestamp: '2024-01-01T00:00:00Z' },
    [],
  ],
]

for (const [title, next, old, expected] of changes) {
  test(`an update ${title}`, () => {
    assert.deepEqual(lines(validateObjectMetaUpdate(frozen({ ...valid, ...next }), frozen({ ...valid, ...old }))), expected)
  })
}

test('a template may have labels and annotations', () =>
  assert.deepEqual(validateTemplateMeta({ labels: { a: 'b' }, annotations: { c: 'd' } }, 'm'), []))

test('a template may have no other metadata', () => {
  const meta = { name: 'a', generateName: 'g', uid: 'u', finalizers: ['x.io/a'], labels: { k: '-' }, annotations: { ' ': '' } }
  assertStarts(lines(validateTemplateMeta(frozen(meta), 'm')), [
    'm.annotations: Invalid value: " ": name part',
    'm.labels: Invalid value: "-": a valid label',
    'm.name: Forbidden: cannot be set',
    'm.generateName: Forbidden: cannot be set',
    'm.uID: Forbidden: cannot be set',
    'm.finalizers: Forbidden: cannot be set',
  ])
})

// Metadata that is created and metadata that changes: every rule, and the order of what is said.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObjectMeta } from '../object.js'
import { frozen, lines } from '../rule-context.fixture.js'
import { dnsSubdomainProblems } from './name-problems.js'
import { validateObjectMeta, validateObjectMetaUpdate } from './object-meta.js'
import { validateTemplateMeta } from './template-meta.js'

const standard = ['cluster', 'orphan', 'foregroundDeletion']
const rules = { namespaced: true, nameProblems: dnsSubdomainProblems, standardFinalizers: standard }
const good: ObjectMeta = frozen({ name: 'a', namespace: 'shop', resourceVersion: '7', uid: 'u' })
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u-1' }
const entry = { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }

/** Every row is one change to good metadata and the beginnings of the lines that it brings about. */
interface Row {
  readonly title: string
  readonly meta: ObjectMeta
  readonly starts: readonly string[]
}

function assertStarts(actual: readonly string[], starts: readonly string[]): void {
  assert.deepEqual(
    actual.map((line, i) => line.slice(0, starts[i]?.length ?? line.length)),
    starts,
  )
}

const both: readonly Row[] = [
  { title: 'good metadata', meta: {}, starts: [] },
  { title: 'labels and annotations', meta: { labels: { 'x.io/a': '' }, annotations: { 'Example.COM/Key': 'ü "q"\n' } }, starts: [] },
  { title: 'a bad label key', meta: { labels: { 'a/b/c': 'v' } }, starts: ['metadata.labels: Invalid value: "a/b/c": a qualified name'] },
  { title: 'a bad label value', meta: { labels: { k: '-v' } }, starts: ['metadata.labels: Invalid value: "-v": a valid label must'] },
  {
    title: 'a bad annotation key',
    meta: { annotations: { 'a b': '!' } },
    starts: ['metadata.annotations: Invalid value: "a b": name part must'],
  },
  { title: 'annotations at the limit', meta: { annotations: { a: 'v'.repeat(256 * 1024 - 1) } }, starts: [] },
  {
    title: 'annotations over the limit',
    meta: { annotations: { a: 'v'.repeat(256 * 1024) } },
    starts: ['metadata.annotations: Too long: must have at most 262144 bytes'],
  },
  {
    title: 'annotations over the limit in bytes',
    meta: { annotations: { a: 'é'.repeat(128 * 1024) } },
    starts: ['metadata.annotations: Too long'],
  },
  { title: 'owners', meta: { ownerReferences: [owner, { ...owner, controller: true }] }, starts: [] },
  {
    title: 'an empty owner',
    meta: { ownerReferences: [{}] },
    starts: [
      'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
      'metadata.ownerReferences.kind: Invalid value: "": kind must not be empty',
      'metadata.ownerReferences.name: Invalid value: "": name must not be empty',
      'metadata.ownerReferences.uid: Invalid value: "": uid must not be empty',
    ],
  },
  {
    title: 'an owner with too many slashes',
    meta: { ownerReferences: [{ ...owner, apiVersion: 'a/b/c' }] },
    starts: ['metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty'],
  },
  {
    title: 'an owner with a group only',
    meta: { ownerReferences: [{ ...owner, apiVersion: 'apps/' }] },
    starts: ['metadata.ownerReferences.apiVersion: Invalid value: "apps/"'],
  },
  {
    title: 'an event as owner',
    meta: { ownerReferences: [{ ...owner, kind: 'Event' }] },
    starts: [
      'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"o","uid":"u-1"}: /v1, Kind=Event is disall',
    ],
  },
  {
    title: 'an event of another group as owner',
    meta: { ownerReferences: [{ ...owner, apiVersion: 'x.io/v1', kind: 'Event' }] },
    starts: [],
  },
  {
    title: 'two controllers',
    meta: {
      ownerReferences: [
        { ...owner, controller: true },
        { ...owner, name: 'p', controller: true },
      ],
    },
    starts: ['metadata.ownerReferences: Invalid value: [{'],
  },
  { title: 'finalizers', meta: { finalizers: ['x.io/a', 'cluster', 'orphan', 'x.io/a'] }, starts: [] },
  {
    title: 'a finalizer without domain',
    meta: { finalizers: ['x.io/a', 'plain'] },
    starts: ['metadata.finalizers[1]: Invalid value: "plain": name is neither a standard finalizer name nor is it fully qualified'],
  },
  { title: 'managed fields', meta: { managedFields: [entry, { ...entry, operation: 'Apply', subresource: 'status' }] }, starts: [] },
  {
    title: 'a managed entry with nothing right',
    meta: { managedFields: [entry, { operation: 'Patch', fieldsType: 'FieldsV2', manager: 'a\tb', subresource: 's'.repeat(257) }] },
    starts: [
      'metadata.managedFields[1].operation: Invalid value: "Patch": must be `Apply` or `Update`',
      'metadata.managedFields[1].fieldsType: Invalid value: "FieldsV2": must be `FieldsV1`',
      'metadata.managedFields[1].manager: Invalid value: "a\\tb": invalid character U+0009 (at position 1)',
      'metadata.managedFields[1].subresource: Too long: must have at most 256 bytes',
    ],
  },
  {
    title: 'a manager with a long name',
    meta: { managedFields: [{ ...entry, manager: 'm'.repeat(129) }] },
    starts: ['metadata.managedFields[0].manager: Too long: must have at most 128 bytes'],
  },
  { title: 'a manager with a foreign name', meta: { managedFields: [{ ...entry, manager: 'Größe → ✓' }] }, starts: [] },
  {
    title: 'a manager with an unprintable character behind foreign ones',
    meta: { managedFields: [{ ...entry, manager: 'é\u200b' }] },
    starts: ['metadata.managedFields[0].manager: Invalid value: "é\\u200b": invalid character U+200B (at position 2)'],
  },
]

const onCreate: readonly Row[] = [
  { title: 'no name', meta: { name: '' }, starts: ['metadata.name: Required value: name or generateName is required'] },
  { title: 'a bad name', meta: { name: 'A' }, starts: ['metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain'] },
  { title: 'a name and a prefix', meta: { generateName: 'a-' }, starts: [] },
  {
    title: 'a bad prefix and what became of it',
    meta: { generateName: 'Bad_', name: 'Bad_x' },
    starts: ['metadata.generateName: Invalid value: "Bad_": a low', 'metadata.name: Invalid value: "Bad_x": a low'],
  },
  { title: 'no namespace', meta: { namespace: '' }, starts: ['metadata.namespace: Required value'] },
  {
    title: 'a bad namespace',
    meta: { namespace: 'A.b' },
    starts: ['metadata.namespace: Invalid value: "A.b": a lowercase RFC 1123 label'],
  },
  {
    title: 'a negative generation',
    meta: { generation: -1 },
    starts: ['metadata.generation: Invalid value: -1: must be greater than or equal to 0'],
  },
  {
    title: 'a bad finalizer',
    meta: { finalizers: ['a/b/c', 'Example.com/ok'] },
    starts: [
      'metadata.finalizers: Invalid value: "a/b/c": a qualified',
      'metadata.finalizers: Invalid value: "Example.com/ok": prefix part',
    ],
  },
  {
    title: 'finalizers that exclude each other',
    meta: { finalizers: ['orphan', 'foregroundDeletion'] },
    starts: [
      'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
    ],
  },
]

for (const { title, meta, starts } of [...both, ...onCreate]) {
  test(`create with ${title}`, () => assertStarts(lines(validateObjectMeta(frozen({ ...good, ...meta }), rules)), starts))
}

test('a namespace is refused where there is none', () => {
  assert.deepEqual(lines(validateObjectMeta(good, { ...rules, namespaced: false })), [
    'metadata.namespace: Forbidden: not allowed on this type',
  ])
})

test('custom resources may have finalizers without a domain', () => {
  const { namespaced, nameProblems } = rules
  assert.deepEqual(validateObjectMeta({ ...good, finalizers: ['plain'] }, { namespaced, nameProblems }), [])
})

test('errors come in the order of the fields, under the path that was asked for', () => {
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

for (const { title, meta, starts } of both) {
  test(`update with ${title}`, () => {
    assertStarts(lines(validateObjectMetaUpdate(frozen({ ...good, ...meta }), good, { standardFinalizers: standard })), starts)
  })
}

const changes: readonly {
  readonly title: string
  readonly next: ObjectMeta
  readonly old: ObjectMeta
  readonly found: readonly string[]
}[] = [
  {
    title: 'without a version',
    next: { resourceVersion: '' },
    old: {},
    found: ['metadata.resourceVersion: Invalid value: "": must be specified for an update'],
  },
  {
    title: 'with a lower generation',
    next: { generation: 1 },
    old: { generation: 2 },
    found: ['metadata.generation: Invalid value: 1: must not be decremented'],
  },
  { title: 'with a higher generation', next: { generation: 3 }, old: { generation: 2 }, found: [] },
  {
    title: 'of everything fixed',
    next: { name: 'b', namespace: 'c', uid: 'd', creationTimestamp: '2024-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 },
    old: { deletionTimestamp: '2024-01-01T00:00:00Z' },
    found: [
      'metadata.name: Invalid value: "b": field is immutable',
      'metadata.namespace: Invalid value: "c": field is immutable',
      'metadata.uid: Invalid value: "d": field is immutable',
      'metadata.creationTimestamp: Invalid value: 2024-01-01 00:00:00 +0000 UTC: field is immutable',
      'metadata.deletionTimestamp: Invalid value: "null": field is immutable',
      'metadata.deletionGracePeriodSeconds: Invalid value: 3: field is immutable',
    ],
  },
  { title: 'with a new finalizer', next: { finalizers: ['x.io/new'] }, old: {}, found: [] },
  {
    title: 'with new finalizers while terminating',
    next: { finalizers: ['x.io/b', 'x.io/old', 'x.io/a', 'x.io/b'], deletionTimestamp: '2024-01-01T00:00:00Z' },
    old: { finalizers: ['x.io/old'], deletionTimestamp: '2024-01-01T00:00:00Z' },
    found: [
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ["x.io/a","x.io/b"]',
    ],
  },
  {
    title: 'that takes a finalizer away while terminating',
    next: { finalizers: ['x.io/b'], deletionTimestamp: '2024-01-01T00:00:00Z' },
    old: { finalizers: ['x.io/a', 'x.io/b'], deletionTimestamp: '2024-01-01T00:00:00Z' },
    found: [],
  },
]

for (const { title, next, old, found } of changes) {
  test(`a change ${title}`, () => {
    assert.deepEqual(lines(validateObjectMetaUpdate(frozen({ ...good, ...next }), frozen({ ...good, ...old }))), found)
  })
}

test('a template has labels and annotations', () =>
  assert.deepEqual(validateTemplateMeta({ labels: { a: 'b' }, annotations: { c: 'd' } }, 'm'), []))

test('a template has nothing else', () => {
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

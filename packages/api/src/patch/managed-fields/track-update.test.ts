// managedFields after updates and patches. Most cases follow recordings of kube-apiserver.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configMap, deployment, lease, pod, service, serviceAccount } from '../testing/kinds.fixture.js'
import { objectHarness } from '../testing/object-harness.fixture.js'
import type { ManagedFieldsEntry } from './managed-fields-entries.js'
import { resetFieldSet } from './track-update.js'

test('each manager has an entry, and loses fields that others change', () => {
  const harness = objectHarness(configMap)
  harness.put('m1', { metadata: { labels: { l: '1' } }, data: { k: 'v', l: 'w' } })
  harness.merge('m1', { data: { m: 'x' } })
  assert.deepEqual(harness.owners(), [
    'm1 Update {"f:data":{".":{},"f:k":{},"f:l":{},"f:m":{}},"f:metadata":{"f:labels":{".":{},"f:l":{}}}}',
  ])
  harness.put('m2', { data: { k: 'new', n: 'y' } })
  assert.deepEqual(harness.owners(), ['m1 Update {"f:data":{}}', 'm2 Update {"f:data":{"f:k":{},"f:n":{}}}'])
  harness.put('m3', { data: { k: 'new', n: 'y', o: 'z' } })
  assert.deepEqual(harness.owners(), [
    'm1 Update {"f:data":{}}',
    'm2 Update {"f:data":{"f:k":{},"f:n":{}}}',
    'm3 Update {"f:data":{"f:o":{}}}',
  ])
  const times = harness.entries().map(({ time }) => time)
  harness.put('m3', { data: { k: 'new', n: 'y', o: 'z' } })
  harness.put('', { data: { k: 'new', n: 'y', o: 'z' } })
  assert.deepEqual(
    harness.entries().map(({ time }) => time),
    times,
    'times change only with the object',
  )
  harness.put('', { data: { k: 'new', n: 'y', o: 'z', p: '' } })
  assert.equal(harness.owners().at(-1), 'unknown Update {"f:data":{"f:p":{}}}')
})

test('path elements of fields, keyed items and values', () => {
  const harness = objectHarness(service)
  harness.put('m', {
    metadata: { finalizers: ['e/f'], ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }] },
    spec: {
      selector: { a: 'b' },
      ports: [{ port: 53, protocol: 'UDP', targetPort: 53 }],
      externalIPs: ['192.0.2.1'],
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 1 } },
    },
  })
  assert.deepEqual(harness.owners(), [
    'm Update {"f:metadata":{"f:finalizers":{".":{},"v:\\"e/f\\"":{}},"f:ownerReferences":{".":{},"k:{\\"uid\\":\\"u\\"}":{}}},"f:spec":{"f:externalIPs":{},"f:ports":{".":{},"k:{\\"port\\":53,\\"protocol\\":\\"UDP\\"}":{".":{},"f:port":{},"f:protocol":{},"f:targetPort":{}}},"f:selector":{},"f:sessionAffinityConfig":{".":{},"f:clientIP":{".":{},"f:timeoutSeconds":{}}}}}',
  ])
})

const portsOf = (entry: ManagedFieldsEntry | undefined): readonly string[] => {
  const fields = entry?.fieldsV1 as { readonly 'f:spec': { readonly 'f:ports': object } } | undefined
  return Object.keys(fields?.['f:spec']['f:ports'] ?? {})
}

test('keyed items are sorted by key, numbers by value', () => {
  const harness = objectHarness(service)
  harness.put('m', { spec: { ports: [443, 80, 8080].map((port) => ({ port, protocol: 'TCP', targetPort: 1 })) } })
  assert.deepEqual(portsOf(harness.entries()[0]), ['.', ...[80, 443, 8080].map((port) => `k:{"port":${port},"protocol":"TCP"}`)])
  harness.merge('m2', { spec: { ports: [80, 443, 8080, 90].map((port) => ({ port, protocol: 'TCP', targetPort: 1 })) } })
  harness.merge('m', { spec: { ports: [80, 443, 8080, 90, 100].map((port) => ({ port, protocol: 'TCP', targetPort: 1 })) } })
  assert.deepEqual(portsOf(harness.entries()[1]), ['.', ...[80, 100, 443, 8080].map((port) => `k:{"port":${port},"protocol":"TCP"}`)])
})

test('structs without a pointer are owned when absent, zero values are not owned', () => {
  const container = { name: 'c', image: 'i', stdin: false, command: [] }
  const harness = objectHarness(pod)
  harness.put('m', { spec: { containers: [container], securityContext: {}, nodeSelector: {} } })
  assert.deepEqual(harness.owners(), [
    'm Update {"f:spec":{"f:containers":{"k:{\\"name\\":\\"c\\"}":{".":{},"f:image":{},"f:name":{},"f:resources":{}}},"f:securityContext":{}}}',
  ])
  harness.merge('ctl', { status: { conditions: [{ type: 'Ready', status: 'True' }] } }, { subresource: 'status' })
  assert.equal(
    harness.owners()[1],
    'ctl Update status {"f:status":{"f:conditions":{".":{},"k:{\\"type\\":\\"Ready\\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}}}}',
  )
  const emptyLease = objectHarness(lease)
  emptyLease.put('m', {})
  assert.deepEqual(emptyLease.owners(), [], 'the implied empty struct is no change')
})

test('an atomic selector and the strategy of a Deployment', () => {
  const harness = objectHarness(deployment, { apiVersion: 'apps/v1' })
  const template = { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'c' }] } }
  harness.put('m', { spec: { replicas: 0, selector: { matchLabels: { app: 'd' } }, strategy: { type: 'Recreate' }, template } })
  assert.deepEqual(harness.owners(), [
    'm Update {"f:spec":{"f:replicas":{},"f:selector":{},"f:strategy":{"f:type":{}},"f:template":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\\"name\\":\\"c\\"}":{".":{},"f:name":{},"f:resources":{}}}}}}}',
  ])
  assert.equal(harness.entries()[0]?.apiVersion, 'apps/v1')
})

test('duplicate or unkeyed list items make an object untracked, and a later valid update keeps it so', () => {
  const harness = objectHarness(serviceAccount)
  harness.put('m', { secrets: [{ name: 'x' }, { name: 'x' }] })
  assert.deepEqual(harness.owners(), [])
  const other = objectHarness(serviceAccount)
  other.put('m', { automountServiceAccountToken: true })
  other.put('n', { automountServiceAccountToken: false, secrets: [{ name: 'x' }, {}] })
  assert.deepEqual(other.owners(), [])
  other.put('n', { secrets: [{ name: 'x' }] })
  assert.deepEqual(other.owners(), [])
})

const entry = (overrides: object = {}): ManagedFieldsEntry => ({
  manager: 'sent',
  operation: 'Update',
  apiVersion: 'v1',
  time: '2020-01-02T03:04:05Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': { 'f:k': {} } },
  ...overrides,
})

const storedOwner = 'm1 Update {"f:data":{".":{},"f:k":{}}}'
const requestCases: readonly { name: string; metadata: { [name: string]: unknown }; owners: readonly string[]; subresource?: string }[] = [
  { name: 'an empty list does not reset', metadata: { managedFields: [] }, owners: [storedOwner] },
  { name: 'null keeps the entries', metadata: { managedFields: null }, owners: [storedOwner] },
  { name: 'valid entries replace the stored ones', metadata: { managedFields: [entry()] }, owners: ['sent Update {"f:data":{"f:k":{}}}'] },
  { name: 'a subresource cannot set entries', metadata: { managedFields: [entry()] }, owners: [storedOwner], subresource: 'status' },
  {
    name: 'an invalid operation keeps the stored entries',
    metadata: { managedFields: [entry({ operation: 'Guess' })] },
    owners: [storedOwner],
  },
  { name: 'elements of unknown types are dropped', metadata: { managedFields: [entry({ fieldsV1: { 'x:data': {} } })] }, owners: [] },
  {
    name: 'an invalid element keeps the stored entries',
    metadata: { managedFields: [entry({ fieldsV1: { data: {} } })] },
    owners: [storedOwner],
  },
  {
    name: 'an invalid set keeps the stored entries',
    metadata: { managedFields: [entry({ fieldsV1: { 'f:data': 1 } })] },
    owners: [storedOwner],
  },
  {
    name: 'an unknown fieldsType keeps the stored entries',
    metadata: { managedFields: [entry({ fieldsType: 'FieldsV9' })] },
    owners: [storedOwner],
  },
  { name: 'an entry of a version without a schema is dropped', metadata: { managedFields: [entry({ apiVersion: 'v9' })] }, owners: [] },
  { name: 'one empty entry resets', metadata: { managedFields: [{}] }, owners: [] },
  {
    name: 'a reset applies before tracking, so the writer owns its changes',
    metadata: { managedFields: [{}], labels: { l: '1' } },
    owners: ['m4 Update {"f:metadata":{"f:labels":{".":{},"f:l":{}}}}'],
  },
  {
    name: 'elements become canonical',
    metadata: {
      managedFields: [entry({ fieldsV1: { 'f:z': {}, 'f:data': { 'k:{"b": 1,"a":"x"}': { '.': {} }, 'f:k': { '.': {} }, '.': {} } } })],
    },
    owners: ['sent Update {"f:data":{".":{},"f:k":{},"k:{\\"a\\":\\"x\\",\\"b\\":1}":{}},"f:z":{}}'],
  },
  {
    name: 'entries of one owner are merged',
    metadata: { managedFields: [entry(), entry({ fieldsV1: { 'f:data': { 'f:a': {} } } })] },
    owners: ['sent Update {"f:data":{"f:a":{},"f:k":{}}}'],
  },
]

for (const { name, metadata, owners, subresource } of requestCases)
  test(`managedFields in the request: ${name}`, () => {
    const harness = objectHarness(configMap, { schemaFor: () => undefined })
    harness.put('m1', { data: { k: 'v' } })
    harness.merge('m4', { metadata }, subresource === undefined ? {} : { subresource })
    assert.deepEqual(harness.owners(), owners)
  })

test('entries of other versions are kept unchanged without schemaFor', () => {
  const harness = objectHarness(configMap)
  harness.put('m1', { data: { k: 'v' } })
  harness.merge('m4', { metadata: { managedFields: [entry({ apiVersion: 'v9' })] } })
  harness.merge('m4', { data: { k: 'other' } })
  assert.deepEqual(harness.owners(), ['sent Update {"f:data":{"f:k":{}}}', 'm4 Update {"f:data":{"f:k":{}}}'])
})

test('reset fields of an endpoint are neither gained nor lost', () => {
  const harness = objectHarness(pod)
  const main = { reset: resetFieldSet(['status']) }
  const status = { reset: resetFieldSet(['spec', 'metadata.labels']), subresource: 'status' }
  harness.put('m', { spec: { nodeName: 'n' }, status: { phase: 'Pending' } }, main)
  harness.merge('ctl', { status: { phase: 'Running' }, spec: { nodeName: 'x' }, metadata: { labels: { a: 'b' } } }, status)
  assert.deepEqual(harness.owners(), ['m Update {"f:spec":{"f:nodeName":{}}}', 'ctl Update status {"f:status":{"f:phase":{}}}'])
  harness.put('n', { spec: { nodeName: 'x' } }, main)
  assert.deepEqual(harness.owners(), ['m Update {"f:spec":{"f:nodeName":{}}}', 'ctl Update status {"f:status":{"f:phase":{}}}'])
})

test('at most ten update entries remain, the oldest merged into ancient-changes', () => {
  const harness = objectHarness(configMap)
  for (let i = 0; i < 12; i++) harness.merge(`m${String(i).padStart(2, '0')}`, { data: { [`k${i}`]: 'v' } })
  assert.deepEqual(harness.owners().slice(0, 2), [
    'ancient-changes Update {"f:data":{".":{},"f:k0":{},"f:k1":{},"f:k2":{}}}',
    'm03 Update {"f:data":{"f:k3":{}}}',
  ])
  assert.equal(harness.entries().length, 10)
  harness.apply('applier', { data: { z: '1' } })
  assert.equal(harness.entries().length, 11, 'apply entries do not count')
  harness.merge('m20', { data: { k20: 'v' } })
  assert.equal(harness.entries().length, 11)
  assert.equal(harness.owners()[1], 'ancient-changes Update {"f:data":{".":{},"f:k0":{},"f:k1":{},"f:k2":{},"f:k3":{}}}')
})

test('thousands of sent update entries are merged into ancient-changes', () => {
  const harness = objectHarness(configMap)
  harness.put('m', { data: { k: 'v' } })
  const managedFields = Array.from({ length: 3000 }, (_, i) =>
    entry({ manager: `m${i}`, time: new Date(Date.UTC(2030, 0, 1) + i * 1000).toISOString(), fieldsV1: { 'f:data': { [`f:k${i}`]: {} } } }),
  )
  harness.merge('last', { metadata: { managedFields }, data: { other: 'v' } })
  assert.equal(harness.entries().length, 10)
  const ancient = harness.entries().find(({ manager }) => manager === 'ancient-changes')?.fieldsV1 as { 'f:data': object }
  assert.equal(Object.keys(ancient['f:data']).length, 2992)
})

// managedFields of plain writes, as plays. Most follow recordings of the reference.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configMap, deployment, lease, pod, service, serviceAccount } from './kinds.fixture.js'
import type { ManagedFieldsEntry } from './managed-entries.js'
import { stageOf } from './stage.fixture.js'
import { resetFieldSet } from './track-update.js'

test('an entry per manager, from which others take what they change', () => {
  const stage = stageOf(configMap)
  stage.put('m1', { metadata: { labels: { l: '1' } }, data: { k: 'v', l: 'w' } })
  stage.merge('m1', { data: { m: 'x' } })
  assert.deepEqual(stage.owners(), ['m1 Update {"f:data":{".":{},"f:k":{},"f:l":{},"f:m":{}},"f:metadata":{"f:labels":{".":{},"f:l":{}}}}'])
  stage.put('m2', { data: { k: 'new', n: 'y' } })
  assert.deepEqual(stage.owners(), ['m1 Update {"f:data":{}}', 'm2 Update {"f:data":{"f:k":{},"f:n":{}}}'])
  stage.put('m3', { data: { k: 'new', n: 'y', o: 'z' } })
  assert.deepEqual(stage.owners(), [
    'm1 Update {"f:data":{}}',
    'm2 Update {"f:data":{"f:k":{},"f:n":{}}}',
    'm3 Update {"f:data":{"f:o":{}}}',
  ])
  const times = stage.entries().map(({ time }) => time)
  stage.put('m3', { data: { k: 'new', n: 'y', o: 'z' } })
  stage.put('', { data: { k: 'new', n: 'y', o: 'z' } })
  assert.deepEqual(
    stage.entries().map(({ time }) => time),
    times,
    'times move only with a change',
  )
  stage.put('', { data: { k: 'new', n: 'y', o: 'z', p: '' } })
  assert.equal(stage.owners().at(-1), 'unknown Update {"f:data":{"f:p":{}}}')
})

test('path elements of every kind', () => {
  const stage = stageOf(service)
  stage.put('m', {
    metadata: { finalizers: ['e/f'], ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }] },
    spec: {
      selector: { a: 'b' },
      ports: [{ port: 53, protocol: 'UDP', targetPort: 53 }],
      externalIPs: ['192.0.2.1'],
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 1 } },
    },
  })
  assert.deepEqual(stage.owners(), [
    'm Update {"f:metadata":{"f:finalizers":{".":{},"v:\\"e/f\\"":{}},"f:ownerReferences":{".":{},"k:{\\"uid\\":\\"u\\"}":{}}},"f:spec":{"f:externalIPs":{},"f:ports":{".":{},"k:{\\"port\\":53,\\"protocol\\":\\"UDP\\"}":{".":{},"f:port":{},"f:protocol":{},"f:targetPort":{}}},"f:selector":{},"f:sessionAffinityConfig":{".":{},"f:clientIP":{".":{},"f:timeoutSeconds":{}}}}}',
  ])
})

const portsOf = (entry: ManagedFieldsEntry | undefined): readonly string[] => {
  const fields = entry?.fieldsV1 as { readonly 'f:spec': { readonly 'f:ports': object } } | undefined
  return Object.keys(fields?.['f:spec']['f:ports'] ?? {})
}

test('items stand in the order of their keys, numbers as numbers', () => {
  const stage = stageOf(service)
  stage.put('m', { spec: { ports: [443, 80, 8080].map((port) => ({ port, protocol: 'TCP', targetPort: 1 })) } })
  assert.deepEqual(portsOf(stage.entries()[0]), ['.', ...[80, 443, 8080].map((port) => `k:{"port":${port},"protocol":"TCP"}`)])
  stage.merge('m2', { spec: { ports: [80, 443, 8080, 90].map((port) => ({ port, protocol: 'TCP', targetPort: 1 })) } })
  stage.merge('m', { spec: { ports: [80, 443, 8080, 90, 100].map((port) => ({ port, protocol: 'TCP', targetPort: 1 })) } })
  assert.deepEqual(portsOf(stage.entries()[1]), ['.', ...[80, 100, 443, 8080].map((port) => `k:{"port":${port},"protocol":"TCP"}`)])
})

test('plain structs are there though nobody wrote them, zero values are not there though somebody did', () => {
  const container = { name: 'c', image: 'i', stdin: false, command: [] }
  const stage = stageOf(pod)
  stage.put('m', { spec: { containers: [container], securityContext: {}, nodeSelector: {} } })
  assert.deepEqual(stage.owners(), [
    'm Update {"f:spec":{"f:containers":{"k:{\\"name\\":\\"c\\"}":{".":{},"f:image":{},"f:name":{},"f:resources":{}}},"f:securityContext":{}}}',
  ])
  stage.merge('ctl', { status: { conditions: [{ type: 'Ready', status: 'True' }] } }, { subresource: 'status' })
  assert.equal(
    stage.owners()[1],
    'ctl Update status {"f:status":{"f:conditions":{".":{},"k:{\\"type\\":\\"Ready\\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}}}}',
  )
  const bare = stageOf(lease)
  bare.put('m', {})
  assert.deepEqual(bare.owners(), [], 'the empty struct was there before')
})

test('an atomic value in a struct, and the strategy of a deployment', () => {
  const stage = stageOf(deployment, { apiVersion: 'apps/v1' })
  const template = { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'c' }] } }
  stage.put('m', { spec: { replicas: 0, selector: { matchLabels: { app: 'd' } }, strategy: { type: 'Recreate' }, template } })
  assert.deepEqual(stage.owners(), [
    'm Update {"f:spec":{"f:replicas":{},"f:selector":{},"f:strategy":{"f:type":{}},"f:template":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\\"name\\":\\"c\\"}":{".":{},"f:name":{},"f:resources":{}}}}}}}',
  ])
  assert.equal(stage.entries()[0]?.apiVersion, 'apps/v1')
})

test('a list whose items cannot be told apart has no owners', () => {
  const stage = stageOf(serviceAccount)
  stage.put('m', { secrets: [{ name: 'x' }, { name: 'x' }] })
  assert.deepEqual(stage.owners(), [])
  const other = stageOf(serviceAccount)
  other.put('m', { automountServiceAccountToken: true })
  other.put('n', { automountServiceAccountToken: false, secrets: [{ name: 'x' }, {}] })
  assert.deepEqual(other.owners(), ['m Update {"f:automountServiceAccountToken":{}}'], 'the write is not looked at')
})

const entry = (more: object = {}): ManagedFieldsEntry => ({
  manager: 'hand',
  operation: 'Update',
  apiVersion: 'v1',
  time: '2020-01-02T03:04:05Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': { 'f:k': {} } },
  ...more,
})

const kept = 'm1 Update {"f:data":{".":{},"f:k":{}}}'
const sent: readonly { name: string; metadata: { [name: string]: unknown }; owners: readonly string[]; subresource?: string }[] = [
  { name: 'an empty list does not reset', metadata: { managedFields: [] }, owners: [kept] },
  { name: 'null keeps them', metadata: { managedFields: null }, owners: [kept] },
  { name: 'by hand', metadata: { managedFields: [entry()] }, owners: ['hand Update {"f:data":{"f:k":{}}}'] },
  { name: 'not through a subresource', metadata: { managedFields: [entry()] }, owners: [kept], subresource: 'status' },
  { name: 'a wrong operation is ignored', metadata: { managedFields: [entry({ operation: 'Guess' })] }, owners: [kept] },
  { name: 'elements of an unknown kind are left out', metadata: { managedFields: [entry({ fieldsV1: { 'x:data': {} } })] }, owners: [] },
  { name: 'what is no element is ignored', metadata: { managedFields: [entry({ fieldsV1: { data: {} } })] }, owners: [kept] },
  { name: 'a set that is none is ignored', metadata: { managedFields: [entry({ fieldsV1: { 'f:data': 1 } })] }, owners: [kept] },
  { name: 'another type of fields is ignored', metadata: { managedFields: [entry({ fieldsType: 'FieldsV9' })] }, owners: [kept] },
  { name: 'a version that is not served goes', metadata: { managedFields: [entry({ apiVersion: 'v9' })] }, owners: [] },
  { name: 'one empty entry resets', metadata: { managedFields: [{}] }, owners: [] },
  {
    name: 'a reset comes first, so that the writer owns the rest',
    metadata: { managedFields: [{}], labels: { l: '1' } },
    owners: ['m4 Update {"f:metadata":{"f:labels":{".":{},"f:l":{}}}}'],
  },
  {
    name: 'elements become canonical',
    metadata: {
      managedFields: [entry({ fieldsV1: { 'f:z': {}, 'f:data': { 'k:{"b": 1,"a":"x"}': { '.': {} }, 'f:k': { '.': {} }, '.': {} } } })],
    },
    owners: ['hand Update {"f:data":{".":{},"f:k":{},"k:{\\"a\\":\\"x\\",\\"b\\":1}":{}},"f:z":{}}'],
  },
  {
    name: 'entries of one owner are merged',
    metadata: { managedFields: [entry(), entry({ fieldsV1: { 'f:data': { 'f:a': {} } } })] },
    owners: ['hand Update {"f:data":{"f:a":{},"f:k":{}}}'],
  },
]

for (const { name, metadata, owners, subresource } of sent)
  test(`managedFields that were sent: ${name}`, () => {
    const stage = stageOf(configMap, { schemaFor: () => undefined })
    stage.put('m1', { data: { k: 'v' } })
    stage.merge('m4', { metadata }, subresource === undefined ? {} : { subresource })
    assert.deepEqual(stage.owners(), owners)
  })

test('entries of other versions are kept where nothing can be said of them', () => {
  const stage = stageOf(configMap)
  stage.put('m1', { data: { k: 'v' } })
  stage.merge('m4', { metadata: { managedFields: [entry({ apiVersion: 'v9' })] } })
  stage.merge('m4', { data: { k: 'other' } })
  assert.deepEqual(stage.owners(), ['hand Update {"f:data":{"f:k":{}}}', 'm4 Update {"f:data":{"f:k":{}}}'])
})

test('fields that an endpoint does not write are neither gained nor lost', () => {
  const stage = stageOf(pod)
  const main = { reset: resetFieldSet(['status']) }
  const status = { reset: resetFieldSet(['spec', 'metadata.labels']), subresource: 'status' }
  stage.put('m', { spec: { nodeName: 'n' }, status: { phase: 'Pending' } }, main)
  stage.merge('ctl', { status: { phase: 'Running' }, spec: { nodeName: 'x' }, metadata: { labels: { a: 'b' } } }, status)
  assert.deepEqual(stage.owners(), ['m Update {"f:spec":{"f:nodeName":{}}}', 'ctl Update status {"f:status":{"f:phase":{}}}'])
  stage.put('n', { spec: { nodeName: 'x' } }, main)
  assert.deepEqual(stage.owners(), ['m Update {"f:spec":{"f:nodeName":{}}}', 'ctl Update status {"f:status":{"f:phase":{}}}'])
})

test('an object remembers ten updaters, and the oldest as one', () => {
  const stage = stageOf(configMap)
  for (let i = 0; i < 12; i++) stage.merge(`m${String(i).padStart(2, '0')}`, { data: { [`k${i}`]: 'v' } })
  assert.deepEqual(stage.owners().slice(0, 2), [
    'ancient-changes Update {"f:data":{".":{},"f:k0":{},"f:k1":{},"f:k2":{}}}',
    'm03 Update {"f:data":{"f:k3":{}}}',
  ])
  assert.equal(stage.entries().length, 10)
  stage.apply('applier', { data: { z: '1' } })
  assert.equal(stage.entries().length, 11, 'appliers do not count')
  stage.merge('m20', { data: { k20: 'v' } })
  assert.equal(stage.entries().length, 11)
  assert.equal(stage.owners()[1], 'ancient-changes Update {"f:data":{".":{},"f:k0":{},"f:k1":{},"f:k2":{},"f:k3":{}}}')
})

test('of thousands of updaters that a client sends the oldest are one, too', () => {
  const stage = stageOf(configMap)
  stage.put('m', { data: { k: 'v' } })
  const managedFields = Array.from({ length: 3000 }, (_, i) =>
    entry({ manager: `m${i}`, time: new Date(Date.UTC(2030, 0, 1) + i * 1000).toISOString(), fieldsV1: { 'f:data': { [`f:k${i}`]: {} } } }),
  )
  stage.merge('last', { metadata: { managedFields }, data: { other: 'v' } })
  assert.equal(stage.entries().length, 10)
  const ancient = stage.entries().find(({ manager }) => manager === 'ancient-changes')?.fieldsV1 as { 'f:data': object }
  assert.equal(Object.keys(ancient['f:data']).length, 2992)
})

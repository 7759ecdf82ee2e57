// Large requests: steps run in worker threads; responses, errors, watch events and quota usage equal those of small requests.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ApiResponse } from '../../../../test/kit/api-client.js'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import {
  configMapOf,
  configMaps,
  expectFailure,
  expectStatus,
  newNamespace,
  sleep,
  until,
  untilStatus,
} from '../../../../test/kit/fixtures.js'
import { workerSteps } from '../../../../test/kit/metrics-text.js'
import { ServerProcess } from '../../../../test/kit/server-process.js'

let server: ServerProcess
before(async () => {
  server = await ServerProcess.start()
})
after(() => server.stop())

const count = 12_000
const manyKeys = (value: string, keys = count): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: keys }, (_, i) => [`key-${i}`, value]))
/** Number of keys of an object that takes about 1 MB with its managedFields; the limit is almost 1.5 MiB. */
const maxKeys = 30_000

/** Fewer keys than manyKeys, but still large: the threshold is 7,000 members. */
const fewKeys = (value: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: 11_000 }, (_, i) => [`key-${i}`, value]))

test('POST of an existing name returns AlreadyExists and says if the object is terminating, for large and small objects', async () => {
  const { client } = server
  const namespace = await newNamespace(client)
  for (const [name, data] of [
    ['large', manyKeys('v', maxKeys)],
    ['small', { a: 'b' }],
  ] as const) {
    const finalizers = ['example.com/hold']
    expectStatus(await client.post(configMaps(namespace), configMapOf(name, { data, finalizers })), 201)
    const again = async (): Promise<string> =>
      expectFailure(await client.post(configMaps(namespace), configMapOf(name)), 409, 'AlreadyExists').message ?? ''
    assert.equal(await again(), `configmaps "${name}" already exists`)
    expectStatus(await client.delete(configMaps(namespace, name)), 200)
    assert.equal(await again(), `object is being deleted: configmaps "${name}" already exists`)
  }
})

test('every kind of large request runs steps in a worker thread', async () => {
  const { client } = server
  const namespace = await newNamespace(client)
  const target = configMaps(namespace, 'large')
  const operations: Readonly<Record<string, (value: string) => Promise<ApiResponse>>> = {
    POST: () => client.post(`${configMaps(namespace)}?dryRun=All`, configMapOf('other', { data: manyKeys('v') })),
    PUT: (value) => client.put(target, configMapOf('large', { data: manyKeys(value) })),
    'merge patch': (value) => client.patch(target, 'application/merge-patch+json', { data: manyKeys(value) }),
    'small patch of a large object': (value) => client.patch(target, 'application/merge-patch+json', { metadata: { labels: { value } } }),
    'strategic patch': (value) => client.patch(target, 'application/strategic-merge-patch+json', { data: manyKeys(value) }),
    'JSON patch': (value) => client.patch(target, 'application/json-patch+json', [{ op: 'add', path: '/data/key-0', value }]),
    apply: (value) =>
      client.patch(`${target}?fieldManager=m&force=true`, 'application/apply-patch+yaml', configMapOf('large', { data: manyKeys(value) })),
    'GET as YAML': () => client.get(target, { accept: 'application/yaml' }),
    'GET, indented': () => client.get(`${target}?pretty=true`),
  }
  expectStatus(await client.post(configMaps(namespace), configMapOf('large', { data: manyKeys('v') })), 201)
  const onEventLoop: string[] = []
  let writes = 0
  for (const [name, act] of Object.entries(operations)) {
    const once = async (): Promise<void> => {
      const { status, text } = await act(`v${++writes}`)
      assert.ok(status < 300, `${name}: ${status} ${text.slice(0, 300)}`)
    }
    if ((await workerSteps(client, once)) === 0) onEventLoop.push(name)
  }
  assert.deepEqual(onEventLoop, [])
})

test('large requests are served, rejected and watched like small ones', async () => {
  const { client } = server
  const namespace = await newNamespace(client)
  const watch = await client.watch(`${configMaps(namespace)}?watch=true`)
  const created = expectStatus(
    await client.send({
      method: 'POST',
      path: `${configMaps(namespace)}?fieldManager=me`,
      body: { ...configMapOf('large', { data: manyKeys('v') }), odd: 1 },
      headers: { 'audit-id': 'large-one' },
    }),
    201,
  )
  assert.equal(Object.keys(created.json['data'] as object).length, count)
  assert.equal(created.json.metadata.managedFields?.[0]?.manager, 'me')
  assert.equal(created.headers['audit-id'], 'large-one')
  assert.match(String(created.headers['warning']), /unknown field \\"odd\\"/)
  const event = (await watch.atLeast(1)).find(({ object }) => object.metadata.name === 'large')
  assert.equal(event?.type, 'ADDED')
  assert.equal(event?.object.metadata.resourceVersion, created.json.metadata.resourceVersion)
  watch.close()
  expectFailure(await client.post(configMaps(namespace), configMapOf('large', { data: manyKeys('v') })), 409, 'AlreadyExists')
  const stale = { ...configMapOf('large', { data: manyKeys('w') }), metadata: { name: 'large', resourceVersion: '1' } }
  expectFailure(await client.put(configMaps(namespace, 'large'), stale), 409, 'Conflict')
  const bad = await client.post(
    configMaps(namespace),
    configMapOf('bad', { data: Object.fromEntries(Object.keys(manyKeys('')).map((key) => [`${key}!`, 'v'])) }),
  )
  assert.equal(expectFailure(bad, 422, 'Invalid')['details'] !== undefined, true)
  expectFailure(await client.post(configMaps('nowhere'), configMapOf('large', { data: manyKeys('v') })), 404, 'NotFound')
  expectStatus(await client.delete(configMaps(namespace, 'large')), 200)
  expectFailure(await client.get(configMaps(namespace, 'large')), 404, 'NotFound')
})

test('a reference to a deleted owner is removed from a large object', async () => {
  const { client } = server
  const namespace = await newNamespace(client)
  const owners = await Promise.all(
    ['goes', 'stays'].map(async (name) => {
      const { uid } = expectStatus(await client.post(configMaps(namespace), configMapOf(name)), 201).json.metadata
      return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: String(uid) }
    }),
  )
  const large = configMapOf('large', { data: manyKeys('v', maxKeys) })
  const owned = { ...large, metadata: { ...large.metadata, ownerReferences: owners } }
  expectStatus(await client.post(configMaps(namespace), owned), 201)
  expectStatus(await client.delete(`${configMaps(namespace, 'goes')}?propagationPolicy=Background`), 200)
  const read = () => client.get(configMaps(namespace, 'large'))
  const remaining = await until(read, ({ json }) => json.metadata.ownerReferences?.length === 1, 60_000)
  assert.deepEqual(remaining.json.metadata.ownerReferences, owners.slice(1))
})

test('large writes are counted by a quota with concurrent writers', async () => {
  const { client } = server
  const namespace = await newNamespace(client)
  const quota = { metadata: { name: 'quota' }, spec: { hard: { 'count/configmaps': '100000' } } }
  expectStatus(await client.post(`/api/v1/namespaces/${namespace}/resourcequotas`, quota), 201)
  const usedNow = async (): Promise<string | undefined> => {
    const { json } = await client.get(`/api/v1/namespaces/${namespace}/resourcequotas/quota`)
    return (json['status'] as { readonly used?: Readonly<Record<string, string>> } | undefined)?.used?.['count/configmaps']
  }
  await until(usedNow, (used) => used !== undefined)
  let isOver = false
  let smallWrites = 0
  const writeSmall = async (): Promise<void> => {
    while (!isOver) expectStatus(await client.post(configMaps(namespace), configMapOf(`light-${smallWrites++}`)), 201)
  }
  const writers = [writeSmall(), writeSmall(), writeSmall()]
  try {
    for (let i = 0; i < 4; i++)
      expectStatus(await client.post(configMaps(namespace), configMapOf(`large-${i}`, { data: fewKeys('v') })), 201)
  } finally {
    isOver = true
    await Promise.all(writers)
  }
  const { items } = (await client.get(configMaps(namespace))).json
  assert.equal(await usedNow(), String(items.length))
})

test('a large write whose client has disconnected is not committed', async () => {
  const { client } = server
  const namespace = await newNamespace(client)
  const abort = new AbortController()
  // Queued behind the first request, so its client has disconnected before the request starts.
  const first = client.post(`${configMaps(namespace)}?dryRun=All`, configMapOf('first', { data: manyKeys('v') }))
  const sending = client.send({
    method: 'POST',
    path: configMaps(namespace),
    body: configMapOf('late', { data: manyKeys('v') }),
    signal: abort.signal,
  })
  await sleep(60)
  abort.abort()
  await assert.rejects(sending)
  expectStatus(await first, 201)
  // Requests run in order: when this one has a response, the other has ended.
  expectStatus(await client.post(`${configMaps(namespace)}?dryRun=All`, configMapOf('last', { data: manyKeys('v') })), 201)
  expectFailure(await client.get(configMaps(namespace, 'late')), 404, 'NotFound')
})

test('the owner of a large object may be a custom resource', async () => {
  const { client, close } = await startEmbedded('memory', ['--enable-admission-plugins=OwnerReferencesPermissionEnforcement'])
  try {
    const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
    const schema = { openAPIV3Schema: { type: 'object' } }
    const versions = [{ name: 'v1', served: true, storage: true, schema }]
    const spec = { group: 'example.com', scope: 'Namespaced', names, versions }
    const definition = { metadata: { name: 'widgets.example.com' }, spec }
    expectStatus(await client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', definition), 201)
    await untilStatus(() => client.get('/apis/example.com/v1/widgets'), 200)
    const ownedBy = (kind: string, name: string) => ({
      metadata: { name, ownerReferences: [{ apiVersion: 'example.com/v1', kind, name: 'one', uid: 'u', blockOwnerDeletion: true }] },
      data: fewKeys('v'),
    })
    // Not an administrator: a user who may set finalizers on everything skips the owner check.
    const rbac = '/apis/rbac.authorization.cluster.io/v1'
    const rules = [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
      { apiGroups: ['example.com'], resources: ['widgets/finalizers'], verbs: ['update'] },
    ]
    expectStatus(await client.post(`${rbac}/clusterroles`, { metadata: { name: 'owning' }, rules }), 201)
    const roleRef = { apiGroup: 'rbac.authorization.cluster.io', kind: 'ClusterRole', name: 'owning' }
    const subjects = [{ apiGroup: 'rbac.authorization.cluster.io', kind: 'User', name: 'zoe' }]
    expectStatus(await client.post(`${rbac}/clusterrolebindings`, { metadata: { name: 'owning' }, roleRef, subjects }), 201)
    const create = (body: object) =>
      client.send({ method: 'POST', path: configMaps('default'), body, headers: { 'impersonate-user': 'zoe' } })
    expectStatus(await create(ownedBy('Widget', 'owned')), 201)
    const { message } = expectFailure(await create(ownedBy('Gadget', 'unknown')), 403, 'Forbidden')
    assert.match(String(message), /no matches for kind "Gadget" in version "example.com\/v1"/)
  } finally {
    await close()
  }
})

for (const engine of ['memory', 'lmdb'] as const)
  test(`an embedded server on ${engine} creates and patches a large object`, async () => {
    const embedded: Embedded = await startEmbedded(engine)
    try {
      const { client } = embedded
      expectStatus(await client.post(configMaps('default'), configMapOf('large', { data: manyKeys('v') })), 201)
      const patched = await client.patch(configMaps('default', 'large'), 'application/merge-patch+json', { data: { 'key-0': 'other' } })
      const data = expectStatus(patched, 200).json['data'] as Readonly<Record<string, string>>
      assert.equal(data['key-0'], 'other')
      assert.equal(Object.keys(data).length, count)
    } finally {
      await embedded.close()
    }
  })

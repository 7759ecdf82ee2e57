// Large requests: their steps run in worker threads, the event loop stays free, and the responses are the same as for small requests.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { timedTest } from '../../src/base/timed-test.fixture.js'
import type { Answer } from '../kit/api-client.js'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, newNamespace, sleep, until } from '../kit/fixtures.js'
import { longestTurnMs, turnWatchFlags } from '../kit/longest-turn.js'
import { ServerProcess } from '../kit/server-process.js'

let server: ServerProcess
before(async () => {
  server = await ServerProcess.start({ nodeFlags: turnWatchFlags })
})
after(() => server.stop())

const count = 12_000
const many = (value: string, keys = count): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: keys }, (_, i) => [`key-${i}`, value]))
/** Almost as many as fit into an object. */
const most = 30_000

/** Large, though not by much. */
const few = (value: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: 11_000 }, (_, i) => [`key-${i}`, value]))

/** Twice the budget for the largest object, for a busy machine; in one turn each of these would take some hundred milliseconds. */
const mostTurnMs = 200

test('a name that is taken by something, large or small, is refused with what becomes of that', async () => {
  const { client } = server
  const namespace = await newNamespace(client)
  for (const [name, data] of [
    ['large', many('v', most)],
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

test('a large request does not block the event loop, whichever it is', async () => {
  const { client } = server
  const namespace = await newNamespace(client)
  const target = configMaps(namespace, 'large')
  const acts: Readonly<Record<string, (value: string) => Promise<Answer>>> = {
    POST: () => client.post(`${configMaps(namespace)}?dryRun=All`, configMapOf('other', { data: many('v') })),
    PUT: (value) => client.put(target, configMapOf('large', { data: many(value) })),
    'merge patch': (value) => client.patch(target, 'application/merge-patch+json', { data: many(value) }),
    'small patch of what is large': (value) => client.patch(target, 'application/merge-patch+json', { metadata: { labels: { value } } }),
    'strategic patch': (value) => client.patch(target, 'application/strategic-merge-patch+json', { data: many(value) }),
    'JSON patch': (value) => client.patch(target, 'application/json-patch+json', [{ op: 'add', path: '/data/key-0', value }]),
    apply: (value) =>
      client.patch(`${target}?fieldManager=m&force=true`, 'application/apply-patch+yaml', configMapOf('large', { data: many(value) })),
    'GET as YAML': () => client.get(target, { accept: 'application/yaml' }),
    'GET, indented': () => client.get(`${target}?pretty=true`),
    'dry DELETE': () => client.delete(`${target}?dryRun=All`),
  }
  expectStatus(await client.post(configMaps(namespace), configMapOf('large', { data: many('v') })), 201)
  const slow: Record<string, number> = {}
  let writes = 0
  for (const [name, act] of Object.entries(acts)) {
    const once = async (): Promise<void> => {
      const { status, text } = await act(`v${++writes}`)
      assert.ok(status < 300, `${name}: ${status} ${text.slice(0, 300)}`)
    }
    const turnMs = await longestTurnMs(server, once, mostTurnMs)
    if (turnMs > mostTurnMs) slow[name] = turnMs
  }
  assert.deepEqual(slow, {})
})

/** Each is made anew for what has just changed. */
const forms: Readonly<Record<string, { readonly query?: string; readonly accept: string }>> = {
  YAML: { accept: 'application/yaml' },
  'indented JSON': { query: '?pretty=true', accept: 'application/json' },
  Protobuf: { accept: 'application/vnd.cluster.protobuf' },
  'a table': { query: '?includeObject=Object', accept: 'application/json;as=Table;g=meta.cluster.io;v=v1' },
  'a table in YAML': { accept: 'application/yaml;as=Table;g=meta.cluster.io;v=v1' },
  metadata: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.cluster.io;v=v1' },
}

test('a list with a large object does not block the event loop, in any representation', async () => {
  const { client } = server
  const namespace = await newNamespace(client)
  for (const name of ['a', 'z']) expectStatus(await client.post(configMaps(namespace), configMapOf(name)), 201)
  expectStatus(await client.post(configMaps(namespace), configMapOf('large', { data: many('v', most) })), 201)
  const slow: Record<string, number> = {}
  let writes = 0
  for (const [name, { query = '', accept }] of Object.entries(forms)) {
    for (const selected of name === 'Protobuf' ? ['', 'fieldSelector=metadata.name!=z', 'limit=2'] : ['']) {
      const path = `${configMaps(namespace)}${query === '' ? '?' : `${query}&`}${selected}`
      const once = async (): Promise<void> => {
        const labels = { value: `v${++writes}` }
        expectStatus(await client.patch(configMaps(namespace, 'large'), 'application/merge-patch+json', { metadata: { labels } }), 200)
        const { status, text } = await client.get(path, { accept })
        assert.equal(status, 200, text.slice(0, 300))
        assert.ok(text.length > 300_000 || name.includes('table in') || name === 'metadata', `${name}: ${text.length}`)
      }
      const turnMs = await longestTurnMs(server, once, mostTurnMs)
      if (turnMs > mostTurnMs) slow[`${name} ${selected}`] = turnMs
    }
  }
  assert.deepEqual(slow, {})
})

test('watches of large objects, also of custom ones, do not block the event loop', async () => {
  const { client } = server
  const group = 'large.example.com'
  const names = { plural: 'loads', singular: 'load', kind: 'Load', listKind: 'LoadList' }
  const openAPIV3Schema = { type: 'object', properties: { data: { type: 'object', additionalProperties: { type: 'string' } } } }
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }]
  const definition = { metadata: { name: `loads.${group}` }, spec: { group, scope: 'Namespaced', names, versions } }
  expectStatus(await client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', definition), 201)
  const namespace = await newNamespace(client)
  const loads = `/apis/${group}/v1/namespaces/${namespace}/loads`
  await until(
    () => client.get(loads),
    ({ status }) => status === 200,
  )
  const accept = 'application/json;as=Table;g=meta.cluster.io;v=v1'
  for (const [path, apiVersion, kind] of [
    [configMaps(namespace), 'v1', 'ConfigMap'],
    [loads, `${group}/v1`, 'Load'],
  ] as const) {
    const watches = await Promise.all([1, 2].map(() => client.watch(`${path}?watch=true&includeObject=Object`, { accept })))
    const large = { apiVersion, kind, metadata: { name: 'large' }, data: many('v', most) }
    expectStatus(await client.post(path, large), 201)
    let writes = 0
    const once = async (): Promise<void> => {
      expectStatus(await client.patch(`${path}/large`, 'application/merge-patch+json', { data: { 'key-9': `v${++writes}` } }), 200)
      for (const watch of watches) {
        const event = (await watch.atLeast(writes + 1))[writes]
        assert.ok(JSON.stringify(event).includes(`"key-9":"v${writes}"`), 'the event is that of the write')
      }
    }
    const turnMs = await longestTurnMs(server, once, mostTurnMs)
    assert.ok(turnMs <= mostTurnMs, `${kind}: ${turnMs} ms`)
    for (const watch of watches) watch.close()
  }
})

test('a large request is answered, refused and watched like any other', async () => {
  const { client } = server
  const namespace = await newNamespace(client)
  const watch = await client.watch(`${configMaps(namespace)}?watch=true`)
  const created = expectStatus(
    await client.send({
      method: 'POST',
      path: `${configMaps(namespace)}?fieldManager=me`,
      body: { ...configMapOf('large', { data: many('v') }), odd: 1 },
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
  expectFailure(await client.post(configMaps(namespace), configMapOf('large', { data: many('v') })), 409, 'AlreadyExists')
  const stale = { ...configMapOf('large', { data: many('w') }), metadata: { name: 'large', resourceVersion: '1' } }
  expectFailure(await client.put(configMaps(namespace, 'large'), stale), 409, 'Conflict')
  const bad = await client.post(
    configMaps(namespace),
    configMapOf('bad', { data: Object.fromEntries(Object.keys(many('')).map((key) => [`${key}!`, 'v'])) }),
  )
  assert.equal(expectFailure(bad, 422, 'Invalid')['details'] !== undefined, true)
  expectFailure(await client.post(configMaps('nowhere'), configMapOf('large', { data: many('v') })), 404, 'NotFound')
  expectStatus(await client.delete(configMaps(namespace, 'large')), 200)
  expectFailure(await client.get(configMaps(namespace, 'large')), 404, 'NotFound')
})

test('concurrent large requests all succeed, and no user blocks the others', async () => {
  const { client } = server
  const namespace = await newNamespace(client)
  expectStatus(
    await client.post('/apis/rbac.authorization.cluster.io/v1/clusterrolebindings', {
      metadata: { name: 'large-writers' },
      roleRef: { apiGroup: 'rbac.authorization.cluster.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: ['greedy', 'modest'].map((name) => ({ apiGroup: 'rbac.authorization.cluster.io', kind: 'User', name })),
    }),
    201,
  )
  const statusesOf = async (times: number, headers: Readonly<Record<string, string>>): Promise<readonly number[]> => {
    const body = configMapOf('m', { data: few('v') })
    const send = () => client.send({ method: 'POST', path: `${configMaps(namespace)}?dryRun=All`, body, headers })
    // On a busy machine the event loop may lag; clients then get 429 and retry.
    const sent = Array.from({ length: times }, () => until(send, ({ status }) => status !== 429))
    return (await Promise.all(sent)).map(({ status }) => status)
  }
  const greedy = statusesOf(40, { 'impersonate-user': 'greedy' })
  await sleep(100)
  const [modest, admin] = await Promise.all([statusesOf(4, { 'impersonate-user': 'modest' }), statusesOf(20, {})])
  assert.deepEqual(modest, Array(4).fill(201))
  assert.deepEqual(admin, Array(20).fill(201))
  assert.deepEqual(await greedy, Array(40).fill(201))
})

test('large writes are counted by a quota while others write in the namespace', async () => {
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
  let light = 0
  const writeLightly = async (): Promise<void> => {
    while (!isOver) expectStatus(await client.post(configMaps(namespace), configMapOf(`light-${light++}`)), 201)
  }
  const writers = [writeLightly(), writeLightly(), writeLightly()]
  try {
    for (let i = 0; i < 4; i++) expectStatus(await client.post(configMaps(namespace), configMapOf(`large-${i}`, { data: few('v') })), 201)
  } finally {
    isOver = true
    await Promise.all(writers)
  }
  const { items } = (await client.get(configMaps(namespace))).json
  assert.equal(await usedNow(), String(items.length))
})

timedTest('a large write whose client has disconnected is not committed', async () => {
  const { client } = server
  const namespace = await newNamespace(client)
  const abortion = new AbortController()
  // Behind another one, so that its own turn comes when the client has gone.
  const first = client.post(`${configMaps(namespace)}?dryRun=All`, configMapOf('first', { data: many('v') }))
  const sending = client.send({
    method: 'POST',
    path: configMaps(namespace),
    body: configMapOf('late', { data: many('v') }),
    signal: abortion.signal,
  })
  await sleep(60)
  abortion.abort()
  await assert.rejects(sending)
  expectStatus(await first, 201)
  // One after the other: when this is answered, that one is over.
  expectStatus(await client.post(`${configMaps(namespace)}?dryRun=All`, configMapOf('last', { data: many('v') })), 201)
  expectFailure(await client.get(configMaps(namespace, 'late')), 404, 'NotFound')
})

test('the owner of a large object may be of a custom kind', async () => {
  const { client, close } = await startEmbedded('memory', ['--enable-admission-plugins=OwnerReferencesPermissionEnforcement'])
  try {
    const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
    const schema = { openAPIV3Schema: { type: 'object' } }
    const versions = [{ name: 'v1', served: true, storage: true, schema }]
    const spec = { group: 'example.com', scope: 'Namespaced', names, versions }
    const definition = { metadata: { name: 'widgets.example.com' }, spec }
    expectStatus(await client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', definition), 201)
    await until(
      () => client.get('/apis/example.com/v1/widgets'),
      ({ status }) => status === 200,
    )
    const ownedBy = (kind: string, name: string) => ({
      metadata: { name, ownerReferences: [{ apiVersion: 'example.com/v1', kind, name: 'one', uid: 'u', blockOwnerDeletion: true }] },
      data: few('v'),
    })
    // Who may finalize anything is not asked about owners.
    const rights = '/apis/rbac.authorization.cluster.io/v1'
    const rules = [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
      { apiGroups: ['example.com'], resources: ['widgets/finalizers'], verbs: ['update'] },
    ]
    expectStatus(await client.post(`${rights}/clusterroles`, { metadata: { name: 'owning' }, rules }), 201)
    const roleRef = { apiGroup: 'rbac.authorization.cluster.io', kind: 'ClusterRole', name: 'owning' }
    const subjects = [{ apiGroup: 'rbac.authorization.cluster.io', kind: 'User', name: 'zoe' }]
    expectStatus(await client.post(`${rights}/clusterrolebindings`, { metadata: { name: 'owning' }, roleRef, subjects }), 201)
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
  test(`a server inside of another process does the same, kept in ${engine}`, async () => {
    const embedded: Embedded = await startEmbedded(engine)
    try {
      const { client } = embedded
      expectStatus(await client.post(configMaps('default'), configMapOf('large', { data: many('v') })), 201)
      const patched = await client.patch(configMaps('default', 'large'), 'application/merge-patch+json', { data: { 'key-0': 'other' } })
      const data = expectStatus(patched, 200).json['data'] as Readonly<Record<string, string>>
      assert.equal(data['key-0'], 'other')
      assert.equal(Object.keys(data).length, count)
    } finally {
      await embedded.close()
    }
  })

// server.reset() of a server in memory: objects, quotas and addresses are as after the start, and open watches get the changes.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type EmbeddedServer, startServer } from 'cluster-apiserver'
import { ExtensionServer, register } from '../../packages/server/test/aggregation/extension-server.js'
import { ApiClient } from '../kit/api-client.js'
import { clientOf } from '../kit/embedded.js'
import { expectFailure, expectStatus, listPaths, until, untilStatus } from '../kit/fixtures.js'
import type { JsonObject } from '../kit/network/json-object.js'
import { newFolder } from '../kit/server-process.js'

const rbac = 'rbac.authorization.cluster.io'
const quota = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'few', namespace: 'shop' },
  spec: { hard: { configmaps: '2' } },
}
const budget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'b', namespace: 'shop' },
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'x' } } },
}
const crdOf = (plural: string, name: string) => ({
  apiVersion: 'apiextensions.cluster.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, singular: name.toLowerCase(), kind: name },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
})
const crdPath = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'
const shopMaps = '/api/v1/namespaces/shop/configmaps'

let server: EmbeddedServer
let client: ApiClient
before(async () => {
  const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
  const gadget = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'g', namespace: 'shop' } }
  server = await startServer({ objects: [shop, quota, budget, crdOf('gadgets', 'Gadget'), gadget] })
  client = clientOf(server)
})
after(async () => {
  client.close()
  await server.close()
})

/** All objects without resourceVersion, by kind and name. */
async function everything(): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const path of await listPaths(client)) {
    // Leases are renewed, so they are not compared.
    if (path.endsWith('/leases')) continue
    for (const { metadata, ...rest } of expectStatus(await client.get(path), 200).json.items as readonly JsonObject[]) {
      const key = `${path} ${metadata.namespace ?? ''}/${metadata.name}`
      found.set(key, JSON.stringify({ ...rest, metadata: { ...metadata, resourceVersion: '' } }))
    }
  }
  return found
}

test('all objects are restored with their uids, also those of the server', async () => {
  const before = await everything()
  assert.ok(before.size > 150)
  assert.ok(before.has('/apis/example.com/v1/gadgets shop/g'))
  for (const name of ['a', 'b']) expectStatus(await client.post('/api/v1/namespaces', { metadata: { name } }), 201)
  await untilStatus(() => client.get('/api/v1/namespaces/a/serviceaccounts/default'), 200)
  expectStatus(await client.post(`/api/v1/namespaces/a/services`, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }), 201)
  expectStatus(await client.post(crdPath, crdOf('widgets', 'Widget')), 201)
  const widgets = '/apis/example.com/v1/namespaces/a/widgets'
  await untilStatus(() => client.get(widgets), 200)
  expectStatus(
    await client.post(widgets, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w', finalizers: ['example.com/x'] } }),
    201,
  )
  expectStatus(await client.delete(`/apis/${rbac}/v1/clusterroles/view`), 200)
  expectStatus(await client.delete('/api/v1/namespaces/default/services/cluster'), 200)
  expectStatus(await client.patch('/api/v1/namespaces/default', 'application/merge-patch+json', { metadata: { labels: { x: 'y' } } }), 200)
  expectStatus(await client.delete(`${crdPath}/gadgets.example.com`), 200)
  expectStatus(await client.delete('/api/v1/namespaces/shop'), 200)
  await server.reset()
  assert.deepEqual(await everything(), before)
  expectStatus(await client.get(widgets), 404)
})

test('watches get DELETED events, and watches of removed kinds end', async () => {
  expectStatus(await client.post(crdPath, crdOf('widgets', 'Widget')), 201)
  const widgets = '/apis/example.com/v1/namespaces/shop/widgets'
  await untilStatus(() => client.get(widgets), 200)
  const [maps, custom, kept] = await Promise.all([
    client.watch(`${shopMaps}?watch=1`),
    client.watch(`${widgets}?watch=1`),
    client.watch('/apis/example.com/v1/gadgets?watch=1'),
  ])
  expectStatus(await client.post(shopMaps, { metadata: { name: 'm' } }), 201)
  expectStatus(await client.post(widgets, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } }), 201)
  await Promise.all([maps.atLeast(1), custom.atLeast(1)])
  await server.reset()
  await Promise.all([maps.atLeast(2), custom.ended])
  assert.equal(maps.summary(), 'ADDED m, DELETED m')
  assert.equal(custom.summary(), 'ADDED w, DELETED w')
  // The watch continues without a gap.
  expectStatus(await client.post(shopMaps, { metadata: { name: 'next' } }), 201)
  await maps.atLeast(3)
  assert.equal(maps.summary(), 'ADDED m, DELETED m, ADDED next')
  assert.equal(kept.isEnded, false)
  for (const watch of [maps, kept]) watch.close()
  await server.reset()
})

test('quotas, permissions and addresses are restored', async () => {
  const alice = new ApiClient({ url: server.url, ca: server.caPem, token: server.as('alice', ['dev']).token })
  const service = { metadata: { name: 's' }, spec: { clusterIP: '10.0.0.77', ports: [{ port: 80 }] } }
  const binding = {
    metadata: { name: 'x' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'alice' }],
  }
  for (let round = 0; round < 3; round++) {
    expectFailure(await alice.get(shopMaps), 403, 'Forbidden')
    for (const name of ['one', 'two']) expectStatus(await client.post(shopMaps, { metadata: { name } }), 201)
    expectFailure(await client.post(shopMaps, { metadata: { name: 'three' } }), 403, 'Forbidden')
    expectStatus(await client.post('/api/v1/namespaces/shop/services', service), 201)
    expectStatus(await client.post(`/apis/${rbac}/v1/clusterrolebindings`, binding), 201)
    expectStatus(await alice.get(shopMaps), 200)
    await server.reset()
    const { json } = await client.get('/api/v1/namespaces/shop/resourcequotas/few')
    assert.deepEqual((json['status'] as { used: unknown }).used, { configmaps: '0' })
  }
  alice.close()
})

test('controllers record events as after the start', async () => {
  const pods = '/api/v1/namespaces/shop/pods'
  /** Events of a pod that is created and deleted with a PodDisruptionBudget. */
  const countsAfter = async (): Promise<readonly number[]> => {
    await server.reset()
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    expectStatus(await client.post(pods, { metadata: { name: 'p', labels: { app: 'x' } }, spec }), 201)
    await until(
      () => client.get('/apis/policy/v1/namespaces/shop/poddisruptionbudgets/b'),
      ({ json }) => (json.status as { readonly expectedPods?: number } | undefined)?.expectedPods === 1,
    )
    const events = async () =>
      (await client.get('/api/v1/namespaces/shop/events')).json.items.map(({ count }: JsonObject) => Number(count)).sort()
    const before = JSON.stringify(await events())
    expectStatus(await client.delete(`${pods}/p?gracePeriodSeconds=0`), 200)
    return await until(events, (now) => JSON.stringify(now) !== before)
  }
  assert.deepEqual(await countsAfter(), await countsAfter())
})

test('resourceVersions only increase', async () => {
  const versionOf = async (): Promise<number> => Number((await client.get(shopMaps)).json.metadata.resourceVersion)
  const before = await versionOf()
  expectStatus(await client.post(shopMaps, { metadata: { name: 'm' } }), 201)
  await server.reset()
  assert.ok((await versionOf()) > before)
})

test('an unresponsive extension server does not block reset, and its later response changes nothing', async () => {
  const before = await everything()
  const extension = await ExtensionServer.start('hung.example')
  await register(client, { server: extension })
  const pending: (() => void)[] = []
  extension.behaviour = ({ url }, response) => {
    if (url?.startsWith('/apis/hung.example/v1/namespaces/shop/') !== true) return undefined
    const list = { apiVersion: 'hung.example/v1', kind: 'GadgetList', metadata: {}, items: [{ metadata: { name: 'left' } }] }
    pending.push(() => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(list)))
    return true
  }
  expectStatus(await client.delete('/api/v1/namespaces/shop'), 200)
  await until(
    async () => pending.length,
    (count) => count > 0,
  )
  await server.reset()
  assert.deepEqual(await everything(), before)
  for (const respond of pending) respond()
  // The controller processes its queue in order.
  expectStatus(await client.post('/api/v1/namespaces', { metadata: { name: 'later' } }), 201)
  expectStatus(await client.delete('/api/v1/namespaces/later'), 200)
  await untilStatus(() => client.get('/api/v1/namespaces/later'), 404)
  extension.close()
  assert.deepEqual(await everything(), before)
})

test('encrypted objects are restored, and unchanged ones stay untouched', async () => {
  const folder = newFolder()
  const file = join(folder, 'encryption.yaml')
  const keys = [{ name: 'one', secret: Buffer.alloc(32, 7).toString('base64') }]
  const rule = { resources: ['configmaps'], providers: [{ aesgcm: { keys } }] }
  writeFileSync(file, JSON.stringify({ apiVersion: 'apiserver.config.cluster.io/v1', kind: 'EncryptionConfiguration', resources: [rule] }))
  const object = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data: { a: 'b' } })
  const encrypted = await startServer({ flags: [`--encryption-provider-config=${file}`], objects: [object('same'), object('changed')] })
  const maps = encrypted.client.core.v1.configMaps('default')
  const before = await maps.get('same')
  await maps.apply({ ...object('changed'), data: { a: 'c' } }, { fieldManager: 'test', force: true })
  await encrypted.reset()
  assert.deepEqual((await maps.get('changed')).data, { a: 'b' })
  assert.deepEqual(await maps.get('same'), before)
  await encrypted.close({ immediately: true })
})

test('a server on disk cannot be reset', async () => {
  const other = await startServer({ dataDir: newFolder() })
  await assert.rejects(other.reset(), /only a server in memory can be reset/)
  await other.close()
})

test('objects with a TTL expire after a reset', async () => {
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'e', namespace: 'default' },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
    source: { component: 'test' },
  }
  const shortLived = await startServer({ objects: [event], flags: ['--event-ttl=1s'] })
  const events = clientOf(shortLived)
  const path = '/api/v1/namespaces/default/events/e'
  const status = async (): Promise<number> => (await events.get(path)).status
  await until(status, (code) => code === 404)
  await shortLived.reset()
  await until(status, (code) => code === 404)
  events.close()
  await shortLived.close()
})

// server.fork(), snapshot(), restore() and compact() of a server in memory.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type EmbeddedServer, type Snapshot, startServer } from 'cluster-apiserver'
import type { ApiClient } from '../kit/api-client.js'
import { clientOf } from '../kit/embedded.js'
import { expectFailure, expectStatus, listPaths, until, untilStatus, wareCrd } from '../kit/fixtures.js'
import type { JsonObject } from '../kit/network/json-object.js'
import { newFolder } from '../kit/server-process.js'

const crdPath = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'
const wares = '/apis/shop.example.com/v1/namespaces/shop/wares'
const maps = '/api/v1/namespaces/shop/configmaps'
const crd = wareCrd({ type: 'object', properties: { price: { type: 'integer', minimum: 1 } } })
const ware = (name: string, price = 1) => ({
  apiVersion: 'shop.example.com/v1',
  kind: 'Ware',
  metadata: { name, namespace: 'shop' },
  price,
})
const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

let server: EmbeddedServer
let client: ApiClient
const opened: { close(): unknown }[] = []

before(async () => {
  server = await startServer({ objects: [namespace('shop'), crd, ware('apple')] })
  client = clientOf(server)
})
after(async () => {
  client.close()
  for (const { close } of opened) await close()
  await server.close()
})

async function forkOf(parent: EmbeddedServer): Promise<{ readonly fork: EmbeddedServer; readonly forked: ApiClient }> {
  const fork = await parent.fork()
  const forked = clientOf(fork)
  opened.push({ close: () => forked.close() }, fork)
  return { fork, forked }
}

/** Texts of the lists of all kinds, with resource versions. */
async function allLists(from: ApiClient): Promise<ReadonlyMap<string, string>> {
  const lists = new Map<string, string>()
  for (const path of await listPaths(from)) lists.set(path, expectStatus(await from.get(path), 200).text)
  return lists
}

const namesIn = async (from: ApiClient, path: string): Promise<readonly string[]> =>
  ((await from.get(path)).json['items'] as readonly JsonObject[]).map(({ metadata }) => metadata.name as string)

test('a fork has the same objects, resource versions, history, certificates and tokens', async () => {
  const before = JSON.parse((await client.get(maps)).text) as { readonly metadata: { readonly resourceVersion: string } }
  expectStatus(await client.post(maps, { metadata: { name: 'old' } }), 201)
  const alice = server.as('alice', ['dev'])
  const { json } = await client.post('/api/v1/namespaces/shop/serviceaccounts/default/token', { spec: {} })
  const { fork, forked } = await forkOf(server)
  const lists = await allLists(client)
  assert.ok(lists.size > 50)
  assert.deepEqual(await allLists(forked), lists)
  assert.notEqual(fork.port, server.port)
  assert.equal(fork.caPem, server.caPem)
  assert.equal(fork.token, server.token)
  assert.equal(fork.as('alice', ['dev']).token, alice.token)
  for (const [token, user] of [
    [alice.token, 'alice'],
    [(json['status'] as { readonly token: string }).token, 'system:serviceaccount:shop:default'],
  ] as const) {
    const review = await forked.post('/apis/authentication.cluster.io/v1/tokenreviews', { spec: { token } })
    assert.equal((review.json['status'] as { readonly user: { readonly username: string } }).user.username, user)
  }
  const watch = await forked.watch(`${maps}?watch=1&resourceVersion=${before.metadata.resourceVersion}`)
  await watch.atLeast(1)
  assert.equal(watch.summary(), 'ADDED old')
  watch.close()
})

test('changes of a server and of its forks are independent, also of forks of forks', async () => {
  const { fork, forked } = await forkOf(server)
  expectStatus(await forked.post(maps, { metadata: { name: 'in-fork' } }), 201)
  expectStatus(await client.post(maps, { metadata: { name: 'in-parent' } }), 201)
  const { forked: second } = await forkOf(fork)
  expectStatus(await second.post(maps, { metadata: { name: 'in-second' } }), 201)
  const added = async (from: ApiClient) => (await namesIn(from, maps)).filter((name) => name.startsWith('in-'))
  assert.deepEqual(await added(client), ['in-parent'])
  assert.deepEqual(await added(forked), ['in-fork'])
  assert.deepEqual(await added(second), ['in-fork', 'in-second'])
})

test('a fork continues after its parent is closed', async () => {
  const parent = await startServer({ objects: [namespace('shop')] })
  const { forked } = await forkOf(parent)
  await parent.close()
  expectStatus(await forked.post(maps, { metadata: { name: 'm' } }), 201)
  expectStatus(await forked.post('/api/v1/namespaces', { metadata: { name: 'new' } }), 201)
  await untilStatus(() => forked.get('/api/v1/namespaces/new/serviceaccounts/default'), 200)
})

test('custom resources are served from the first request, and do not depend on the CRD of the parent', async () => {
  const parent = (await forkOf(server)).fork
  const { forked } = await forkOf(parent)
  const parentClient = clientOf(parent)
  expectStatus(await parentClient.delete(`${crdPath}/wares.shop.example.com`), 200)
  await untilStatus(() => parentClient.get(wares), 404)
  parentClient.close()
  expectStatus(await forked.post(wares, ware('pear')), 201)
  expectFailure(await forked.post(wares, ware('free', 0)), 422, 'Invalid')
  assert.deepEqual(await namesIn(forked, wares), ['apple', 'pear'])
  expectStatus(await forked.delete(`${crdPath}/wares.shop.example.com`), 200)
  await untilStatus(() => forked.get(wares), 404)
  assert.deepEqual(await namesIn(client, wares), ['apple'])
})

test('the controllers of a fork see the changes of its first request', async () => {
  const owner = expectStatus(await client.post(maps, { metadata: { name: 'owner' } }), 201).json
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }]
  expectStatus(await client.post(maps, { metadata: { name: 'owned', ownerReferences } }), 201)
  const { forked } = await forkOf(server)
  expectStatus(await forked.delete(`${maps}/owner`), 200)
  await untilStatus(() => forked.get(`${maps}/owned`), 404)
  const { forked: second } = await forkOf(server)
  expectStatus(await second.delete('/api/v1/namespaces/shop'), 200)
  await untilStatus(() => second.get('/api/v1/namespaces/shop'), 404)
  expectStatus(await client.get(`${maps}/owned`), 200)
})

test('quotas of a fork count the objects of its parent', async () => {
  const parent = await startServer({ objects: [namespace('shop')] })
  opened.push(parent)
  const parentClient = clientOf(parent)
  opened.push({ close: () => parentClient.close() })
  const quota = { metadata: { name: 'few' }, spec: { hard: { configmaps: '2' } } }
  expectStatus(await parentClient.post('/api/v1/namespaces/shop/resourcequotas', quota), 201)
  const used = async (): Promise<unknown> => {
    const { json } = await parentClient.get('/api/v1/namespaces/shop/resourcequotas/few')
    return (json['status'] as { readonly used?: { readonly configmaps: string } } | undefined)?.used?.configmaps
  }
  await until(used, (count) => count !== undefined)
  expectStatus(await parentClient.post(maps, { metadata: { name: 'a' } }), 201)
  const { forked } = await forkOf(parent)
  expectStatus(await forked.post(maps, { metadata: { name: 'b' } }), 201)
  expectFailure(await forked.post(maps, { metadata: { name: 'c' } }), 403, 'Forbidden')
  expectStatus(await parentClient.post(maps, { metadata: { name: 'c' } }), 201)
})

test('a fork continues the clock of its parent, and moves its own', async () => {
  const parent = await startServer({ objects: [namespace('shop')] })
  opened.push(parent)
  await parent.clock.advance('1d')
  const { fork } = await forkOf(parent)
  assert.ok(Math.abs(fork.clock.now().getTime() - parent.clock.now().getTime()) < 60_000)
  const job = {
    metadata: { name: 'done' },
    spec: {
      ttlSecondsAfterFinished: 60,
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
    },
  }
  const jobs = parent.client.batch.v1.jobs('shop')
  const created = await jobs.create(job)
  const completionTime = parent.clock.now().toISOString().replace(/\.\d+/, '')
  await jobs.status.update({
    ...created,
    status: {
      conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: completionTime }],
      completionTime,
      startTime: completionTime,
    },
  })
  const { fork: second } = await forkOf(parent)
  await second.clock.advance('1h')
  assert.deepEqual((await second.client.batch.v1.jobs('shop').list()).items, [])
  assert.equal((await jobs.list()).items.length, 1)
})

test('restores a snapshot, also of the parent in a fork; watches see the changes', async () => {
  expectStatus(await client.post(maps, { metadata: { name: 'kept' }, data: { price: '1' } }), 201)
  const { fork, forked } = await forkOf(server)
  const snapshot = server.snapshot()
  const dataOf = async (from: ApiClient) => (await from.get(`${maps}/kept`)).json['data']
  const { metadata } = (await forked.get(maps)).json
  const watch = await forked.watch(`${maps}?watch=1&resourceVersion=${metadata.resourceVersion}`)
  expectStatus(await forked.patch(`${maps}/kept`, 'application/merge-patch+json', { data: { price: '2' } }), 200)
  expectStatus(await forked.post(maps, { metadata: { name: 'extra' } }), 201)
  expectStatus(await forked.delete(`${wares}/apple`), 200)
  const changed = fork.snapshot()
  await fork.restore(snapshot)
  assert.deepEqual(await dataOf(forked), { price: '1' })
  expectStatus(await forked.get(`${wares}/apple`), 200)
  await watch.atLeast(4)
  assert.equal(watch.summary(), 'MODIFIED kept, ADDED extra, DELETED extra, MODIFIED kept')
  watch.close()
  assert.ok(Number((await forked.get(maps)).json.metadata.resourceVersion) > Number(changed.resourceVersion))
  await fork.restore(changed)
  assert.deepEqual(await dataOf(forked), { price: '2' })
  expectStatus(await forked.get(`${maps}/extra`), 200)
  await fork.reset()
  assert.deepEqual(await dataOf(forked), { price: '1' })
  assert.deepEqual(await dataOf(client), { price: '1' })
})

test('restored objects have versions of their own: a watch that resumes after one gets the others', async () => {
  const { fork, forked } = await forkOf(server)
  for (const name of ['p', 'q', 'r']) expectStatus(await forked.post(maps, { metadata: { name, labels: { set: 'three' } } }), 201)
  const list = `${maps}?labelSelector=set%3Dthree`
  const snapshot = fork.snapshot()
  expectStatus(await forked.delete(list), 200)
  await fork.restore(snapshot)
  const items = (await forked.get(list)).json['items'] as readonly JsonObject[]
  const versions = items.map(({ metadata }) => Number(metadata.resourceVersion)).toSorted((a, b) => a - b)
  assert.equal(new Set(versions).size, 3)
  const watch = await forked.watch(`${list}&watch=1&resourceVersion=${versions[0]}`)
  await watch.atLeast(2)
  watch.close()
})

test('restore refuses snapshots of unrelated servers', async () => {
  const other = await startServer()
  opened.push(other)
  await assert.rejects(server.restore(other.snapshot()), /^Error: restore: the snapshot is of another server/)
  await assert.rejects(server.restore({ resourceVersion: '1' } as Snapshot), /^TypeError: restore: not a snapshot/)
})

test('after compact, earlier resource versions and continue tokens get 410', async () => {
  const { fork, forked } = await forkOf(server)
  for (const name of ['x', 'y', 'z']) expectStatus(await forked.post(maps, { metadata: { name } }), 201)
  const page = (await forked.get(`${maps}?limit=1`)).json
  const { resourceVersion, continue: token } = page.metadata as unknown as { readonly resourceVersion: string; readonly continue: string }
  expectStatus(await forked.get(`${maps}?limit=1&continue=${encodeURIComponent(token)}`), 200)
  await fork.compact()
  expectFailure(await forked.get(`${maps}?limit=1&continue=${encodeURIComponent(token)}`), 410, 'Expired')
  expectFailure(await forked.get(`${maps}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`), 410, 'Expired')
  expectFailure(await forked.get(`${maps}?watch=1&resourceVersion=${resourceVersion}`), 410, 'Expired')
  const list = (await forked.get(maps)).json
  const current = await forked.watch(`${maps}?watch=1&resourceVersion=${list.metadata.resourceVersion}`)
  expectStatus(await forked.post(maps, { metadata: { name: 'after' } }), 201)
  await current.atLeast(1)
  assert.equal(current.summary(), 'ADDED after')
  current.close()
  // The history of the parent is its own.
  expectStatus(await client.get(`${maps}?resourceVersion=${server.snapshot().resourceVersion}&resourceVersionMatch=Exact`), 200)
})

test('servers with a data folder and closed servers are refused', async () => {
  const durable = await startServer({ dataDir: newFolder() })
  const refused = /: only a server in memory can be .*; start one without dataDir and etcd/
  await assert.rejects(durable.fork(), refused)
  assert.throws(() => durable.snapshot(), refused)
  await assert.rejects(durable.reset(), refused)
  await durable.compact()
  await durable.close()
  const closed = await server.fork()
  const snapshot = closed.snapshot()
  await closed.close()
  await assert.rejects(closed.fork(), /^Error: fork: the server is closed/)
  await assert.rejects(closed.restore(snapshot), /^Error: restore: the server is closed/)
  await assert.rejects(closed.compact(), /^Error: compact: the server is closed/)
  assert.throws(() => closed.snapshot(), /^Error: snapshot: the server is closed/)
})

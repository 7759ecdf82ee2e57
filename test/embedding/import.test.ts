// startServer({ from }): a server begins with the objects of a captured cluster, and runs on from there.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { type EmbeddedServer, type ServerOptions, startServer } from 'cluster-apiserver'
import { writeYaml } from '../../packages/api/src/codec/yaml/write-yaml.js'
import type { ApiClient } from '../kit/api-client.js'
import { clientOf } from '../kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, listPaths, makeConfigMap, wareCrd } from '../kit/fixtures.js'
import type { JsonObject } from '../kit/network/json-object.js'
import { commandPath } from '../kit/paths.js'
import { newFolder } from '../kit/server-process.js'

const folder = newFolder()
after(() => rmSync(folder, { recursive: true, force: true }))

/** Runs work with a server, which is closed afterwards. */
async function withServer<T>(options: ServerOptions, work: (client: ApiClient, server: EmbeddedServer) => Promise<T>): Promise<T> {
  const server = await startServer(options)
  const client = clientOf(server)
  try {
    return await work(client, server)
  } finally {
    client.close()
    await server.close({ immediately: true })
  }
}

/** Lists of all kinds by path, as `kubectl get` reads them. */
async function listAll(client: ApiClient): Promise<ReadonlyMap<string, JsonObject>> {
  const lists = new Map<string, JsonObject>()
  for (const path of await listPaths(client, 'preferred')) lists.set(path, expectStatus(await client.get(path), 200).json)
  return lists
}

/** Objects that every server writes for itself. */
const isOwn = (path: string, { metadata }: JsonObject): boolean =>
  path.endsWith('/leases') || metadata.name.includes('apiserver-authentication') || metadata.name.includes('root-ca.crt')

const objectsIn = (lists: ReadonlyMap<string, JsonObject>): ReadonlyMap<string, JsonObject> =>
  new Map(
    [...lists].flatMap(([path, { items }]) =>
      (items as readonly JsonObject[])
        .filter((item) => !isOwn(path, item))
        .map((item) => [`${path} ${item.metadata.namespace ?? ''}/${item.metadata.name}`, item] as const),
    ),
  )

const crdGroup = { cluster: 'apiextensions.cluster.io', kubernetes: 'apiextensions.k8s.io' }
const crdOf = (identity: 'cluster' | 'kubernetes') =>
  wareCrd({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, { subresources: { status: {} } }, crdGroup[identity])

const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
const ware = {
  apiVersion: 'shop.example.com/v1',
  kind: 'Ware',
  metadata: { name: 'apple', namespace: 'shop' },
  price: 3,
  status: { sold: 7 },
}
const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'shop' }, spec: { ports: [{ port: 80 }] } }
const wares = '/apis/shop.example.com/v1/namespaces/shop/wares'
const shopMaps = configMaps('shop')

/** Fills a server with objects: owners, finalizers, a deletion that waits, a custom resource with a status. */
async function fill(client: ApiClient): Promise<void> {
  const owner = await makeConfigMap(client, 'shop', configMapOf('owner'))
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }]
  const dependent = { ...configMapOf('dependent'), metadata: { name: 'dependent', ownerReferences, finalizers: ['example.com/wait'] } }
  expectStatus(await client.post(shopMaps, dependent), 201)
  expectStatus(await client.delete(`${shopMaps}/dependent`), 200)
}

for (const identity of ['cluster', 'kubernetes'] as const)
  test(`a capture as YAML and JSON, with the identity ${identity}`, async () => {
    const capture = join(folder, `capture-${identity}`)
    const before = await withServer({ identity, objects: [shop, crdOf(identity), ware, service] }, async (client) => {
      await fill(client)
      return listAll(client)
    })
    mkdirSync(join(capture, 'deep'), { recursive: true })
    ;[...before.values()].forEach((list, i) => {
      const { apiVersion, kind } = list
      const items = (list.items as readonly JsonObject[]).map((item) => ({ ...item, apiVersion, kind: kind.slice(0, -'List'.length) }))
      // As `kubectl get -o yaml` prints it: a List of objects with their type.
      const captured = { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items }
      if (i % 2 === 0) writeFileSync(join(capture, `${i}.yaml`), writeYaml(captured as never))
      else writeFileSync(join(capture, 'deep', `${i}.json`), JSON.stringify(captured))
    })
    const highest = Math.max(...[...objectsIn(before).values()].map(({ metadata }) => Number(metadata.resourceVersion)))
    const warnings: string[] = []
    const ignore = (): void => undefined
    const logger = { debug: ignore, info: ignore, warn: (_: unknown, message: string) => void warnings.push(message), error: ignore }
    await withServer({ identity, from: capture, logger }, async (client, server) => {
      const found = objectsIn(await listAll(client))
      for (const [key, object] of objectsIn(before)) assert.deepEqual(found.get(key), object, key)
      assert.deepEqual([...found.keys()].sort(), [...objectsIn(before).keys()].sort())
      assert.deepEqual(
        warnings.filter((message) => message.startsWith('import:')),
        [],
      )
      // The next version is higher, and versions of the capture are too old for a watch.
      const next = await makeConfigMap(client, 'shop', configMapOf('next'))
      assert.ok(Number(next.metadata.resourceVersion) > highest)
      const watch = await client.watch(`${shopMaps}?watch=1&resourceVersion=${highest - 1}`)
      assert.ok(watch.status === 410 || (await watch.atLeast(1))[0]?.type === 'ERROR')
      watch.close()
      // Addresses of captured Services are taken.
      const { clusterIP } = expectStatus(await client.get('/api/v1/namespaces/shop/services/web'), 200).json['spec'] as {
        clusterIP: string
      }
      const same = { metadata: { name: 'same' }, spec: { clusterIP, ports: [{ port: 80 }] } }
      expectFailure(await client.post('/api/v1/namespaces/shop/services', same), 422, 'Invalid')
      // The deletion continues when its finalizer is gone, and reset returns to the capture.
      expectStatus(await client.patch(`${shopMaps}/dependent`, 'application/merge-patch+json', { metadata: { finalizers: null } }), 200)
      expectStatus(await client.get(`${shopMaps}/dependent`), 404)
      await server.reset()
      expectStatus(await client.get(`${shopMaps}/dependent`), 200)
      assert.deepEqual((expectStatus(await client.get(`${wares}/apple`), 200).json as { status?: unknown }).status, { sold: 7 })
    })
  })

test('hand-written manifests get uids, and their CRDs are served', async () => {
  const path = join(folder, 'manifests.yaml')
  writeFileSync(path, [ware, crdOf('cluster'), service].map((object) => JSON.stringify(object)).join('\n---\n'))
  await withServer({ from: path }, async (client) => {
    const apple = expectStatus(await client.get(`${wares}/apple`), 200).json
    assert.equal(apple['price'], 3)
    assert.deepEqual(apple['status'], { sold: 7 })
    assert.match(apple.metadata.uid, /^[0-9a-f-]{36}$/)
    const namespace = expectStatus(await client.get('/api/v1/namespaces/shop'), 200).json
    assert.deepEqual(namespace['status'], { phase: 'Active' })
    expectStatus(await client.post(wares, { ...ware, metadata: { name: 'pear' } }), 201)
    expectStatus(await client.delete('/api/v1/namespaces/shop'), 200)
  })
})

test('a backup', async () => {
  const [dataDir, path] = [join(folder, 'data'), join(folder, 'one.backup')]
  const before = await withServer({ dataDir, objects: [shop, crdOf('cluster'), ware] }, async (client) => {
    await fill(client)
    return listAll(client)
  })
  await promisify(execFile)(process.execPath, [commandPath, 'backup', `--from=${dataDir}`, `--to=${path}`])
  await withServer({ from: path }, async (client) => {
    const found = objectsIn(await listAll(client))
    for (const [key, object] of objectsIn(before)) assert.deepEqual(found.get(key), object, key)
    await makeConfigMap(client, 'shop', configMapOf('next'))
  })
  await assert.rejects(startServer({ identity: 'kubernetes', from: path }), /start with identity cluster$/)
})

test('refused with other storages', async () => {
  for (const options of [{ dataDir: join(folder, 'other') }, { etcd: { servers: ['http://127.0.0.1:1'] } }])
    await assert.rejects(
      startServer({ from: folder, ...options }),
      /the option "from" needs a server in memory, without "dataDir" and "etcd"/,
    )
  const flags = ['--storage-backend=lmdb', `--data-dir=${join(folder, 'other')}`]
  await assert.rejects(startServer({ from: folder, flags }), /from: only a server in memory can import a captured cluster/)
})

// Namespace deletion: contents, late objects, finalizers, remote API groups, change of the leader.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { everything } from '../../objects/list/selection.js'
import { create } from '../../verbs/create.js'
import { remove } from '../../verbs/delete.js'
import type { ControllerParts } from '../framework/controller.js'
import { createTestEngine } from '../framework/engine.fixture.js'
import { internalCall } from '../framework/internal-call.js'
import { FakeTimers, flushTurns } from '../framework/timers.fixture.js'
import { namespaceDeletion } from './namespace-deletion.js'
import type { RemoteRemaining } from './remote-namespace-contents.js'

const times = { graceMs: 1000, sweepMs: 30_000 }

async function setUp() {
  const { engine, catalog, catalogs } = await createTestEngine('cluster', systemClock)
  const find = (name: string): Resource => catalog.find('', 'v1', name) as Resource
  const namespaces = find('namespaces')
  const configMaps = find('configmaps')
  const timers = new FakeTimers()
  const parts: ControllerParts = { engine, catalogs, logger: silentLogger, timers }
  const createObject = (resource: Resource, namespace: string, name: string, more: object = {}): Promise<unknown> =>
    create(engine, internalCall(engine, { resource, namespace, name }), { object: { metadata: { name, ...more } } })
  const deleteNamespace = async (name: string): Promise<void> => {
    await remove(engine, internalCall(engine, { resource: namespaces, name }))
  }
  const exists = (name: string): boolean => engine.store.read({ resource: namespaces, namespace: '', name }) !== undefined
  const until = async (isDone: () => boolean): Promise<void> => {
    for (let i = 0; i < 10_000 && !isDone(); i++) await flushTurns()
    assert.ok(isDone())
  }
  await createObject(namespaces, '', 'n')
  await createObject(namespaces, '', 'other')
  return { engine, catalog, configMaps, timers, parts, createObject, deleteNamespace, exists, until }
}

test('deletes the contents after the grace period, then the namespace, then late objects', async () => {
  const { engine, configMaps, timers, parts, createObject, deleteNamespace, exists, until } = await setUp()
  for (const name of ['a', 'b']) await createObject(configMaps, 'n', name)
  await createObject(configMaps, 'other', 'a')
  const controller = namespaceDeletion(parts, times)
  await deleteNamespace('n')
  await timers.advance(999)
  assert.equal(engine.store.count(configMaps, 'n'), 2, 'writers can finish')
  await timers.advance(1)
  await until(() => !exists('n'))
  assert.equal(engine.store.count(configMaps, 'n'), 0)
  assert.equal(engine.store.count(configMaps, 'other'), 1)
  await createObject(configMaps, 'n', 'late')
  await timers.advance(30_000)
  await until(() => engine.store.count(configMaps, 'n') === 0)
  await controller.close()
  assert.ok(exists('other'))
})

test('the next leader continues the deletion', async () => {
  const { engine, configMaps, timers, parts, createObject, deleteNamespace, exists, until } = await setUp()
  for (let i = 0; i < 700; i++) await createObject(configMaps, 'n', `c${i}`)
  await deleteNamespace('n')
  const first = namespaceDeletion(parts, times)
  let deleted = 0
  const unwatch = engine.store.watch({
    resource: configMaps,
    namespace: '',
    matches: undefined,
    deliver: () => {
      deleted += 1
      if (deleted === 100) void first.close()
    },
  })
  await timers.advance(1000)
  await until(() => deleted >= 100)
  await first.close()
  unwatch()
  const left = engine.store.count(configMaps, 'n')
  assert.ok(left > 500 && left <= 600, `${left} are left`)
  assert.ok(exists('n'))
  await timers.advance(60_000)
  assert.equal(engine.store.count(configMaps, 'n'), left, 'nothing is deleted after close')
  const second = namespaceDeletion(parts, times)
  await timers.advance(1000)
  await until(() => !exists('n'))
  assert.equal(engine.store.count(configMaps, 'n'), 0)
  await second.close()
})

test('the next leader deletes late objects of a deleted namespace', async () => {
  const { engine, configMaps, timers, parts, createObject, deleteNamespace, exists, until } = await setUp()
  const first = namespaceDeletion(parts, times)
  await deleteNamespace('n')
  await timers.advance(1000)
  await until(() => !exists('n'))
  await first.close()
  await createObject(configMaps, 'n', 'late')
  await createObject(configMaps, 'other', 'kept')
  const second = namespaceDeletion(parts, times, undefined, true)
  await flushTurns()
  await timers.advance(30_000)
  await until(() => engine.store.count(configMaps, 'n') === 0)
  await second.close()
  assert.equal(engine.store.count(configMaps, 'other'), 1)
})

test('a namespace waits for finalizers of its contents and names them in a condition', async () => {
  const { engine, catalog, configMaps, timers, parts, createObject, deleteNamespace, exists, until } = await setUp()
  await createObject(configMaps, 'n', 'blocked', { finalizers: ['example.com/wait'] })
  const controller = namespaceDeletion(parts, times)
  await deleteNamespace('n')
  await timers.advance(20_000)
  assert.ok(exists('n'))
  const namespaces = catalog.find('', 'v1', 'namespaces') as Resource
  const stored = engine.store.read({ resource: namespaces, namespace: '', name: 'n' })
  assert.match(JSON.stringify(stored?.decode(namespaces)), /example\.com\/wait in 1 resource instances/)
  const { revision } = engine.store
  await timers.advance(60_000)
  assert.equal(engine.store.revision, revision, 'no write without a change')
  const blocked = engine.store.read({ resource: configMaps, namespace: 'n', name: 'blocked' })
  if (blocked !== undefined) await engine.store.remove(blocked)
  await timers.advance(10_000)
  await until(() => !exists('n'))
  await controller.close()
})

test('an unavailable API service blocks the deletion and is named in a condition', async () => {
  const { engine, catalog, timers, parts, deleteNamespace, exists, until } = await setUp()
  const resource = catalog.find('apiregistration.cluster.io', 'v1', 'apiservices') as Resource
  const name = 'v1.other.example'
  const write = async (status: string): Promise<void> => {
    const before = engine.store.read({ resource, namespace: '', name })
    const metadata = { name, uid: 'service', creationTimestamp: '2026-01-01T00:00:00Z' }
    const spec = { group: 'other.example', version: 'v1', service: { name: 's', namespace: 'n', port: 443 } }
    const object = { metadata, spec, status: { conditions: [{ type: 'Available', status }] } } as ApiObject
    await engine.store.put({ resource, namespace: '', name }, engine.store.encode(resource, object), { expect: before?.revision ?? 0 })
  }
  await write('False')
  const controller = namespaceDeletion(parts, times)
  await deleteNamespace('n')
  await timers.advance(20_000)
  assert.ok(exists('n'))
  const namespaces = catalog.find('', 'v1', 'namespaces') as Resource
  const stored = engine.store.read({ resource: namespaces, namespace: '', name: 'n' })
  assert.match(
    JSON.stringify(stored?.decode(namespaces)),
    /Discovery failed for some groups, 1 failing: .*: other\.example\/v1: the server is/,
  )
  await write('True')
  await timers.advance(20_000)
  await until(() => !exists('n'))
  await controller.close()
})

test('pods are deleted before other objects', async () => {
  const { engine, catalog, timers, parts, createObject, deleteNamespace, exists, until, configMaps } = await setUp()
  const pods = catalog.find('', 'v1', 'pods') as Resource
  const deleted: string[] = []
  for (const resource of [configMaps, pods])
    engine.store.watch({
      resource,
      namespace: '',
      matches: undefined,
      deliver: ({ type, object }) => void (type === 'DELETED' && deleted.push(object.key)),
    })
  await createObject(configMaps, 'n', 'a')
  const metadata = { name: 'p', namespace: 'n', uid: 'pod', creationTimestamp: '2026-01-01T00:00:00Z' }
  await engine.store.put({ resource: pods, namespace: 'n', name: 'p' }, engine.store.encode(pods, { metadata } as ApiObject), { expect: 0 })
  const controller = namespaceDeletion(parts, times)
  await deleteNamespace('n')
  await timers.advance(1000)
  await until(() => !exists('n'))
  assert.deepEqual(deleted, ['pods/n/p', 'configmaps/n/a'])
  await controller.close()
})

test('a namespace that is restored or created again during a remote request keeps its contents', async () => {
  const { engine, catalog, configMaps, timers, parts, createObject, deleteNamespace, until } = await setUp()
  const namespaces = catalog.find('', 'v1', 'namespaces') as Resource
  const address = { resource: namespaces, namespace: '', name: 'n' }
  const before = engine.store.read(address)
  assert.ok(before)
  let respond: (() => void) | undefined
  const deleteRemote = () =>
    new Promise<RemoteRemaining>((resolve) => {
      respond = () => resolve({ objects: new Map([['gadgets.example', 1]]), failures: [], undiscovered: [] })
    })
  const controller = namespaceDeletion(parts, times, deleteRemote)
  const uids = [before.decode(namespaces).metadata?.uid, 'another']
  for (const uid of uids) {
    await deleteNamespace('n')
    await timers.advance(1000)
    await until(() => respond !== undefined)
    const terminating = engine.store.read(address)
    const object = before.decode(namespaces)
    const live = { ...object, metadata: { ...object.metadata, uid } } as ApiObject
    const put = await engine.store.put(address, engine.store.encode(namespaces, live), { expect: terminating?.revision ?? 0 })
    assert.ok(put.ok)
    await createObject(configMaps, 'n', 'kept')
    const { revision } = put.object
    respond?.()
    respond = undefined
    await timers.advance(60_000)
    assert.equal(engine.store.read(address)?.revision, revision, 'not written')
    assert.equal(engine.store.count(configMaps, 'n'), 1)
    for (const stored of engine.store.readAll({ resource: configMaps, namespace: 'n', selection: everything, limit: 0 }).objects())
      await engine.store.remove(stored)
  }
  await controller.close()
})

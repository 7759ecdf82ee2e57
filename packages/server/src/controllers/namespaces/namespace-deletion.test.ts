// A namespace is emptied and let go, by whoever leads: what one server began, the next one ends.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Catalog, type Resource } from '../api/catalog.js'
import { CatalogSource } from '../api/catalog-source.js'
import type { ApiObject } from '../api/object.js'
import { systemClock } from '../base/clock.js'
import { silentLogger } from '../base/logger.js'
import { everything } from '../objects/selection.js'
import { create } from '../verbs/create.js'
import { remove } from '../verbs/delete.js'
import type { LeftElsewhere } from './aggregation/remote-contents.js'
import { stageOf } from './engine.fixture.js'
import type { LoopParts } from './kit/loop.js'
import { FakeTimers, flushTurns } from './kit/timers.fixture.js'
import { namespaceDeletion } from './namespace-deletion.js'
import { ownCall } from './own-call.js'

const times = { graceMs: 1000, sweepMs: 30_000 }

async function setUp() {
  const { engine, catalog, catalogs } = await stageOf('cluster', systemClock)
  const find = (name: string): Resource => catalog.find('', 'v1', name) as Resource
  const namespaces = find('namespaces')
  const configMaps = find('configmaps')
  const timers = new FakeTimers()
  const parts: LoopParts = { engine, catalogs, logger: silentLogger, timers }
  const make = (resource: Resource, namespace: string, name: string, more: object = {}): Promise<unknown> =>
    create(engine, ownCall(engine, { resource, namespace, name }), { object: { metadata: { name, ...more } } })
  const doomed = async (name: string): Promise<void> => {
    await remove(engine, ownCall(engine, { resource: namespaces, name }))
  }
  const isThere = (name: string): boolean => engine.store.read({ resource: namespaces, namespace: '', name }) !== undefined
  const until = async (isDone: () => boolean): Promise<void> => {
    for (let i = 0; i < 10_000 && !isDone(); i++) await flushTurns()
    assert.ok(isDone())
  }
  await make(namespaces, '', 'n')
  await make(namespaces, '', 'other')
  return { engine, catalog, configMaps, timers, parts, make, doomed, isThere, until }
}

test('what it held is gone after a while, then the namespace; others stay', async () => {
  const { engine, configMaps, timers, parts, make, doomed, isThere, until } = await setUp()
  for (const name of ['a', 'b']) await make(configMaps, 'n', name)
  await make(configMaps, 'other', 'a')
  const loop = namespaceDeletion(parts, times)
  await doomed('n')
  await timers.advance(999)
  assert.equal(engine.store.count(configMaps, 'n'), 2, 'writers may finish first')
  await timers.advance(1)
  await until(() => !isThere('n'))
  assert.equal(engine.store.count(configMaps, 'n'), 0)
  assert.equal(engine.store.count(configMaps, 'other'), 1)
  await make(configMaps, 'n', 'late')
  await timers.advance(30_000)
  await until(() => engine.store.count(configMaps, 'n') === 0)
  await loop.close()
  assert.ok(isThere('other'))
})

test('what a server that ended left over, the next one deletes', async () => {
  const { engine, configMaps, timers, parts, make, doomed, isThere, until } = await setUp()
  for (let i = 0; i < 700; i++) await make(configMaps, 'n', `c${i}`)
  await doomed('n')
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
  assert.ok(isThere('n'))
  await timers.advance(60_000)
  assert.equal(engine.store.count(configMaps, 'n'), left, 'nobody deletes after the end')
  const second = namespaceDeletion(parts, times)
  await timers.advance(1000)
  await until(() => !isThere('n'))
  assert.equal(engine.store.count(configMaps, 'n'), 0)
  await second.close()
})

test('what came late into a namespace that is gone, the next server deletes as well', async () => {
  const { engine, configMaps, timers, parts, make, doomed, isThere, until } = await setUp()
  const first = namespaceDeletion(parts, times)
  await doomed('n')
  await timers.advance(1000)
  await until(() => !isThere('n'))
  await first.close()
  await make(configMaps, 'n', 'late')
  await make(configMaps, 'other', 'kept')
  const second = namespaceDeletion(parts, times, undefined, true)
  await flushTurns()
  await timers.advance(30_000)
  await until(() => engine.store.count(configMaps, 'n') === 0)
  await second.close()
  assert.equal(engine.store.count(configMaps, 'other'), 1)
})

test('a namespace waits for what is held in it, ever more rarely, and says so', async () => {
  const { engine, catalog, configMaps, timers, parts, make, doomed, isThere, until } = await setUp()
  await make(configMaps, 'n', 'held', { finalizers: ['example.com/hold'] })
  const loop = namespaceDeletion(parts, times)
  await doomed('n')
  await timers.advance(20_000)
  assert.ok(isThere('n'))
  const namespaces = catalog.find('', 'v1', 'namespaces') as Resource
  const stored = engine.store.read({ resource: namespaces, namespace: '', name: 'n' })
  assert.match(JSON.stringify(stored?.decode(namespaces)), /example\.com\/hold in 1 resource instances/)
  const { revision } = engine.store
  await timers.advance(60_000)
  assert.equal(engine.store.revision, revision, 'nothing new is nothing to write')
  const held = engine.store.read({ resource: configMaps, namespace: 'n', name: 'held' })
  if (held !== undefined) await engine.store.remove(held)
  await timers.advance(10_000)
  await until(() => !isThere('n'))
  await loop.close()
})

test('what the servers of others hold is not known while they do not answer: the namespace stays and says whose', async () => {
  const { engine, catalog, timers, parts, doomed, isThere, until } = await setUp()
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
  const loop = namespaceDeletion(parts, times)
  await doomed('n')
  await timers.advance(20_000)
  assert.ok(isThere('n'))
  const namespaces = catalog.find('', 'v1', 'namespaces') as Resource
  const stored = engine.store.read({ resource: namespaces, namespace: '', name: 'n' })
  assert.match(
    JSON.stringify(stored?.decode(namespaces)),
    /Discovery failed for some groups, 1 failing: .*: other\.example\/v1: the server is/,
  )
  await write('True')
  await timers.advance(20_000)
  await until(() => !isThere('n'))
  await loop.close()
})

test('pods go before what they use', async () => {
  const { engine, catalog, timers, parts, make, doomed, isThere, until, configMaps } = await setUp()
  const pods = catalog.find('', 'v1', 'pods') as Resource
  const gone: string[] = []
  for (const resource of [configMaps, pods])
    engine.store.watch({
      resource,
      namespace: '',
      matches: undefined,
      deliver: ({ type, object }) => void (type === 'DELETED' && gone.push(object.key)),
    })
  await make(configMaps, 'n', 'a')
  const metadata = { name: 'p', namespace: 'n', uid: 'pod', creationTimestamp: '2026-01-01T00:00:00Z' }
  await engine.store.put({ resource: pods, namespace: 'n', name: 'p' }, engine.store.encode(pods, { metadata } as ApiObject), { expect: 0 })
  const loop = namespaceDeletion(parts, times)
  await doomed('n')
  await timers.advance(1000)
  await until(() => !isThere('n'))
  assert.deepEqual(gone, ['pods/n/p', 'configmaps/n/a'])
  await loop.close()
})

test('where namespaces are not served there is nothing to do', async () => {
  const { parts, timers } = await setUp()
  const catalog = new Catalog({ identity: parts.engine.identity, definitions: [], isServed: () => true })
  const loop = namespaceDeletion({ ...parts, catalogs: new CatalogSource(catalog) }, times)
  await timers.advance(60_000)
  await loop.close()
})

test('a namespace that was put back to what it was, or made anew, while other servers were asked keeps what it has', async () => {
  const { engine, catalog, configMaps, timers, parts, make, doomed, until } = await setUp()
  const namespaces = catalog.find('', 'v1', 'namespaces') as Resource
  const address = { resource: namespaces, namespace: '', name: 'n' }
  const before = engine.store.read(address)
  assert.ok(before)
  let answer: (() => void) | undefined
  const elsewhere = () =>
    new Promise<LeftElsewhere>((resolve) => {
      answer = () => resolve({ objects: new Map([['gadgets.example', 1]]), failures: [], undiscovered: [] })
    })
  const loop = namespaceDeletion(parts, times, elsewhere)
  const uids = [before.decode(namespaces).metadata?.uid, 'another']
  for (const uid of uids) {
    await doomed('n')
    await timers.advance(1000)
    await until(() => answer !== undefined)
    const going = engine.store.read(address)
    const object = before.decode(namespaces)
    const live = { ...object, metadata: { ...object.metadata, uid } } as ApiObject
    const put = await engine.store.put(address, engine.store.encode(namespaces, live), { expect: going?.revision ?? 0 })
    assert.ok(put.ok)
    await make(configMaps, 'n', 'kept')
    const { revision } = put.object
    answer?.()
    answer = undefined
    await timers.advance(60_000)
    assert.equal(engine.store.read(address)?.revision, revision, 'nobody has touched it')
    assert.equal(engine.store.count(configMaps, 'n'), 1)
    for (const stored of engine.store.list({ resource: configMaps, namespace: 'n', selection: everything, limit: 0 }).objects())
      await engine.store.remove(stored)
  }
  await loop.close()
})

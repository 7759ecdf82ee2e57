// Controllers: list and watch, overflow, resync, failures, loss of leadership, changes of the Catalog.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { type Logger, silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { box, boxes, put } from '../../objects/box-store.fixture.js'
import { partsOf } from '../../objects/object-keys.js'
import { LeaderElection, type LeaseState } from '../leader-election/leader-election.js'
import { type ControllerParts, type ControllerPlan, KeyedController } from './controller.js'
import { createTestEngine } from './engine.fixture.js'
import { ControllerCounters } from './queue-metrics.js'
import { FakeTimers, flushTurns } from './timers.fixture.js'

async function setUp(logger: Logger = silentLogger) {
  const { engine, catalogs } = await createTestEngine('cluster', systemClock)
  const timers = new FakeTimers()
  const counters = new ControllerCounters()
  const parts: ControllerParts = { engine, catalogs, logger, timers, counters }
  const reconciled: string[] = []
  const plan: ControllerPlan = {
    name: 'boxes',
    sources: () => [{ resource: boxes, namespace: '', keyOf: ({ key }) => partsOf(boxes, key).name }],
    work: async (key) => {
      reconciled.push(key)
      return undefined
    },
  }
  return { store: engine.store, catalogs, parts, timers, counters, reconciled, plan }
}

test('existing, added, changed and deleted objects are reconciled until close', async () => {
  const { store, parts, plan, reconciled } = await setUp()
  await put(store, box('a'))
  const controller = new KeyedController(parts, plan)
  const revision = await put(store, box('b'))
  await flushTurns()
  assert.deepEqual(reconciled.sort(), ['a', 'b'])
  await put(store, box('b', { color: 'red' }), revision)
  await flushTurns()
  assert.equal(reconciled.length, 3)
  const stored = store.read({ resource: boxes, namespace: 'n', name: 'b' })
  if (stored !== undefined) await store.remove(stored)
  await flushTurns()
  assert.equal(reconciled.length, 4)
  await controller.close()
  await put(store, box('c'))
  await flushTurns()
  assert.equal(reconciled.length, 4)
})

test('a source can filter objects, ignore existing ones, and delay keys', async () => {
  const { store, parts, plan, timers, reconciled } = await setUp()
  await put(store, box('a', { color: 'red' }))
  await put(store, box('old', { color: 'blue' }))
  const source = { resource: boxes, namespace: '' }
  const controller = new KeyedController(parts, {
    ...plan,
    sources: () => [
      { ...source, matches: (object) => object.index(source.resource).fields?.['color'] === 'red', keyOf: () => 'red' },
      { ...source, onlyChanges: true, keyOf: ({ key }, eventType) => (eventType === 'ADDED' ? { key, afterMs: 50 } : undefined) },
    ],
  })
  await flushTurns()
  assert.deepEqual(reconciled, ['red'])
  await put(store, box('b', { color: 'blue' }))
  await flushTurns()
  assert.deepEqual(reconciled, ['red'])
  await timers.advance(50)
  assert.deepEqual(reconciled, ['red', 'boxes/n/b'])
  await controller.close()
})

test('no object is lost when more come than maxKeys, before and after the start', async () => {
  const { store, parts, plan, reconciled } = await setUp()
  for (let i = 0; i < 40; i++) await put(store, box(`old${i}`))
  const controller = new KeyedController(parts, { ...plan, maxKeys: 4 })
  await Promise.all(Array.from({ length: 40 }, (_, i) => put(store, box(`new${i}`))))
  for (let i = 0; i < 5000 && new Set(reconciled).size < 80; i++) await flushTurns()
  assert.equal(new Set(reconciled).size, 80)
  await controller.close()
})

test('a list of many pages reconciles every object once', async () => {
  const { store, parts, plan, reconciled } = await setUp()
  await Promise.all(Array.from({ length: 1000 }, (_, i) => put(store, box(`b${i}`))))
  const controller = new KeyedController(parts, plan)
  for (let i = 0; i < 5000 && reconciled.length < 1000; i++) await flushTurns()
  assert.equal(new Set(reconciled).size, 1000)
  assert.equal(reconciled.length, 1000)
  await controller.close()
})

test('resyncMs lists everything again; without it no timer runs', async () => {
  const { store, parts, plan, timers, reconciled } = await setUp()
  await put(store, box('a'))
  const idle = new KeyedController(parts, plan)
  await flushTurns()
  assert.equal(timers.size, 0)
  await idle.close()
  const controller = new KeyedController(parts, { ...plan, resyncMs: 60_000 })
  await flushTurns()
  reconciled.length = 0
  await timers.advance(59_999)
  assert.deepEqual(reconciled, [])
  await timers.advance(1)
  assert.deepEqual(reconciled, ['a'])
  await timers.advance(60_000)
  assert.deepEqual(reconciled, ['a', 'a'])
  await controller.close()
  assert.equal(timers.size, 0)
})

test('a failure is logged once per message and retried; an unreadable object does not disturb other watchers', async () => {
  const logged: string[] = []
  const log = (fields: object, message: string): void => {
    logged.push(`${message}: ${'key' in fields ? fields.key : ''}`)
  }
  const { store, parts, plan, timers, reconciled, counters } = await setUp({ ...silentLogger, warn: log, error: log })
  const others: string[] = []
  const controller = new KeyedController(parts, {
    ...plan,
    sources: () => [
      {
        resource: boxes,
        namespace: '',
        keyOf: ({ key }) => {
          if (key.endsWith('/broken')) throw new Error('cannot be read')
          return key
        },
      },
    ],
    work: async (key) => {
      const times = reconciled.push(key)
      if (times < 6) throw new Error(times < 4 ? 'not yet' : 'not now')
      return undefined
    },
  })
  store.watch({ resource: boxes, namespace: '', matches: undefined, deliver: ({ object }) => others.push(object.key) })
  await put(store, box('broken'))
  await put(store, box('a'))
  await timers.advance(30_000)
  assert.deepEqual(reconciled, Array(6).fill('boxes/n/a'))
  assert.deepEqual(others, ['boxes/n/broken', 'boxes/n/a'])
  assert.deepEqual(logged, [
    'controller ignores an object that it cannot read: boxes/n/broken',
    'controller failed; retrying: boxes/n/a',
    'controller failed; retrying: boxes/n/a',
  ])
  assert.equal(counters.forQueue('boxes').retries, 5)
  await controller.close()
})

test('a list continues after an object whose filter throws', async () => {
  const logged: string[] = []
  const { store, parts, plan, timers, reconciled } = await setUp({
    ...silentLogger,
    warn: (_, message) => void logged.push(message),
    error: (_, message) => void logged.push(message),
  })
  for (const name of ['a', 'broken', 'c']) await put(store, box(name))
  const controller = new KeyedController(parts, {
    ...plan,
    sources: (catalog) =>
      plan.sources(catalog).map((source) => ({
        ...source,
        matches: ({ key }) => {
          if (key.endsWith('/broken')) throw new Error('cannot be read')
          return true
        },
      })),
  })
  await timers.advance(20_000)
  assert.deepEqual(reconciled, ['a', 'c'])
  assert.deepEqual(logged, ['controller ignores an object that it cannot read'])
  await controller.close()
})

test('after loss of leadership running work is aborted and no key starts', async () => {
  const { store, parts, plan, reconciled } = await setUp()
  await Promise.all(['a', 'b', 'c'].map((name) => put(store, box(name))))
  let isEnded = false
  const long: ControllerPlan = {
    ...plan,
    work: async (key, { signal, budget }) => {
      reconciled.push(key)
      while (!signal.aborted) {
        await flushTurns()
        await budget.yieldIfSpent()
      }
      isEnded = true
      return 'again'
    },
  }
  let lease: LeaseState = { version: '1', holder: 'me', durationMs: 1e6 }
  const election = new LeaderElection({
    store: { read: () => lease, write: async () => lease.holder === 'me' },
    holder: 'me',
    logger: silentLogger,
    times: { renewMs: 5, giveUpMs: 5000, pollMs: 5 },
    start: () => [new KeyedController(parts, long)],
  })
  while (reconciled.length === 0) await flushTurns()
  lease = { version: '2', holder: 'another', durationMs: 1e6 }
  while (election.isLeading) await flushTurns()
  await election.close()
  assert.equal(isEnded, true)
  await put(store, box('d'))
  await flushTurns()
  assert.deepEqual(reconciled, ['a'])
})

test('added kinds are listed and watched, removed ones are not, unchanged ones are not listed again', async () => {
  const { store, catalogs, parts, plan, reconciled } = await setUp()
  const controller = new KeyedController(parts, {
    ...plan,
    sources: (catalog) => catalog.all().map((resource) => ({ resource, namespace: '', keyOf: ({ key }) => key })),
  })
  await put(store, box('before'))
  await flushTurns()
  assert.deepEqual(reconciled, [], 'the kind is not served yet')
  catalogs.change({ put: [boxes.definition] })
  await flushTurns()
  assert.deepEqual(reconciled, ['boxes/n/before'])
  await put(store, box('after'))
  await flushTurns()
  assert.deepEqual(reconciled, ['boxes/n/before', 'boxes/n/after'])
  catalogs.change({ put: [{ ...boxes.definition, resource: 'others' }] })
  await flushTurns()
  assert.equal(reconciled.length, 2)
  catalogs.change({ remove: [{ group: '', resource: 'boxes' }] })
  await put(store, box('late'))
  await flushTurns()
  assert.equal(reconciled.length, 2)
  await controller.close()
  catalogs.change({ put: [boxes.definition] })
  await flushTurns()
  assert.equal(reconciled.length, 2)
})

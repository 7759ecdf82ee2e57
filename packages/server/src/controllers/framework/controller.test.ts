// A loop sees what is there and what changes, finds again what it had no room for, and ends when its server no longer leads.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../base/clock.js'
import { type Logger, silentLogger } from '../../base/logger.js'
import { box, boxes, put } from '../../objects/fixture.js'
import { partsOf } from '../../objects/keys.js'
import { stageOf } from '../engine.fixture.js'
import { LeaderElection, type LeaseState } from '../leader-election.js'
import { LoopCounters } from './counters.js'
import { KeyedLoop, type LoopParts, type LoopPlan } from './loop.js'
import { FakeTimers, flushTurns } from './timers.fixture.js'

async function setUp(logger: Logger = silentLogger) {
  const { engine, catalogs } = await stageOf('cluster', systemClock)
  const timers = new FakeTimers()
  const counters = new LoopCounters()
  const parts: LoopParts = { engine, catalogs, logger, timers, counters }
  const seen: string[] = []
  const plan: LoopPlan = {
    name: 'boxes',
    sources: () => [{ resource: boxes, namespace: '', keyOf: ({ key }) => partsOf(boxes, key).name }],
    work: async (key) => {
      seen.push(key)
      return undefined
    },
  }
  return { store: engine.store, catalogs, parts, timers, counters, seen, plan }
}

test('what is there, what comes, what changes and what goes', async () => {
  const { store, parts, plan, seen } = await setUp()
  await put(store, box('a'))
  const loop = new KeyedLoop(parts, plan)
  const revision = await put(store, box('b'))
  await flushTurns()
  assert.deepEqual(seen.sort(), ['a', 'b'])
  await put(store, box('b', { color: 'red' }), revision)
  await flushTurns()
  assert.equal(seen.length, 3)
  const stored = store.read({ resource: boxes, namespace: 'n', name: 'b' })
  if (stored !== undefined) await store.remove(stored)
  await flushTurns()
  assert.equal(seen.length, 4)
  await loop.close()
  await put(store, box('c'))
  await flushTurns()
  assert.equal(seen.length, 4)
})

test('a source may be about some objects, about changes alone, and about later', async () => {
  const { store, parts, plan, timers, seen } = await setUp()
  await put(store, box('a', { color: 'red' }))
  await put(store, box('old', { color: 'blue' }))
  const source = { resource: boxes, namespace: '' }
  const loop = new KeyedLoop(parts, {
    ...plan,
    sources: () => [
      { ...source, matches: (object) => object.index(source.resource).fields?.['color'] === 'red', keyOf: () => 'red' },
      { ...source, onlyChanges: true, keyOf: ({ key }, how) => (how === 'ADDED' ? { key, afterMs: 50 } : undefined) },
    ],
  })
  await flushTurns()
  assert.deepEqual(seen, ['red'])
  await put(store, box('b', { color: 'blue' }))
  await flushTurns()
  assert.deepEqual(seen, ['red'])
  await timers.advance(50)
  assert.deepEqual(seen, ['red', 'boxes/n/b'])
  await loop.close()
})

test('nothing is lost when more comes than there is room for, before and after the start', async () => {
  const { store, parts, plan, seen } = await setUp()
  for (let i = 0; i < 40; i++) await put(store, box(`old${i}`))
  const loop = new KeyedLoop(parts, { ...plan, mostKeys: 4 })
  await Promise.all(Array.from({ length: 40 }, (_, i) => put(store, box(`new${i}`))))
  for (let i = 0; i < 5000 && new Set(seen).size < 80; i++) await flushTurns()
  assert.equal(new Set(seen).size, 80)
  await loop.close()
})

test('a kind of many pages is listed whole', async () => {
  const { store, parts, plan, seen } = await setUp()
  await Promise.all(Array.from({ length: 1000 }, (_, i) => put(store, box(`b${i}`))))
  const loop = new KeyedLoop(parts, plan)
  for (let i = 0; i < 5000 && seen.length < 1000; i++) await flushTurns()
  assert.equal(new Set(seen).size, 1000)
  assert.equal(seen.length, 1000)
  await loop.close()
})

test('everything is looked at again from time to time where that is wanted, and nothing waits where not', async () => {
  const { store, parts, plan, timers, seen } = await setUp()
  await put(store, box('a'))
  const idle = new KeyedLoop(parts, plan)
  await flushTurns()
  assert.equal(timers.size, 0)
  await idle.close()
  const loop = new KeyedLoop(parts, { ...plan, resyncMs: 60_000 })
  await flushTurns()
  seen.length = 0
  await timers.advance(59_999)
  assert.deepEqual(seen, [])
  await timers.advance(1)
  assert.deepEqual(seen, ['a'])
  await timers.advance(60_000)
  assert.deepEqual(seen, ['a', 'a'])
  await loop.close()
  assert.equal(timers.size, 0)
})

test('a failure is told and tried again; an object that cannot be read disturbs nobody', async () => {
  const told: string[] = []
  const note = (fields: object, message: string): void => {
    told.push(`${message}: ${'key' in fields ? fields.key : ''}`)
  }
  const { store, parts, plan, timers, seen, counters } = await setUp({ ...silentLogger, warn: note, error: note })
  const others: string[] = []
  const loop = new KeyedLoop(parts, {
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
      const times = seen.push(key)
      if (times < 6) throw new Error(times < 4 ? 'not yet' : 'not now')
      return undefined
    },
  })
  store.watch({ resource: boxes, namespace: '', matches: undefined, deliver: ({ object }) => others.push(object.key) })
  await put(store, box('broken'))
  await put(store, box('a'))
  await timers.advance(30_000)
  assert.deepEqual(seen, Array(6).fill('boxes/n/a'))
  assert.deepEqual(others, ['boxes/n/broken', 'boxes/n/a'])
  assert.deepEqual(told, [
    'loop cannot read an object: boxes/n/broken',
    // Once for each of the two reasons.
    'loop failed; retrying: boxes/n/a',
    'loop failed; retrying: boxes/n/a',
  ])
  assert.equal(counters.of('boxes').retries, 5)
  await loop.close()
})

test('a list goes on behind an object of which nobody can say whether it matters', async () => {
  const told: string[] = []
  const { store, parts, plan, timers, seen } = await setUp({
    ...silentLogger,
    warn: (_, message) => void told.push(message),
    error: (_, message) => void told.push(message),
  })
  for (const name of ['a', 'broken', 'c']) await put(store, box(name))
  const loop = new KeyedLoop(parts, {
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
  assert.deepEqual(seen, ['a', 'c'])
  assert.deepEqual(told, ['loop cannot read an object'])
  await loop.close()
})

test('a server that no longer leads lets what runs end between two steps, and begins nothing', async () => {
  const { store, parts, plan, seen } = await setUp()
  await Promise.all(['a', 'b', 'c'].map((name) => put(store, box(name))))
  let isEnded = false
  const long: LoopPlan = {
    ...plan,
    work: async (key, { signal, pieces }) => {
      seen.push(key)
      while (!signal.aborted) {
        await flushTurns()
        if (pieces.isOver) await pieces.next()
      }
      isEnded = true
      return 'again'
    },
  }
  let lease: LeaseState = { version: '1', holder: 'me', durationMs: 1e6 }
  const election = new LeaderElection({
    keeper: { read: () => lease, write: async () => lease.holder === 'me' },
    holder: 'me',
    logger: silentLogger,
    times: { renewMs: 5, giveUpMs: 5000, lookMs: 5 },
    start: () => [new KeyedLoop(parts, long)],
  })
  while (seen.length === 0) await flushTurns()
  lease = { version: '2', holder: 'another', durationMs: 1e6 }
  while (election.isLeading) await flushTurns()
  await election.close()
  assert.equal(isEnded, true)
  await put(store, box('d'))
  await flushTurns()
  assert.deepEqual(seen, ['a'])
})

test('kinds that come are listed and watched, those that go are not, and those that stay are not listed again', async () => {
  const { store, catalogs, parts, plan, seen } = await setUp()
  const loop = new KeyedLoop(parts, {
    ...plan,
    sources: (catalog) => catalog.all().map((resource) => ({ resource, namespace: '', keyOf: ({ key }) => key })),
  })
  await put(store, box('before'))
  await flushTurns()
  assert.deepEqual(seen, [], 'nobody knows the kind yet')
  catalogs.change({ put: [boxes.definition] })
  await flushTurns()
  assert.deepEqual(seen, ['boxes/n/before'])
  await put(store, box('after'))
  await flushTurns()
  assert.deepEqual(seen, ['boxes/n/before', 'boxes/n/after'])
  catalogs.change({ put: [{ ...boxes.definition, resource: 'others' }] })
  await flushTurns()
  assert.equal(seen.length, 2)
  catalogs.change({ remove: [{ group: '', resource: 'boxes' }] })
  await put(store, box('late'))
  await flushTurns()
  assert.equal(seen.length, 2)
  await loop.close()
  catalogs.change({ put: [boxes.definition] })
  await flushTurns()
  assert.equal(seen.length, 2)
})

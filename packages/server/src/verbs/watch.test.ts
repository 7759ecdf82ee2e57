// Watches: slow clients, compacted history, values that cannot be read, and a resourceVersion that is not reached in time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { WatchOptions } from '@cluster-apiserver/api/api/options/list-options.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { box, boxes, put } from '../objects/box-store.fixture.js'
import { everything } from '../objects/list/selection.js'
import { ObjectStore } from '../objects/object-store.js'
import type { EventBatch } from '../objects/watch/watch-events.js'
import { openMemoryStorage } from '../storage/memory/memory-storage.js'
import type { Engine } from './engine.js'
import { Watch } from './watch.js'

const count = 1200

test('compaction of history that a slow client has not read ends its watch', async () => {
  const storage = await openMemoryStorage({ clock: systemClock })
  const store = new ObjectStore({ storage, clock: systemClock, readCacheBytes: 1 << 20, eventTtlSeconds: 3600 })
  const after = await put(store, box('first'))
  for (let i = 0; i < count; i += 1) await put(store, box(`b${i}`))
  const options: WatchOptions = {
    selection: everything,
    start: { mode: 'exact', resourceVersion: after },
    allowBookmarks: false,
  } as WatchOptions
  const watch = new Watch({ store } as Engine, { resource: boxes, namespace: 'n' } as Call, options)
  let received = 0
  let acceptedEvents = 10
  const endings: string[] = []
  await watch.prepare()
  watch.start(
    {
      events: ({ events }) => {
        received += events.length
        return received < acceptedEvents
      },
      bookmark: () => true,
      end: (reason) => endings.push(reason),
      fail: assert.fail,
    },
    60_000,
  )
  while (received < acceptedEvents) await new Promise((resolve) => setImmediate(resolve))
  assert.ok(received < count)
  await storage.compact(storage.revision)
  acceptedEvents = Number.POSITIVE_INFINITY
  watch.resume()
  while (endings.length === 0) await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(endings, ['too-slow'])
  assert.ok(received < count, 'history is not read ahead')
  assert.equal(store.watchers, 0)
})

/** A storage whose ranges can be read once; then a value cannot be decrypted. */
async function watchUnreadableValue(): Promise<{ readonly endings: readonly string[]; readonly store: ObjectStore }> {
  const storage = await openMemoryStorage({ clock: systemClock })
  const store = new ObjectStore({ storage, clock: systemClock, readCacheBytes: 0, eventTtlSeconds: 3600 })
  for (let i = 0; i < 600; i += 1) await put(store, box(`b${i}`))
  const range = storage.range.bind(storage)
  let reads = 0
  storage.range = (query) => {
    if (++reads > 1) throw new Error('cannot decrypt')
    return range(query)
  }
  const call = { resource: boxes, namespace: 'n' } as Call
  const watch = new Watch({ store } as Engine, call, {
    selection: everything,
    start: { mode: 'any' },
    allowBookmarks: false,
  } as WatchOptions)
  const endings: string[] = []
  watch.start(
    {
      events: () => {
        setImmediate(watch.resume)
        return false
      },
      bookmark: () => true,
      end: (reason) => endings.push(reason),
      fail: (thrown) => endings.push(String(thrown)),
    },
    60_000,
  )
  for (let iteration = 0; iteration < 1000 && endings.length === 0; iteration++) await new Promise((resolve) => setImmediate(resolve))
  return { endings, store }
}

test('a value that cannot be decrypted ends the watch only', async () => {
  const { endings, store } = await watchUnreadableValue()
  assert.deepEqual(endings, ['Error: cannot decrypt'])
  assert.equal(store.watchers, 0)
})

interface WatchLog {
  readonly watch: Watch
  /** Names of the objects in each batch. */
  readonly batches: string[][]
  readonly endings: string[]
  isReading: boolean
}

function watchBoxes(store: ObjectStore, resourceVersion = store.revision): WatchLog {
  const options = {
    selection: everything,
    start: { mode: 'exact', resourceVersion },
    allowBookmarks: false,
  } as WatchOptions
  const watch = new Watch({ store } as Engine, { resource: boxes, namespace: 'n' } as Call, options)
  const log: WatchLog = { watch, batches: [], endings: [], isReading: true }
  const sink = {
    events: ({ events }: EventBatch) => {
      log.batches.push(events.map(({ object }) => object.key.split('/').at(-1) ?? ''))
      return log.isReading
    },
    bookmark: () => true,
    end: (reason: string) => log.endings.push(reason),
    fail: (thrown: unknown) => log.endings.push(String(thrown)),
  }
  watch.start(sink, 60_000)
  return log
}

const storeInMemory = async (): Promise<ObjectStore> =>
  new ObjectStore({
    storage: await openMemoryStorage({ clock: systemClock }),
    clock: systemClock,
    readCacheBytes: 0,
    eventTtlSeconds: 3600,
  })

test('a watcher that does not read is ended after 10,000 queued events', async () => {
  const store = await storeInMemory()
  const slow = watchBoxes(store)
  slow.isReading = false
  const revisions = new Map<string, number>()
  for (let round = 0; round < 110 && slow.endings.length === 0; round++) {
    await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        revisions.set(`b${i}`, await put(store, box(`b${i}`, { color: String(round) }), revisions.get(`b${i}`) ?? 0))
      }),
    )
  }
  assert.deepEqual(slow.endings, ['too-slow'])
  assert.equal(store.backlog.bytes, 0)
  assert.equal(store.watchers, 0)
})

test('a watch whose resourceVersion is not reached before its timeout ends without events', async () => {
  const store = await storeInMemory()
  await put(store, box('first'))
  const early = watchBoxes(store, store.revision + 50)
  await put(store, box('late'))
  assert.deepEqual(early.batches, [])
  assert.deepEqual(early.endings, ['done'])
  assert.equal(store.watchers, 0)
})

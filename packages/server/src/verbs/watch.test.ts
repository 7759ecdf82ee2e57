// A watch whose client is slower than history is kept: it is let go in good order, and nothing else suffers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Call } from '../api/call.js'
import type { WatchOptions } from '../api/options/list-options.js'
import { systemClock } from '../base/clock.js'
import { box, boxes, put } from '../objects/fixture.js'
import { ObjectStore } from '../objects/object-store.js'
import { everything } from '../objects/selection.js'
import type { EventBatch } from '../objects/watch-events.js'
import { openMemoryStorage } from '../storage/memory.js'
import type { Engine } from './engine.js'
import { Watch } from './watch.js'

const count = 1200

test('history that is forgotten before a slow client has read it ends the watch', async () => {
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
  let taken = 0
  let mayTake = 10
  const endings: string[] = []
  await watch.prepare()
  watch.start(
    {
      events: ({ events }) => {
        taken += events.length
        return taken < mayTake
      },
      bookmark: () => true,
      end: (reason) => endings.push(reason),
      fail: assert.fail,
    },
    60_000,
  )
  while (taken < mayTake) await new Promise((resolve) => setImmediate(resolve))
  assert.ok(taken < count)
  await storage.compact(storage.revision)
  mayTake = Number.POSITIVE_INFINITY
  watch.resume()
  while (endings.length === 0) await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(endings, ['too-slow'])
  assert.ok(taken < count, 'it had not been read ahead')
  assert.equal(store.watchers, 0)
})

/** A storage whose ranges can be read once; then a value cannot be decrypted. */
async function watchWhatCannotBeRead(pauses: boolean): Promise<{ readonly seen: readonly string[]; readonly store: ObjectStore }> {
  const storage = await openMemoryStorage({ clock: systemClock })
  const store = new ObjectStore({ storage, clock: systemClock, readCacheBytes: 0, eventTtlSeconds: 3600 })
  for (let i = 0; i < 600; i += 1) await put(store, box(`b${i}`))
  const range = storage.range.bind(storage)
  let reads = 0
  storage.range = (query) => {
    if (++reads > 1) throw new Error('cannot decrypt')
    // Longer than a piece of work: the rest is read in another turn.
    if (pauses) for (const until = performance.now() + 30; performance.now() < until; );
    return range(query)
  }
  const call = { resource: boxes, namespace: 'n' } as Call
  const watch = new Watch({ store } as Engine, call, {
    selection: everything,
    start: { mode: 'any' },
    allowBookmarks: false,
  } as WatchOptions)
  const seen: string[] = []
  watch.start(
    {
      events: () => {
        if (!pauses) setImmediate(watch.resume)
        return pauses
      },
      bookmark: () => true,
      end: (reason) => seen.push(reason),
      fail: (thrown) => seen.push(String(thrown)),
    },
    60_000,
  )
  for (let turn = 0; turn < 1000 && seen.length === 0; turn++) await new Promise((resolve) => setImmediate(resolve))
  return { seen, store }
}

for (const pauses of [true, false]) {
  test(`what cannot be read ends the watch, and nothing else: ${pauses ? 'after a pause' : 'when the client has read'}`, async () => {
    const { seen, store } = await watchWhatCannotBeRead(pauses)
    assert.deepEqual(seen, ['Error: cannot decrypt'])
    assert.equal(store.watchers, 0)
  })
}

interface Seen {
  readonly watch: Watch
  /** Every batch that came, by the names in it. */
  readonly batches: string[][]
  readonly endings: string[]
  mayTake: boolean
}

function watchBoxes(store: ObjectStore, resourceVersion = store.revision): Seen {
  const options = {
    selection: everything,
    start: { mode: 'exact', resourceVersion },
    allowBookmarks: false,
  } as WatchOptions
  const watch = new Watch({ store } as Engine, { resource: boxes, namespace: 'n' } as Call, options)
  const seen: Seen = { watch, batches: [], endings: [], mayTake: true }
  const sink = {
    events: ({ events }: EventBatch) => {
      seen.batches.push(events.map(({ object }) => object.key.split('/').at(-1) ?? ''))
      return seen.mayTake
    },
    bookmark: () => true,
    end: (reason: string) => seen.endings.push(reason),
    fail: (thrown: unknown) => seen.endings.push(String(thrown)),
  }
  watch.start(sink, 60_000)
  return seen
}

const storeInMemory = async (): Promise<ObjectStore> =>
  new ObjectStore({
    storage: await openMemoryStorage({ clock: systemClock }),
    clock: systemClock,
    readCacheBytes: 0,
    eventTtlSeconds: 3600,
  })

test('what is committed together comes at once, also to a watcher that was busy', async () => {
  const store = await storeInMemory()
  const [quick, slow] = [watchBoxes(store), watchBoxes(store)]
  slow.mayTake = false
  for (const round of ['a', 'b']) await Promise.all(Array.from({ length: 5 }, (_, i) => put(store, box(`${round}${i}`))))
  const expected = ['a', 'b'].map((round) => Array.from({ length: 5 }, (_, i) => `${round}${i}`))
  assert.deepEqual(quick.batches, expected)
  assert.deepEqual(slow.batches, expected.slice(0, 1))
  assert.ok(store.backlog.bytes > 0)
  slow.mayTake = true
  slow.watch.resume()
  assert.deepEqual(slow.batches, expected)
  assert.equal(store.backlog.bytes, 0)
  quick.watch.close()
  slow.watch.close()
})

test('a watcher that does not read is let go after ten thousand events, however they came', async () => {
  const store = await storeInMemory()
  const slow = watchBoxes(store)
  slow.mayTake = false
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

test('a version that has not come when the time is up ends the watch, and nothing older is sent', async () => {
  const store = await storeInMemory()
  await put(store, box('first'))
  const early = watchBoxes(store, store.revision + 50)
  await put(store, box('late'))
  assert.deepEqual(early.batches, [])
  assert.deepEqual(early.endings, ['done'])
  assert.equal(store.watchers, 0)
})

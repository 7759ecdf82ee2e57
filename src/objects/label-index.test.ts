// The index of labels within its bound: which one is given up, and that it comes back when there is room again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../base/clock.js'
import { openMemoryStorage } from '../storage/memory.js'
import type { Storage } from '../storage/storage.js'
import { box, put } from './fixture.js'
import { LabelIndex } from './label-index.js'
import { ObjectStore } from './object-store.js'

const bytesPerPair = 120

interface Stage {
  readonly storage: Storage
  readonly index: LabelIndex
  /** Builds what can be built, and tells whether there is an index to ask. */
  readonly isThere: (collection: string) => boolean
  /** Objects with one label each. */
  readonly add: (collection: string, from: number, to: number) => Promise<void>
  readonly remove: (collection: string, from: number, to: number) => Promise<void>
  readonly close: () => Promise<void>
}

async function stage(mostPairs: number): Promise<Stage> {
  const storage = await openMemoryStorage({ clock: systemClock })
  const index = new LabelIndex(storage, mostPairs * bytesPerPair)
  storage.follow((changes) => changes.forEach((change) => void index.update(change)))
  const store = new ObjectStore({ storage, clock: systemClock, readCacheBytes: 0, eventTtlSeconds: 3600 })
  await put(store, box('pattern', { labels: { app: 'x' } }))
  const value = storage.read('boxes/n/pattern')?.value
  const change = async (collection: string, from: number, to: number, written: Buffer | undefined): Promise<void> => {
    for (let i = from; i < to; i++) await storage.commit([{ key: `${collection}/n/${i}`, value: written, expect: undefined }])
  }
  return {
    storage,
    index,
    isThere: (collection) => {
      for (const _ of index.building(collection));
      return index.keys(collection, { key: 'app', values: ['x'] }) !== undefined
    },
    add: (collection, from, to) => change(collection, from, to, value),
    remove: (collection, from, to) => change(collection, from, to, undefined),
    close: async () => {
      store.close()
      await storage.close()
    },
  }
}

test('what was too large is built again when it has become small, and later each time when it has not', async () => {
  const { index, isThere, add, remove, close } = await stage(100)
  await add('crates', 0, 150)
  assert.equal(isThere('crates'), false)
  assert.equal(index.bytes, 0)
  const pauses: number[] = []
  for (let periods = 0; pauses.length < 3; ) {
    index.release()
    periods += 1
    if (index.isBuilt('crates')) continue
    pauses.push(periods)
    periods = 0
    assert.equal(isThere('crates'), false)
  }
  assert.deepEqual(pauses, [2, 4, 8])
  await remove('crates', 20, 150)
  assert.equal(isThere('crates'), false, 'it is given up for a while')
  for (let i = 0; i < 16; i++) index.release()
  assert.equal(isThere('crates'), true)
  assert.equal(index.keys('crates', { key: 'app', values: ['x'] })?.size, 20)
  await close()
})

test('the one that has the most gives way to one that grows, and the one that is built to those that are there', async () => {
  const { index, isThere, add, close } = await stage(100)
  await add('large', 0, 90)
  await add('small', 0, 5)
  assert.deepEqual([isThere('large'), isThere('small')], [true, true])
  await add('other', 0, 10)
  assert.deepEqual([isThere('other'), isThere('large'), isThere('small')], [false, true, true])
  await add('small', 5, 20)
  assert.deepEqual([isThere('large'), isThere('small')], [false, true])
  assert.equal(index.bytes, 20 * bytesPerPair)
  await close()
})

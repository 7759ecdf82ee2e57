// What the cache of lists keeps, and what it leaves behind.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../base/clock.js'
import type { ItemForm } from '../codec/item-form.js'
import { openMemoryStorage } from '../storage/memory.js'
import type { KeyRange, ScannedEntry, Storage } from '../storage/storage.js'
import { box, put, storedJson } from './fixture.js'
import { ListCache } from './list-cache.js'
import { ObjectStore } from './object-store.js'

test('kinds that come and go, each listed once', () => {
  const cache = new ListCache({ scan: () => undefined, count: () => 0 } as unknown as Storage, 1 << 20)
  for (let i = 0; i < 20_000; i++) assert.deepEqual([...cache.slices({ start: `kinds${i}/`, end: `kinds${i}0` }, 10, storedJson)], [])
  assert.ok(cache.bytes > 0 && cache.bytes <= 1 << 20)
  assert.ok(cache['collections'].size <= cache.bytes / 256, `${cache['collections'].size} collections`)
  for (let i = 0; i < 3; i++) cache.release()
  assert.deepEqual([cache.bytes, cache['collections'].size], [0, 0])
})

const mostBytes = 200_000
const nameOf = (i: number): string => `b${String(i).padStart(4, '0')}`
const rangeOf = (namespace: string): KeyRange => ({ start: `boxes/${namespace}/`, end: `boxes/${namespace}0` })
const [small, large] = [rangeOf('small'), rangeOf('large')]
const withinLarge = { start: `boxes/large/${nameOf(100)}`, end: large.end }

/** 20 objects in one namespace, and 600 in another, four times as much as there is room for. */
async function openBoxes({ first = 3000 } = {}): Promise<Storage> {
  const storage = await openMemoryStorage({ clock: systemClock })
  const store = new ObjectStore({ storage, clock: systemClock, readCacheBytes: 1 << 20, eventTtlSeconds: 3600 })
  for (let i = 0; i < 20; i++) await put(store, box(nameOf(i), { namespace: 'small', color: 'x'.repeat(900) }))
  const lengthOf = (i: number): number => (i === 0 ? first : i % 7 === 0 ? 3000 : 700)
  for (let i = 0; i < 600; i++) await put(store, box(nameOf(i), { namespace: 'large', color: 'x'.repeat(lengthOf(i)) }))
  return storage
}

/** A storage that notes how many entries were looked at. */
function counted(storage: Storage): { readonly storage: Storage; take(): number } {
  let looked = 0
  const scan = (range: KeyRange, look: (scanned: ScannedEntry) => boolean): void =>
    storage.scan(range, (scanned) => {
      looked += 1
      return look(scanned)
    })
  const take = (): number => {
    const taken = looked
    looked = 0
    return taken
  }
  return { storage: { scan, count: (range: KeyRange) => storage.count(range) } as unknown as Storage, take }
}

function readOf(cache: ListCache, range: KeyRange, limit = Number.POSITIVE_INFINITY, form: ItemForm = storedJson) {
  const read = { text: '', count: 0, large: [] as string[], lastKey: '' }
  for (const slice of cache.slices(range, limit, form)) {
    if (typeof slice === 'string') read.large.push(slice)
    else {
      read.text += Buffer.from(slice.bytes).toString()
      read.count += slice.count
    }
    read.lastKey = typeof slice === 'string' ? slice : slice.lastKey
  }
  return read
}

test('a list for which there is no room pushes nothing out, whole, from within, and as one page', async () => {
  const { storage, take } = counted(await openBoxes())
  const cache = new ListCache(storage, mostBytes)
  readOf(cache, small)
  for (const [range, limit, count] of [
    [large, Number.POSITIVE_INFINITY, 600],
    [withinLarge, Number.POSITIVE_INFINITY, 500],
    [large, 300, 300],
  ] as const) {
    assert.equal(readOf(cache, range, limit).count, count)
  }
  assert.equal(cache['recent'].size, 3, 'its first segment from either beginning is kept, by which it was known to be large')
  take()
  assert.equal(readOf(cache, small).count, 20)
  assert.equal(take(), 0, 'what was there is still there')
})

test('a list that begins with a large object is kept if there is room for it', async () => {
  const { storage, take } = counted(await openBoxes({ first: 600_000 }))
  const cache = new ListCache(storage, 16 << 20)
  for (const limit of [Number.POSITIVE_INFINITY, 600]) {
    readOf(cache, large, limit)
    take()
    assert.equal(readOf(cache, large, limit).count, 600)
    assert.equal(take(), 0, 'the second reader finds all of it')
  }
})

test('of a list whose length is not known no more is kept than its share, and the next reader finds that', async () => {
  const { storage, take } = counted(await openBoxes())
  const cache = new ListCache(storage, mostBytes)
  const uncounted = { start: large.start, end: 'boxes/large/c' }
  assert.equal(readOf(cache, uncounted).count, 600)
  assert.ok(cache.bytes > mostBytes / 2 && cache.bytes < mostBytes, `${cache.bytes} bytes are kept`)
  const first = take()
  assert.equal(readOf(cache, uncounted).count, 600)
  assert.ok(take() <= first - 30, 'of the second time nothing was there')
})

test('what is made for one reader is the same as what is kept, with limits and items that worker threads make', async () => {
  const storage = await openBoxes()
  const isLarge = (_form: unknown, { key }: ScannedEntry): boolean => /[05]9$/.test(key)
  const stale = { ...storedJson, isStored: false }
  for (const form of [storedJson, stale]) {
    const kept = new ListCache(storage, 64 << 20, { isLarge })
    const passing = new ListCache(storage, 1, { isLarge })
    for (const range of [small, large, withinLarge]) {
      for (const limit of [1, 31, 32, 33, 64, 100, 599, Number.POSITIVE_INFINITY]) {
        const [wanted, got] = [kept, passing].map((cache) => readOf(cache, range, limit, form))
        assert.deepEqual(got, wanted)
      }
    }
    assert.equal(passing.bytes, 0)
  }
})

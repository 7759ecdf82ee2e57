// The list cache: collections that disappear, and lists larger than the cache.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import type { ItemEncoding } from '@cluster-apiserver/api/codec/item-encoding.js'
import { openMemoryStorage } from '../../storage/memory/memory-storage.js'
import type { KeyRange, ScannedEntry, Storage } from '../../storage/storage.js'
import { box, put, storedJson } from '../box-store.fixture.js'
import { ObjectStore } from '../object-store.js'
import { ListCache } from './list-cache.js'

test('removed collections leave no memory behind', () => {
  const cache = new ListCache({ scan: () => undefined, count: () => 0 } as unknown as Storage, 1 << 20)
  for (let i = 0; i < 20_000; i++) assert.deepEqual([...cache.chunks({ start: `kinds${i}/`, end: `kinds${i}0` }, 10, storedJson)], [])
  assert.ok(cache.bytes > 0 && cache.bytes <= 1 << 20)
  assert.ok(cache['collections'].size <= cache.bytes / 256, `${cache['collections'].size} collections`)
  for (let i = 0; i < 3; i++) cache.endPeriod()
  assert.deepEqual([cache.bytes, cache['collections'].size], [0, 0])
})

const nameOf = (i: number): string => `b${String(i).padStart(4, '0')}`
const rangeOf = (namespace: string): KeyRange => ({ start: `boxes/${namespace}/`, end: `boxes/${namespace}0` })
const [small, large] = [rangeOf('small'), rangeOf('large')]
const withinLarge = { start: `boxes/large/${nameOf(100)}`, end: large.end }

/** 20 objects in one namespace and 600 in another: four times the size of the cache. */
async function openBoxes({ first = 3000 } = {}): Promise<Storage> {
  const storage = await openMemoryStorage({ clock: systemClock })
  const store = new ObjectStore({ storage, clock: systemClock, readCacheBytes: 1 << 20, eventTtlSeconds: 3600 })
  for (let i = 0; i < 20; i++) await put(store, box(nameOf(i), { namespace: 'small', color: 'x'.repeat(900) }))
  const lengthOf = (i: number): number => (i === 0 ? first : i % 7 === 0 ? 3000 : 700)
  for (let i = 0; i < 600; i++) await put(store, box(nameOf(i), { namespace: 'large', color: 'x'.repeat(lengthOf(i)) }))
  return storage
}

function readChunks(cache: ListCache, range: KeyRange, limit = Number.POSITIVE_INFINITY, encoding: ItemEncoding = storedJson) {
  const read = { text: '', count: 0, large: [] as string[], lastKey: '' }
  for (const slice of cache.chunks(range, limit, encoding)) {
    if (typeof slice === 'string') read.large.push(slice)
    else {
      read.text += Buffer.from(slice.bytes).toString()
      read.count += slice.count
    }
    read.lastKey = typeof slice === 'string' ? slice : slice.lastKey
  }
  return read
}

test('uncached chunks equal cached ones, with limits and large items', async () => {
  const storage = await openBoxes()
  const isLarge = (_encoding: unknown, { key }: ScannedEntry): boolean => /[05]9$/.test(key)
  const decodedJson = { ...storedJson, isStored: false }
  for (const encoding of [storedJson, decodedJson]) {
    const cached = new ListCache(storage, 64 << 20, { isLarge })
    const uncached = new ListCache(storage, 1, { isLarge })
    for (const range of [small, large, withinLarge]) {
      for (const limit of [1, 31, 32, 33, 64, 100, 599, Number.POSITIVE_INFINITY]) {
        const [expected, actual] = [cached, uncached].map((cache) => readChunks(cache, range, limit, encoding))
        assert.deepEqual(actual, expected)
      }
    }
    assert.equal(uncached.bytes, 0)
  }
})

// Items of large objects: lists and watches wait for the worker thread, and are the same as without one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { compileLabelSelector } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { ItemEncoding } from '@cluster-apiserver/api/codec/item-encoding.js'
import { type ObjectEncoding, objectEncodingOf } from '@cluster-apiserver/api/codec/object-encoding.js'
import { type Box, box, boxes, bytesOfItems, put, storedJson, storeOfBoxes } from '../box-store.fixture.js'
import type { StoredObject } from '../entry/stored-object.js'
import type { ObjectStore } from '../object-store.js'
import { encodeChunk } from './list-source.js'
import { everything, type Selection } from './selection.js'

const protobuf: ObjectEncoding = objectEncodingOf(boxes, { format: 'protobuf', pretty: false }, identityOf('cluster'))

const largeBox = (name: string): Box => ({
  ...box(name, { labels: { app: 'a' } }),
  data: Object.fromEntries(Array.from({ length: 12_000 }, (_, i) => [`key-${i}`, 'v'])),
})

interface ListOptions {
  readonly encoding?: ObjectEncoding
  readonly selection?: Selection
  readonly limit?: number
  readonly at?: number
  readonly namespace?: string
}

async function listed(
  store: ObjectStore,
  { encoding = protobuf, selection = everything, limit = 0, ...rest }: ListOptions = {},
): Promise<Buffer> {
  return bytesOfItems(await store.listPage({ resource: boxes, namespace: '', selection, limit, encoding, ...rest }))
}

/** Two stores with the same objects; one encodes large items in a worker thread. */
async function twoStores(readCacheBytes?: number) {
  const local = await storeOfBoxes(readCacheBytes)
  const offloaded = await storeOfBoxes(readCacheBytes)
  for (const store of [local, offloaded]) {
    for (const name of ['a', 'c', 'e']) await put(store, box(name, { labels: { app: 'a' } }))
    for (const name of ['b', 'd']) await put(store, largeBox(name))
  }
  const encodedKeys: string[] = []
  offloaded.largeItems.encoder = {
    canEncodeItem: () => true,
    encodeItem: async (encoding, object) => {
      encodedKeys.push(object.key)
      await setTimeout(10)
      return object.encodeItem(encoding)
    },
  }
  return { local, offloaded, encodedKeys }
}

const byLabel: Selection = { labels: compileLabelSelector('app=a'), fields: undefined }

test('lists wait for large items and encode each once', async () => {
  const { local, offloaded, encodedKeys } = await twoStores(256 << 20)
  const queries: Record<string, ListOptions> = {
    all: {},
    selected: { selection: byLabel },
    'a page': { limit: 3 },
    'a selected page': { selection: byLabel, limit: 4 },
  }
  for (const [name, query] of Object.entries(queries)) assert.deepEqual(await listed(offloaded, query), await listed(local, query), name)
  assert.equal(encodedKeys.length, 2, String(encodedKeys))
  assert.deepEqual(await listed(offloaded, { encoding: storedJson }), await listed(local, { encoding: storedJson }))
  assert.equal(encodedKeys.length, 2, 'stored JSON is copied')
})

test('lists at older revisions and without a cache have large items too', async () => {
  const { local, offloaded, encodedKeys } = await twoStores(0)
  const at = offloaded.revision
  for (const store of [local, offloaded]) await put(store, box('f'))
  assert.deepEqual(await listed(offloaded, { at }), await listed(local, { at }))
  assert.deepEqual(await listed(offloaded), await listed(local))
  assert.equal(encodedKeys.length, 4)
})

test('a list fails if an item cannot be encoded', async () => {
  const { offloaded } = await twoStores()
  offloaded.largeItems.encoder = { canEncodeItem: () => true, encodeItem: () => Promise.reject(new Error('no memory')) }
  await assert.rejects(listed(offloaded), /no memory/)
})

test('a list of a namespace starts there after inserts before it', async () => {
  const store = await storeOfBoxes()
  await put(store, box('first', { namespace: 'a' }))
  for (let i = 0; i < 60; i++) await put(store, box(`b${i}`, { namespace: 'b' }))
  await listed(store)
  for (let i = 0; i < 70; i++) await put(store, box(`a${i}`, { namespace: 'a' }))
  const uncached = await storeOfBoxes(0)
  await put(uncached, box('first', { namespace: 'a' }))
  for (let i = 0; i < 60; i++) await put(uncached, box(`b${i}`, { namespace: 'b' }))
  assert.deepEqual(await listed(store, { namespace: 'b' }), await listed(uncached, { namespace: 'b' }))
})

test('a cached item is sent even if it is evicted while others are converted', async () => {
  let isEvicted = false
  const cached = {
    key: 'a',
    cachedItem: () => (isEvicted ? undefined : Buffer.from('{"kept":true}')),
    item: () => assert.fail('a was not converted'),
  }
  const encodedItems: string[] = []
  const large = { key: 'b', cachedItem: () => undefined, item: () => Buffer.from(encodedItems.join()) }
  const prepare = async (): Promise<void> => {
    await Promise.resolve()
    isEvicted = true
    encodedItems.push('{"made":true}')
  }
  const encoding = { separator: Buffer.from(','), resource: { conversion: {} } } as unknown as ItemEncoding
  const context = { largeItems: { prepare }, budget: turnBudget } as unknown as Parameters<typeof encodeChunk>[0]
  const { bytes, count, lastKey } = await encodeChunk(context, [cached, large] as unknown as readonly StoredObject[], encoding)
  assert.deepEqual([String(bytes), count, lastKey], [',{"kept":true},{"made":true}', 2, 'b'])
})

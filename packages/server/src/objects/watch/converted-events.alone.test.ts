// Events of a kind with a conversion webhook, in several representations, some encoded in a worker thread.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { Conversion } from '@cluster-apiserver/api/api/definition/conversion-webhook.js'
import type { ItemEncoding } from '@cluster-apiserver/api/codec/item-encoding.js'
import { box, boxes } from '../box-store.fixture.js'
import { encodeStored, StoredObject } from '../entry/stored-object.js'
import { LargeItems } from '../list/large-items.js'
import { EventBatch, WatchEvent } from './watch-events.js'

const data = Object.fromEntries(Array.from({ length: 12_000 }, (_, i) => [`key-${i}`, 'v']))

function setUp(convert: Conversion['convert']) {
  const resource = { ...boxes, conversion: { ...boxes.conversion, version: 'v2', convert } } as unknown as Resource
  const [small, large] = [box('small'), { ...box('large'), data }].map(
    (object, i) => new StoredObject({ key: `boxes/n/${i}`, revision: i + 1, value: encodeStored(boxes, object) }),
  ) as [StoredObject, StoredObject]
  const encodings = ['a', 'b'].map((name) => ({ resource, name, separator: new Uint8Array() }) as unknown as ItemEncoding) as [
    ItemEncoding,
    ItemEncoding,
  ]
  const largeItems = new LargeItems()
  const batch = new EventBatch([small, large].map((object) => new WatchEvent('ADDED', object)))
  return { resource, small, large, encodings, largeItems, batch }
}

test('a representation that is not encoded in a worker thread gets large objects converted, each once', async () => {
  const converted: number[] = []
  const { resource, small, large, encodings, largeItems, batch } = setUp(async (objects) => {
    converted.push(objects.length)
    return objects
  })
  const [offloaded, local] = encodings
  largeItems.encoder = { canEncodeItem: (encoding) => encoding === offloaded, encodeItem: async () => Buffer.from('encoded') }
  const isReady = (object: StoredObject): boolean => object.isAvailableIn(resource, 'v2')
  const first = batch.prepare(offloaded, largeItems)
  const second = batch.prepare(local, largeItems)
  assert.notEqual(first, second)
  await first
  assert.deepEqual([isReady(small), large.item(offloaded).toString()], [true, 'encoded'])
  await second
  assert.deepEqual([isReady(small), isReady(large)], [true, true])
  await batch.prepare(local, largeItems)
  await batch.prepare(offloaded, largeItems)
  assert.deepEqual(converted, [1, 1])
})

test('a failed conversion rejects its waiters only', async () => {
  const { encodings, largeItems, batch } = setUp(() => Promise.reject(new Error('no converter')))
  const [offloaded, local] = encodings
  largeItems.encoder = { canEncodeItem: (encoding) => encoding === offloaded, encodeItem: () => Promise.reject(new Error('no encoder')) }
  const unhandled: unknown[] = []
  const record = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', record)
  try {
    const results = await Promise.allSettled([
      batch.prepare(offloaded, largeItems),
      batch.prepare(local, largeItems),
      batch.prepare(local, largeItems),
    ])
    assert.deepEqual(
      results.map(({ status }) => status),
      ['rejected', 'rejected', 'rejected'],
    )
    // Throws synchronously: the object cannot be read.
    const unreadable = new StoredObject({ key: 'boxes/n/x', revision: 9, value: Buffer.from('x') })
    unreadable.isAvailableIn = () => {
      throw new Error('unreadable')
    }
    assert.throws(() => new EventBatch([...batch.events, new WatchEvent('ADDED', unreadable)]).prepare(offloaded, largeItems), /unreadable/)
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(unhandled, [])
  } finally {
    process.off('unhandledRejection', record)
  }
})

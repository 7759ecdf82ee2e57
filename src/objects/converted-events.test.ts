// Events of a kind with a conversion webhook, in several representations; a worker thread makes some of them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../api/catalog.js'
import type { Conversion } from '../api/conversion.js'
import type { ItemForm } from '../codec/item-form.js'
import { box, boxes } from './fixture.js'
import { LargeItems } from './large-items.js'
import { encodeStored, StoredObject } from './stored-object.js'
import { EventBatch, WatchEvent } from './watch-events.js'

const data = Object.fromEntries(Array.from({ length: 12_000 }, (_, i) => [`key-${i}`, 'v']))

function stage(convert: Conversion['convert']) {
  const resource = { ...boxes, conversion: { ...boxes.conversion, version: 'v2', convert } } as unknown as Resource
  const [small, large] = [box('light'), { ...box('large'), data }].map(
    (object, i) => new StoredObject({ key: `boxes/n/${i}`, revision: i + 1, value: encodeStored(boxes, object) }),
  ) as [StoredObject, StoredObject]
  const forms = ['a', 'b'].map((name) => ({ resource, name, separator: new Uint8Array() }) as unknown as ItemForm) as [ItemForm, ItemForm]
  const items = new LargeItems()
  const batch = new EventBatch([small, large].map((object) => new WatchEvent('ADDED', object)))
  return { resource, small, large, forms, items, batch }
}

test('who wants a form that is not made in a worker thread gets the large ones converted, too, and nobody twice', async () => {
  const converted: number[] = []
  const { resource, small, large, forms, items, batch } = stage(async (objects) => {
    converted.push(objects.length)
    return objects
  })
  const [elsewhere, here] = forms
  items.maker = { knows: (form) => form === elsewhere, make: async () => Buffer.from('made') }
  const isReady = (object: StoredObject): boolean => object.isReadyAs(resource, 'v2')
  const first = batch.ready(elsewhere, items)
  const second = batch.ready(here, items)
  assert.notEqual(first, second)
  await first
  assert.deepEqual([isReady(small), large.item(elsewhere).toString()], [true, 'made'])
  await second
  assert.deepEqual([isReady(small), isReady(large)], [true, true])
  await batch.ready(here, items)
  await batch.ready(elsewhere, items)
  assert.deepEqual(converted, [1, 1])
})

test('a failure is heard by those who wait, and by nobody else', async () => {
  const { forms, items, batch } = stage(() => Promise.reject(new Error('no converter')))
  const [elsewhere, here] = forms
  items.maker = { knows: (form) => form === elsewhere, make: () => Promise.reject(new Error('no maker')) }
  const unheard: unknown[] = []
  const note = (reason: unknown): void => void unheard.push(reason)
  process.on('unhandledRejection', note)
  try {
    const all = await Promise.allSettled([batch.ready(elsewhere, items), batch.ready(here, items), batch.ready(here, items)])
    assert.deepEqual(
      all.map(({ status }) => status),
      ['rejected', 'rejected', 'rejected'],
    )
    // Nobody waits for this one: what was to be converted could not even be read.
    const unreadable = new StoredObject({ key: 'boxes/n/x', revision: 9, value: Buffer.from('x') })
    unreadable.isReadyAs = () => {
      throw new Error('unreadable')
    }
    assert.throws(() => new EventBatch([...batch.events, new WatchEvent('ADDED', unreadable)]).ready(elsewhere, items), /unreadable/)
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(unheard, [])
  } finally {
    process.off('unhandledRejection', note)
  }
})

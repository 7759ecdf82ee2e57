// Items of large objects: lists and watches wait for the worker thread that makes them, and are the same as if the event loop had made them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { identityOf } from '../api/identity.js'
import { compileLabelSelector } from '../api/label-selector.js'
import { Pieces } from '../base/pieces.js'
import { type WireForm, wireFormOf } from '../codec/wire-form.js'
import { type Box, box, boxes, put, storedJson, storeOfBoxes } from './fixture.js'
import type { ObjectStore } from './object-store.js'
import { everything, type Selection } from './selection.js'
import { EventBatch, WatchEvent } from './watch-events.js'

const protobuf: WireForm = wireFormOf(boxes, { format: 'protobuf', pretty: false }, identityOf('cluster'))

const largeBox = (name: string): Box => ({
  ...box(name, { labels: { app: 'a' } }),
  data: Object.fromEntries(Array.from({ length: 12_000 }, (_, i) => [`key-${i}`, 'v'])),
})

interface Asked {
  readonly form?: WireForm
  readonly selection?: Selection
  readonly limit?: number
  readonly at?: number
  readonly namespace?: string
}

async function listed(store: ObjectStore, { form = protobuf, selection = everything, limit = 0, ...rest }: Asked = {}): Promise<Buffer> {
  const query = { resource: boxes, namespace: '', selection, limit, form, pieces: new Pieces(), ...rest }
  const page = await store.listInPieces(query)
  const slices: Uint8Array[] = []
  for (let next = await page.items.next(); next !== undefined; next = await page.items.next()) slices.push(next)
  return Buffer.concat(slices)
}

/** Two stores with the same objects; one makes large items in a worker thread. */
async function twoStores(readCacheBytes?: number) {
  const here = await storeOfBoxes(readCacheBytes)
  const elsewhere = await storeOfBoxes(readCacheBytes)
  for (const store of [here, elsewhere]) {
    for (const name of ['a', 'c', 'e']) await put(store, box(name, { labels: { app: 'a' } }))
    for (const name of ['b', 'd']) await put(store, largeBox(name))
  }
  const asked: string[] = []
  elsewhere.large.maker = {
    knows: () => true,
    make: async (form, object) => {
      asked.push(object.key)
      await setTimeout(10)
      return object.makeItem(form)
    },
  }
  return { here, elsewhere, asked }
}

const byLabel: Selection = { labels: compileLabelSelector('app=a'), fields: undefined }

test('lists wait for large items, are the same as without, and have each made once', async () => {
  const { here, elsewhere, asked } = await twoStores(256 << 20)
  const forms: Record<string, Asked> = {
    all: {},
    selected: { selection: byLabel },
    'a page': { limit: 3 },
    'a selected page': { selection: byLabel, limit: 4 },
  }
  for (const [name, wanted] of Object.entries(forms)) assert.deepEqual(await listed(elsewhere, wanted), await listed(here, wanted), name)
  assert.equal(asked.length, 2, String(asked))
  assert.deepEqual(await listed(elsewhere, { form: storedJson }), await listed(here, { form: storedJson }))
  assert.equal(asked.length, 2, 'what is stored is copied')
})

test('the past has large items, too, and so have lists that nothing is kept of', async () => {
  const { here, elsewhere, asked } = await twoStores(0)
  const at = elsewhere.revision
  for (const store of [here, elsewhere]) await put(store, box('f'))
  assert.deepEqual(await listed(elsewhere, { at }), await listed(here, { at }))
  assert.deepEqual(await listed(elsewhere), await listed(here))
  assert.equal(asked.length, 4)
})

test('what several want at once is made once', async () => {
  const { elsewhere, asked } = await twoStores(0)
  const all = await Promise.all(Array.from({ length: 5 }, () => listed(elsewhere)))
  for (const one of all) assert.deepEqual(one, all[0])
  // Who comes when one has just been made asks again: nothing is kept here.
  assert.ok(asked.length < 2 * all.length, String(asked))
})

test('a list says when an item could not be made', async () => {
  const { elsewhere } = await twoStores()
  elsewhere.large.maker = { knows: () => true, make: () => Promise.reject(new Error('no memory')) }
  await assert.rejects(listed(elsewhere), /no memory/)
})

test('an event is made ready once for all who watch in the same form', async () => {
  const { elsewhere, asked } = await twoStores()
  const stored = elsewhere.read({ resource: boxes, namespace: 'n', name: 'b' })
  const light = elsewhere.read({ resource: boxes, namespace: 'n', name: 'a' })
  assert.ok(stored !== undefined && light !== undefined)
  const batch = new EventBatch([new WatchEvent('ADDED', stored)])
  assert.equal(batch.ready(storedJson, elsewhere.large), undefined)
  await batch.ready(protobuf, elsewhere.large)
  assert.equal(batch.ready(protobuf, elsewhere.large), undefined)
  assert.ok(batch.frames(protobuf).length > 3000)
  assert.equal(asked.length, 1)
  assert.equal(new EventBatch([new WatchEvent('ADDED', light)]).ready(protobuf, elsewhere.large), undefined)
})

test('what comes in front of a namespace does not make its list begin there', async () => {
  const store = await storeOfBoxes()
  await put(store, box('first', { namespace: 'a' }))
  for (let i = 0; i < 60; i++) await put(store, box(`b${i}`, { namespace: 'b' }))
  await listed(store)
  for (let i = 0; i < 70; i++) await put(store, box(`a${i}`, { namespace: 'a' }))
  const fresh = await storeOfBoxes(0)
  await put(fresh, box('first', { namespace: 'a' }))
  for (let i = 0; i < 60; i++) await put(fresh, box(`b${i}`, { namespace: 'b' }))
  assert.deepEqual(await listed(store, { namespace: 'b' }), await listed(fresh, { namespace: 'b' }))
})

// The memory limit of the watch cache with ten times as much data: lists, single objects and the label index.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { compileLabelSelector } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import type { ItemEncoding } from '@cluster-apiserver/api/codec/item-encoding.js'
import { objectEncodingOf } from '@cluster-apiserver/api/codec/object-encoding.js'
import { box, boxes, put, storedJson, storeOfBoxes } from '../box-store.fixture.js'
import { everything, type Selection } from '../list/selection.js'
import type { ObjectStore } from '../object-store.js'

const maxBytes = 1 << 18
const count = 3_000
const nameOf = (i: number): string => `b${String(i).padStart(6, '0')}`
const address = (i: number) => ({ resource: boxes, namespace: 'n', name: nameOf(i) })

const protobuf = objectEncodingOf(boxes, { format: 'protobuf', pretty: false }, identityOf('cluster')) as ItemEncoding

let store: ObjectStore
let storedBytes = 0

before(async () => {
  store = await storeOfBoxes(maxBytes)
  for (let i = 0; i < count; i += 500) {
    const batch = Array.from({ length: 500 }, (_, k) => i + k)
    await Promise.all(
      batch.map((n) => put(store, box(nameOf(n), { labels: { group: `g${n % 10}`, unique: `v${n}` }, color: 'x'.repeat(900) }))),
    )
  }
  for (let i = 0; i < count; i++) storedBytes += store.read(address(i))?.size ?? 0
})
after(() => store.close())

/** Reads the whole list, in pages of `limit` or in one. */
async function listAll(encoding: ItemEncoding, selection: Selection, limit = 0): Promise<number> {
  let bytes = 0
  for (let startKey: string | undefined, isDone = false; !isDone; ) {
    const from = startKey === undefined ? {} : { startKey }
    const page = await store.listPage({ resource: boxes, namespace: '', selection, limit, encoding, ...from })
    for await (const next of page.items) {
      bytes += next.length
      assert.ok(store.cacheBytes <= maxBytes, `${store.cacheBytes} bytes`)
    }
    startKey = page.next?.startKey
    isDone = startKey === undefined
  }
  return bytes
}

test('lists ten times larger than the cache, in two representations, whole and in pages', async () => {
  assert.ok(storedBytes > 10 * maxBytes)
  for (const limit of [0, 100, 0, 100]) {
    assert.ok((await listAll(storedJson, everything, limit)) > 10 * maxBytes)
    assert.ok((await listAll(protobuf, everything, limit)) > 10 * maxBytes)
  }
  assert.ok(store.cacheBytes > maxBytes / 4, 'the cache is used')
})

test('ten times as many single objects, in another representation', () => {
  for (let i = 0; i < count; i++) {
    const stored = store.readCached(address(i))
    assert.ok((stored?.item(protobuf).length ?? 0) > 900)
    assert.ok(store.cacheBytes <= maxBytes, `${store.cacheBytes} bytes`)
  }
})

test('a label index ten times larger than its limit is not built, and selections are right', async () => {
  const selection = { labels: compileLabelSelector('group=g3'), fields: undefined }
  for (let round = 0; round < 2; round++) assert.ok((await listAll(storedJson, selection)) > (count / 10) * 900)
  assert.ok(store.cacheBytes <= maxBytes)
})

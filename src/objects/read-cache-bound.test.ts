// The bound of the read cache, with ten times as much to be kept: in lists of every form, single objects, and the index of labels.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { identityOf } from '../api/identity.js'
import { compileLabelSelector } from '../api/label-selector.js'
import { Pieces } from '../base/pieces.js'
import type { ItemForm } from '../codec/item-form.js'
import { wireFormOf } from '../codec/wire-form.js'
import { box, boxes, put, storedJson, storeOfBoxes } from './fixture.js'
import type { ObjectStore } from './object-store.js'
import { everything, type Selection } from './selection.js'

const mostBytes = 1 << 20
const count = 12_000
const nameOf = (i: number): string => `b${String(i).padStart(6, '0')}`
const address = (i: number) => ({ resource: boxes, namespace: 'n', name: nameOf(i) })

const protobuf = wireFormOf(boxes, { format: 'protobuf', pretty: false }, identityOf('cluster')) as ItemForm

let store: ObjectStore
let storedBytes = 0

before(async () => {
  store = await storeOfBoxes(mostBytes)
  for (let i = 0; i < count; i += 500) {
    const some = Array.from({ length: 500 }, (_, k) => i + k)
    await Promise.all(
      some.map((n) => put(store, box(nameOf(n), { labels: { group: `g${n % 10}`, own: `v${n}` }, color: 'x'.repeat(900) }))),
    )
  }
  for (let i = 0; i < count; i++) storedBytes += store.read(address(i))?.size ?? 0
})
after(() => store.close())

/** The whole list in pages of so many, or in one. */
async function listAll(form: ItemForm, selection: Selection, limit = 0): Promise<number> {
  let bytes = 0
  for (let startKey: string | undefined, isOver = false; !isOver; ) {
    const from = startKey === undefined ? {} : { startKey }
    const page = await store.listInPieces({ resource: boxes, namespace: '', selection, limit, form, pieces: new Pieces(), ...from })
    for (let next = await page.items.next(); next !== undefined; next = await page.items.next()) {
      bytes += next.length
      assert.ok(store.cacheBytes <= mostBytes, `${store.cacheBytes} bytes`)
    }
    startKey = page.next?.startKey
    isOver = startKey === undefined
  }
  return bytes
}

test('ten times as much as there is room for is listed in two forms, whole and in pages', async () => {
  assert.ok(storedBytes > 10 * mostBytes)
  for (const limit of [0, 100, 0, 100]) {
    assert.ok((await listAll(storedJson, everything, limit)) > 10 * mostBytes)
    assert.ok((await listAll(protobuf, everything, limit)) > 10 * mostBytes)
  }
  assert.ok(store.cacheBytes > mostBytes / 4, 'and as much is kept as may be')
})

test('ten times as many single objects are read, in another form', () => {
  for (let i = 0; i < count; i++) {
    const stored = store.readOften(address(i))
    assert.ok((stored?.item(protobuf).length ?? 0) > 900)
    assert.ok(store.cacheBytes <= mostBytes, `${store.cacheBytes} bytes`)
  }
})

test('an index of labels ten times as large as there is room for is not built, and selections are right', async () => {
  const selection = { labels: compileLabelSelector('group=g3'), fields: undefined }
  for (let round = 0; round < 2; round++) assert.ok((await listAll(storedJson, selection)) > (count / 10) * 900)
  assert.ok(store.cacheBytes <= mostBytes)
})

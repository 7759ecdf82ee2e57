// A state of the past is read from the present where nothing of its kind has changed since, and from history where something has.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { identityOf } from '../api/identity.js'
import { compileLabelSelector } from '../api/label-selector.js'
import { systemClock } from '../base/clock.js'
import { wireFormOf } from '../codec/wire-form.js'
import { openMemoryStorage } from '../storage/memory.js'
import type { Storage } from '../storage/storage.js'
import { box, boxes, put, slicesIn, storedJson } from './fixture.js'
import { LastChanges } from './last-changes.js'
import type { ListQuery } from './list.js'
import { ObjectStore } from './object-store.js'
import { everything } from './selection.js'

test('a collection is as it was until one of its keys changes', () => {
  const storage = { revision: 10 }
  const changes = new LastChanges(storage)
  assert.deepEqual(
    [9, 10, 11].map((revision) => changes.isAsAt(revision, 'boxes/n/a')),
    [false, true, false],
    'of what was before it began nothing is known, and the future is not there yet',
  )
  storage.revision = 12
  changes.note('leases/n/a')
  assert.deepEqual([changes.isAsAt(10, 'boxes/'), changes.isAsAt(10, 'leases/'), changes.isAsAt(12, 'leases/')], [true, false, true])
  storage.revision = 13
  changes.note('boxes/n/a')
  assert.deepEqual([changes.isAsAt(12, 'boxes/'), changes.isAsAt(13, 'boxes/'), changes.isAsAt(12, 'leases/')], [false, true, true])
})

test('ten times as many collections as are remembered make it forget, and never say what is not so', () => {
  const storage = { revision: 1 }
  const changes = new LastChanges(storage)
  for (let i = 0; i < 20_000; i++) {
    storage.revision += 1
    changes.note(`kind-${i}/a`)
    assert.equal(changes.isAsAt(storage.revision - 1, `kind-${i}/a`), false)
  }
  assert.equal(changes.isAsAt(2, 'kind-0/'), false)
})

let storage: Storage
let store: ObjectStore
let past = 0
before(async () => {
  storage = await openMemoryStorage({ clock: systemClock })
  const { range, recall } = storage
  storage.range = (query) => {
    if (query.at !== undefined) past += 1
    return range.call(storage, query)
  }
  storage.recall = (...wanted) => {
    past += 1
    return recall.apply(storage, wanted)
  }
  store = new ObjectStore({ storage, clock: systemClock, readCacheBytes: 1 << 20, eventTtlSeconds: 3600 })
  for (let i = 0; i < 300; i++) await put(store, box(`b${i}`, { labels: { group: `g${i % 3}` } }))
})
after(() => store.close())

test('a list that others write beside goes on from the cache, in pages, selections and other forms, until its own kind changes', async () => {
  const protobuf = wireFormOf(boxes, { format: 'protobuf', pretty: false }, identityOf('cluster'))
  const byLabel = { labels: compileLabelSelector('group=g1'), fields: undefined }
  const at = store.revision
  const queries: ListQuery[] = [storedJson, protobuf].flatMap((form) =>
    [everything, byLabel].flatMap((selection) =>
      [0, 50].map((limit) => ({ resource: boxes, namespace: '', selection, form, limit, at, startKey: 'boxes/n/b2' })),
    ),
  )
  const read = (query: ListQuery): string => Buffer.concat(slicesIn(store.list(query))).toString('base64')
  const expected = queries.map(read)
  await storage.commit([{ key: 'leases/n/l', value: Buffer.from('x'), expect: 0 }])
  past = 0
  assert.deepEqual(queries.map(read), expected)
  assert.equal(past, 0)
  // In the middle of one.
  const { items } = store.list(queries[0] as ListQuery)
  const begun = [await items.next()]
  await put(store, box('b2a'))
  for (let next = await items.next(); next !== undefined; next = await items.next()) begun.push(next)
  assert.equal(Buffer.concat(begun as Uint8Array[]).toString('base64'), expected[0])
  assert.ok(past > 0)
  assert.deepEqual(queries.map(read), expected)
})

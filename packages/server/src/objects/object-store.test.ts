// The object store: lists with and without cache, label index, object cache, pages, gaps in history.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { compileLabelSelector } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { openMemoryStorage } from '../storage/memory/memory-storage.js'
import type { ChangeListener } from '../storage/storage.js'
import { type Box, box, boxes, bytesOfItems, put, storedJson, storeOfBoxes } from './box-store.fixture.js'
import { StoredObject } from './entry/stored-object.js'
import type { ListPage, ListQuery } from './list/list-page.js'
import { everything } from './list/selection.js'
import { ObjectStore } from './object-store.js'
import { ObjectCache } from './watch-cache/object-cache.js'

const allBoxes: ListQuery = { resource: boxes, namespace: '', selection: everything, limit: 0, encoding: storedJson }
const labelSelection = (text: string) => ({ labels: compileLabelSelector(text), fields: undefined })
const parsed = async (page: ListPage | Promise<ListPage>): Promise<{ metadata: { name: string; resourceVersion: string } }[]> =>
  JSON.parse(`[${await bytesOfItems(await page)}]`)
const names = async (page: ListPage | Promise<ListPage>): Promise<string[]> => (await parsed(page)).map((item) => item.metadata.name)

async function storeWithBoxes(count: number, cacheBytes?: number): Promise<ObjectStore> {
  const store = await storeOfBoxes(cacheBytes)
  for (let i = 0; i < count; i++) await put(store, box(`b${String(i).padStart(4, '0')}`, { labels: { group: `g${i % 10}` } }))
  return store
}

test('lists are the same with and without a cache, before and after changes', async () => {
  for (const cacheBytes of [0, 4096, 1 << 20]) {
    const store = await storeWithBoxes(200, cacheBytes)
    assert.equal((await names(store.listPage(allBoxes))).length, 200)
    await put(store, box('b0100x'))
    const first = store.read({ resource: boxes, namespace: 'n', name: 'b0000' })
    assert.ok(first)
    await store.remove(first)
    const again = await names(store.listPage(allBoxes))
    assert.equal(again.length, 200)
    assert.deepEqual(again, [...again].sort())
    assert.ok(again.includes('b0100x') && !again.includes('b0000'))
    assert.ok(store.cacheBytes <= cacheBytes)
  }
})

test('a list that is read slowly shows the revision at which it started', async () => {
  const store = await storeWithBoxes(300)
  const chunks: Uint8Array[] = []
  for await (const slice of (await store.listPage(allBoxes)).items) {
    if (chunks.push(slice) > 1) continue
    for (const name of ['b0299', 'b0298']) {
      const stored = store.read({ resource: boxes, namespace: 'n', name })
      assert.ok(stored)
      await store.remove(stored)
    }
  }
  assert.equal(JSON.parse(`[${Buffer.concat(chunks)}]`).length, 300)
})

test('the label index follows changes', async () => {
  const store = await storeWithBoxes(20)
  assert.equal((await names(store.listPage({ ...allBoxes, selection: labelSelection('group=g1') }))).length, 2)
  const stored = store.read({ resource: boxes, namespace: 'n', name: 'b0001' })
  assert.ok(stored)
  await put(store, box('b0001', { labels: { group: 'g2' } }), stored.revision)
  assert.deepEqual(await names(store.listPage({ ...allBoxes, selection: labelSelection('group=g1') })), ['b0011'])
  assert.deepEqual(await names(store.listPage({ ...allBoxes, selection: labelSelection('group=g2') })), ['b0001', 'b0002', 'b0012'])
})

test('a selection shows the revision at which it started', async () => {
  const store = await storeWithBoxes(40)
  for (const isRendered of [false, true]) {
    if (isRendered) assert.equal((await names(store.listPage(allBoxes))).length, 40)
    const page = await store.listPage({ ...allBoxes, selection: labelSelection('group=g3') })
    const stored = store.read({ resource: boxes, namespace: 'n', name: 'b0013' })
    assert.ok(stored)
    await put(store, box('b0013', { labels: { group: 'g3' }, color: String(isRendered) }), stored.revision)
    const items = await parsed(page)
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['b0003', 'b0013', 'b0023', 'b0033'],
    )
    assert.equal(items[1]?.metadata.resourceVersion, String(stored.revision))
    const [, now] = await parsed(store.listPage({ ...allBoxes, selection: labelSelection('group=g3') }))
    assert.ok(Number(now?.metadata.resourceVersion) > stored.revision)
    const keys: string[] = []
    for await (const batch of page.batches()) for (const { key } of batch) keys.push(key.slice('boxes/n/'.length))
    assert.deepEqual(keys, ['b0003', 'b0013', 'b0023', 'b0033'])
  }
})

const colorOf = (object: StoredObject | undefined): string | undefined => (object?.decode(boxes) as Box | undefined)?.color

test('the object cache returns the stored object after changes', async () => {
  for (const cacheBytes of [0, 1 << 20]) {
    const store = await storeWithBoxes(3, cacheBytes)
    const address = { resource: boxes, namespace: 'n', name: 'b0001' }
    const first = store.readCached(address)
    assert.ok(first)
    const second = await put(store, box('b0001', { color: 'blue' }), first.revision)
    assert.equal(store.readCached(address)?.revision, second)
    assert.equal(colorOf(store.read(address)), 'blue')
    await store.remove(store.readCached(address) ?? first)
    assert.equal(store.readCached(address), undefined)
    await put(store, box('b0001', { color: 'green' }))
    assert.equal(colorOf(store.readCached(address)), 'green')
  }
})

test('the object cache stays within its byte limit', () => {
  const cache = new ObjectCache(20_000)
  const object = (key: string) => new StoredObject({ key, revision: 1, value: Buffer.alloc(1000) })
  for (let i = 0; i < 10; i++) cache.add(object(`k${i}`))
  assert.deepEqual(Array.from({ length: 10 }, (_, i) => cache.get(`k${i}`) !== undefined).lastIndexOf(false), 6)
  cache.add(new StoredObject({ key: 'large', revision: 1, value: Buffer.alloc(10_000) }))
  assert.equal(cache.get('large'), undefined)
})

test('a full page has a next key while objects follow, selected or not', async () => {
  const store = await storeWithBoxes(40)
  const full = await store.listPage({ ...allBoxes, selection: labelSelection('group=g1'), limit: 4 })
  assert.equal((await names(full)).length, 4)
  assert.ok(full.next !== undefined)
  const rest = await store.listPage({
    ...allBoxes,
    selection: labelSelection('group=g1'),
    limit: 4,
    at: full.revision,
    startKey: full.next.startKey,
  })
  assert.deepEqual([await names(rest), rest.next], [[], undefined])
  assert.equal((await store.listPage({ ...allBoxes, selection: labelSelection('group=g9'), limit: 4 })).next, undefined)
})

test('after a gap, client watches end and controllers get the differences', async () => {
  const storage = await openMemoryStorage({ clock: systemClock })
  let publish: ChangeListener = () => undefined
  const follow = storage.follow.bind(storage)
  storage.follow = (listener) => {
    publish = listener
    return follow(listener)
  }
  const store = new ObjectStore({ storage, clock: systemClock, readCacheBytes: 1 << 20, eventTtlSeconds: 3600 })
  const seen: string[] = []
  const target = { resource: boxes, namespace: 'n', matches: undefined }
  const end = (): void => {
    seen.push('client ended')
    stop()
  }
  const stop = store.watch({ ...target, deliver: ({ type }) => seen.push(`client ${type}`), end })
  store.watch({ ...target, deliver: ({ type }) => seen.push(`controller ${type}`) })
  await put(store, box('a'))
  const [entry] = storage.range({ start: '', end: '\u{10ffff}', limit: 1 }).entries
  assert.ok(entry)
  publish([{ key: entry.key, revision: entry.revision + 9, value: undefined, previous: entry }], true)
  assert.deepEqual(seen, ['client ADDED', 'controller ADDED', 'client ended', 'controller DELETED'])
})

test('a page of any length is measured, and read again if it is too long to keep', async () => {
  const store = await storeOfBoxes(0)
  const data = { text: 'x'.repeat(500_000) }
  for (let i = 0; i < 20; i++) await put(store, { ...box(`b${i + 10}`), data })
  for (const query of [
    allBoxes,
    { ...allBoxes, limit: 15 },
    { ...allBoxes, selection: labelSelection('!none') },
    { ...allBoxes, selection: labelSelection('!none'), limit: 15 },
  ]) {
    const count = query.limit === 0 ? 20 : 15
    const page = await store.listPage(query)
    const expected = await bytesOfItems(await store.listPage(query))
    assert.equal(JSON.parse(`[${expected}]`).length, count)
    assert.equal(await page.items.measure(1_000_000), undefined)
    assert.equal(await page.items.measure(Number.POSITIVE_INFINITY), expected.length)
    assert.equal(await page.items.measure(5), undefined)
    assert.ok((await bytesOfItems(page)).equals(expected))
    assert.equal(page.next?.startKey, query.limit === 0 ? undefined : 'boxes/n/b24\0')
  }
})

test('a commit with too many keys fails with 413 and writes nothing', async () => {
  const store = await storeOfBoxes()
  const gained = Array.from({ length: 1000 }, (_, i) => ({ kind: 'ports', value: String(i) }))
  const write = store.put({ resource: boxes, namespace: 'n', name: 'a' }, store.encode(boxes, box('a')), {
    expect: 0,
    uniqueKeys: { gained, released: [] },
  })
  await assert.rejects(
    write,
    (thrown: unknown) => thrown instanceof ApiError && thrown.status.code === 413 && /at most 1000 keys/.test(thrown.message),
  )
  assert.equal(store.count(boxes, ''), 0)
  assert.equal(store.isTaken({ kind: 'ports', value: '1' }), false)
})

test('a request that has waited for earlier writes does not wait again', async () => {
  const storage = openMemoryStorage()
  const index = new Promise<number>(() => undefined)
  storage.readIndex = () => index as never
  const store = new ObjectStore({ storage, clock: systemClock, readCacheBytes: 0, eventTtlSeconds: 3600 })
  const waitFor = <T>(work: Promise<T>): Promise<T> => work
  const waited = { waitFor, caller: { hasReadIndex: true } } as Parameters<ObjectStore['readIndex']>[0]
  const arrived = { waitFor, caller: {} } as Parameters<ObjectStore['readIndex']>[0]
  assert.equal(store.readIndex(waited), storage.revision)
  assert.ok(store.readIndex(arrived) instanceof Promise)
  assert.ok(store.readIndex() instanceof Promise)
})

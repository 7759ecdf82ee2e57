// Objects in the store: bytes that need no parsing, lists from the cache, selections by index, and watchers that miss nothing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api/api-error.js'
import { parseFieldSelector } from '../api/field-selector.js'
import { compileLabelSelector } from '../api/label-selector.js'
import { systemClock } from '../base/clock.js'
import { openMemoryStorage } from '../storage/memory.js'
import type { ChangeListener } from '../storage/storage.js'
import { type Box, box, boxes, put, slicesIn, storedJson, storeOfBoxes } from './fixture.js'
import type { ListQuery, ObjectPage } from './list.js'
import { ObjectCache } from './object-cache.js'
import { ObjectStore } from './object-store.js'
import { everything, matcherOf } from './selection.js'
import { StoredObject } from './stored-object.js'
import type { EventBatch } from './watch-events.js'

const all: ListQuery = { resource: boxes, namespace: '', selection: everything, limit: 0, form: storedJson }
const labels = (text: string) => ({ labels: compileLabelSelector(text), fields: undefined })
const fields = (text: string) => ({ labels: undefined, fields: parseFieldSelector(text) })
const parsed = (page: ObjectPage): { metadata: { name: string; resourceVersion: string } }[] =>
  JSON.parse(`[${Buffer.concat(slicesIn(page))}]`)
const names = (page: ObjectPage): string[] => parsed(page).map((item) => item.metadata.name)

async function filled(count: number, cacheBytes?: number): Promise<ObjectStore> {
  const store = await storeOfBoxes(cacheBytes)
  for (let i = 0; i < count; i++) await put(store, box(`b${String(i).padStart(4, '0')}`, { labels: { group: `g${i % 10}` } }))
  return store
}

test('an object is rendered with its version between two slices of what is stored', async () => {
  const store = await storeOfBoxes()
  const revision = await put(store, box('größe-<a>', { labels: { a: 'b' }, color: 'red' }))
  const stored = store.read({ resource: boxes, namespace: 'n', name: 'größe-<a>' })
  const text = stored?.render(Buffer.from('{"kind":"Box",'), Buffer.from('}'), boxes).toString() ?? ''
  assert.equal(
    text,
    `{"kind":"Box","metadata":{"name":"größe-\\u003ca\\u003e","namespace":"n","uid":"uid-9","resourceVersion":"${revision}","creationTimestamp":"2020-01-01T00:00:00Z","labels":{"a":"b"}},"color":"red"}`,
  )
  assert.deepEqual(stored?.index(boxes), { labels: { a: 'b' }, fields: { color: 'red' } })
  assert.equal(stored?.decode(boxes).metadata?.resourceVersion, String(revision))
})

test('lists are the same from the cache and without one, before and after changes', async () => {
  for (const cacheBytes of [0, 4096, 1 << 20]) {
    const store = await filled(200, cacheBytes)
    assert.equal(names(store.list(all)).length, 200)
    await put(store, box('b0100x'))
    const first = store.read({ resource: boxes, namespace: 'n', name: 'b0000' })
    assert.ok(first)
    await store.remove(first)
    const again = names(store.list(all))
    assert.equal(again.length, 200)
    assert.deepEqual(again, [...again].sort())
    assert.ok(again.includes('b0100x') && !again.includes('b0000'))
    assert.ok(store.cacheBytes <= cacheBytes)
  }
})

test('pages follow one another at one revision, and count what is left', async () => {
  const store = await filled(25)
  const seen: string[] = []
  let query: ListQuery = { ...all, limit: 10 }
  const first = store.list(query)
  await put(store, box('a-late'))
  for (let page = first; ; page = store.list(query)) {
    assert.equal(page.revision, first.revision)
    seen.push(...names(page))
    if (page.next === undefined) break
    assert.equal(page.next.remaining, 25 - seen.length)
    query = {
      ...all,
      limit: 10,
      at: first.revision,
      startKey: page.next.startKey,
      ...(page.next.remaining === undefined ? {} : { expectedCount: page.next.remaining }),
    }
  }
  assert.equal(seen.length, 25)
  assert.ok(!seen.includes('a-late'))
})

test('a list that is read slowly shows the state in which it began', async () => {
  const store = await filled(300)
  const { items } = store.list(all)
  const begun = [items.next() as Uint8Array]
  for (const name of ['b0299', 'b0298']) {
    const stored = store.read({ resource: boxes, namespace: 'n', name })
    assert.ok(stored)
    await store.remove(stored)
  }
  begun.push(...slicesIn({ items }))
  assert.equal(JSON.parse(`[${Buffer.concat(begun)}]`).length, 300)
})

const selections: readonly { name: string; selection: ListQuery['selection']; count: number }[] = [
  { name: 'equality', selection: labels('group=g3'), count: 20 },
  { name: 'a set', selection: labels('group in (g1,g2)'), count: 40 },
  { name: 'existence', selection: labels('group'), count: 200 },
  { name: 'absence', selection: labels('!group'), count: 0 },
  { name: 'inequality', selection: labels('group!=g3'), count: 180 },
  { name: 'a name', selection: fields('metadata.name=b0007'), count: 1 },
  { name: 'a field of the kind', selection: fields('color=red'), count: 0 },
]

for (const row of selections) {
  test(`selection by ${row.name}`, async () => {
    const store = await filled(200)
    assert.equal(names(store.list({ ...all, selection: row.selection })).length, row.count)
    assert.equal(names(store.list({ ...all, namespace: 'n', selection: row.selection })).length, row.count)
    assert.equal(names(store.list({ ...all, namespace: 'elsewhere', selection: row.selection })).length, 0)
  })
}

test('the index of labels follows changes', async () => {
  const store = await filled(20)
  assert.equal(names(store.list({ ...all, selection: labels('group=g1') })).length, 2)
  const stored = store.read({ resource: boxes, namespace: 'n', name: 'b0001' })
  assert.ok(stored)
  await put(store, box('b0001', { labels: { group: 'g2' } }), stored.revision)
  assert.deepEqual(names(store.list({ ...all, selection: labels('group=g1') })), ['b0011'])
  assert.deepEqual(names(store.list({ ...all, selection: labels('group=g2') })), ['b0001', 'b0002', 'b0012'])
})

test('a selection shows the state in which it began, rendered before or not', async () => {
  const store = await filled(40)
  for (const isRendered of [false, true]) {
    if (isRendered) assert.equal(names(store.list(all)).length, 40)
    const page = store.list({ ...all, selection: labels('group=g3') })
    const stored = store.read({ resource: boxes, namespace: 'n', name: 'b0013' })
    assert.ok(stored)
    await put(store, box('b0013', { labels: { group: 'g3' }, color: String(isRendered) }), stored.revision)
    const shown = parsed(page)
    assert.deepEqual(
      shown.map(({ metadata }) => metadata.name),
      ['b0003', 'b0013', 'b0023', 'b0033'],
    )
    assert.equal(shown[1]?.metadata.resourceVersion, String(stored.revision))
    const [, now] = parsed(store.list({ ...all, selection: labels('group=g3') }))
    assert.ok(Number(now?.metadata.resourceVersion) > stored.revision)
    assert.deepEqual(
      [...page.objects()].map(({ key }) => key.split('/').at(-1)),
      ['b0003', 'b0013', 'b0023', 'b0033'],
    )
  }
})

const colorOf = (object: StoredObject | undefined): string | undefined => (object?.decode(boxes) as Box | undefined)?.color

test('an object that is read often is the one that is stored', async () => {
  for (const cacheBytes of [0, 1 << 20]) {
    const store = await filled(3, cacheBytes)
    const address = { resource: boxes, namespace: 'n', name: 'b0001' }
    const first = store.readOften(address)
    assert.ok(first)
    const second = await put(store, box('b0001', { color: 'blue' }), first.revision)
    assert.equal(store.readOften(address)?.revision, second)
    assert.equal(colorOf(store.read(address)), 'blue')
    await store.remove(store.readOften(address) ?? first)
    assert.equal(store.readOften(address), undefined)
    await put(store, box('b0001', { color: 'green' }))
    assert.equal(colorOf(store.readOften(address)), 'green')
  }
})

test('what is read often stays within its bound', () => {
  const recent = new ObjectCache(20_000)
  const object = (key: string) => new StoredObject({ key, revision: 1, value: Buffer.alloc(1000) })
  for (let i = 0; i < 10; i++) recent.keep(object(`k${i}`))
  assert.deepEqual(Array.from({ length: 10 }, (_, i) => recent.get(`k${i}`) !== undefined).lastIndexOf(false), 6)
  recent.keep(new StoredObject({ key: 'large', revision: 1, value: Buffer.alloc(10_000) }))
  assert.equal(recent.get('large'), undefined)
})

test('selected pages begin where the last one ended', async () => {
  const store = await filled(40)
  const first = store.list({ ...all, selection: labels('group=g1'), limit: 2 })
  assert.deepEqual(names(first), ['b0001', 'b0011'])
  assert.equal(first.next?.remaining, undefined)
  const second = store.list({ ...all, selection: labels('group=g1'), limit: 2, at: first.revision, startKey: first.next?.startKey ?? '' })
  assert.deepEqual(names(second), ['b0021', 'b0031'])
})

test('a page that is full says where to go on while there are objects behind it, whether they are selected or not', async () => {
  const store = await filled(40)
  const full = store.list({ ...all, selection: labels('group=g1'), limit: 4 })
  assert.equal(names(full).length, 4)
  assert.ok(full.next !== undefined)
  const rest = store.list({ ...all, selection: labels('group=g1'), limit: 4, at: full.revision, startKey: full.next.startKey })
  assert.deepEqual([names(rest), rest.next], [[], undefined])
  assert.equal(store.list({ ...all, selection: labels('group=g9'), limit: 4 }).next, undefined)
})

test('watchers see objects begin and cease to match', async () => {
  const store = await storeOfBoxes()
  const seen: string[] = []
  const stop = store.watch({
    resource: boxes,
    namespace: 'n',
    matches: matcherOf(boxes, labels('on=yes')),
    deliver: (event) => seen.push(`${event.type} ${event.object.decode(boxes).metadata?.labels?.['on']} ${event.revision}`),
  })
  const r1 = await put(store, box('a', { labels: { on: 'no' } }))
  const r2 = await put(store, box('a', { labels: { on: 'yes' } }), r1)
  const r3 = await put(store, box('a', { labels: { on: 'yes', more: '1' } }), r2)
  const r4 = await put(store, box('a', { labels: { on: 'no' } }), r3)
  await put(store, box('other', { namespace: 'm', labels: { on: 'yes' } }))
  stop()
  await put(store, box('late', { labels: { on: 'yes' } }))
  assert.deepEqual(seen, [`ADDED yes ${r2}`, `MODIFIED yes ${r3}`, `DELETED yes ${r4}`])
})

test('where changes were missed, clients are let go and loops are told what differs', async () => {
  const storage = await openMemoryStorage({ clock: systemClock })
  let publish: ChangeListener = () => undefined
  const follow = storage.follow.bind(storage)
  storage.follow = (listener) => {
    publish = listener
    return follow(listener)
  }
  const store = new ObjectStore({ storage, clock: systemClock, readCacheBytes: 1 << 20, eventTtlSeconds: 3600 })
  const seen: string[] = []
  const where = { resource: boxes, namespace: 'n', matches: undefined }
  const end = (): void => {
    seen.push('client ended')
    stop()
  }
  const stop = store.watch({ ...where, deliver: ({ type }) => seen.push(`client ${type}`), end })
  store.watch({ ...where, deliver: ({ type }) => seen.push(`loop ${type}`) })
  await put(store, box('a'))
  const [entry] = storage.range({ start: '', end: '\u{10ffff}', limit: 1 }).entries
  assert.ok(entry)
  publish([{ key: entry.key, revision: entry.revision + 9, value: undefined, previous: entry }], true)
  assert.deepEqual(seen, ['client ADDED', 'loop ADDED', 'client ended', 'loop DELETED'])
})

test('events of one change share their bytes', async () => {
  const store = await storeOfBoxes()
  const frames: Uint8Array[] = []
  for (let i = 0; i < 3; i++)
    store.watch({ resource: boxes, namespace: '', matches: undefined, deliver: (event) => frames.push(event.frame(storedJson)) })
  await put(store, box('a'))
  assert.equal(frames.length, 3)
  assert.ok(frames.every((frame) => frame === frames[0]))
  assert.equal(JSON.parse(Buffer.from(frames[0] ?? []).toString()).object.metadata.name, 'a')
})

test('a page of any length is measured, and read again where it is too long to be kept', async () => {
  const store = await storeOfBoxes(0)
  const data = { text: 'x'.repeat(500_000) }
  for (let i = 0; i < 20; i++) await put(store, { ...box(`b${i + 10}`), data })
  for (const query of [
    all,
    { ...all, limit: 15 },
    { ...all, selection: labels('!none') },
    { ...all, selection: labels('!none'), limit: 15 },
  ]) {
    const count = query.limit === 0 ? 20 : 15
    const page = store.list(query)
    const expected = Buffer.concat(slicesIn(store.list(query)))
    assert.equal(JSON.parse(`[${expected}]`).length, count)
    assert.equal(page.items.measure(1_000_000), undefined)
    assert.equal(page.items.measure(Number.POSITIVE_INFINITY), expected.length)
    assert.equal(page.items.measure(5), undefined)
    assert.ok(Buffer.concat(slicesIn(page)).equals(expected))
    assert.equal(page.next?.startKey, query.limit === 0 ? undefined : 'boxes/n/b24\0')
  }
})

const untold = { end: (): void => assert.fail(), fail: (thrown: unknown): void => assert.fail(String(thrown)) }

test('watchers of one range and selection share batches, whose frames are those of their events', async () => {
  const store = await storeOfBoxes()
  const watch = (selection: ListQuery['selection'], namespace = ''): EventBatch[] => {
    const batches: EventBatch[] = []
    const matches = matcherOf(boxes, selection)
    const { end, fail } = untold
    store.watch({ resource: boxes, namespace, selection, matches, take: (batch) => batches.push(batch), end, fail })
    return batches
  }
  const [one, two, other, elsewhere] = [
    watch(labels('on=yes')),
    watch(labels('on = yes')),
    watch(everything),
    watch(labels('on=yes'), 'nowhere'),
  ]
  const singles: Uint8Array[] = []
  store.watch({ resource: boxes, namespace: '', matches: undefined, deliver: (event) => singles.push(event.frame(storedJson)) })
  await Promise.all(['a', 'b', 'c'].map((name) => put(store, box(name, { labels: { on: name === 'b' ? 'no' : 'yes' } }))))
  assert.deepEqual([one.length, two.length, other.length, elsewhere.length], [1, 1, 1, 0])
  assert.equal(one[0], two[0])
  assert.equal(one[0]?.events.length, 2)
  assert.equal(one[0]?.frames(storedJson), two[0]?.frames(storedJson))
  assert.deepEqual(Buffer.from(other[0]?.frames(storedJson) ?? []), Buffer.concat(singles))
  assert.deepEqual(Buffer.from(one[0]?.frames(storedJson) ?? []), Buffer.concat([singles[0] as Uint8Array, singles[2] as Uint8Array]))
  for (const event of one[0]?.events ?? []) assert.ok(singles.some((frame) => Buffer.compare(frame, event.frame(storedJson)) === 0))
})

test('batches are no longer than a connection has room for', async () => {
  const store = await storeOfBoxes()
  const counts: number[] = []
  store.watch({
    resource: boxes,
    namespace: '',
    matches: undefined,
    ...untold,
    take: ({ events }) => counts.push(events.length),
  })
  const sizes = [20_000, 20_000, 20_000, 500_000, 20_000]
  await Promise.all(sizes.map((size, i) => put(store, { ...box(`b${i}`), data: { text: 'x'.repeat(size) } })))
  assert.deepEqual(counts, [2, 1, 1, 1])
})

test('what takes more than the store writes at once is refused as too large, and nothing of it is written', async () => {
  const store = await storeOfBoxes()
  const gained = Array.from({ length: 1000 }, (_, i) => ({ kind: 'ports', value: String(i) }))
  const made = store.put({ resource: boxes, namespace: 'n', name: 'a' }, store.encode(boxes, box('a')), {
    expect: 0,
    uniqueKeys: { gained, released: [] },
  })
  await assert.rejects(
    made,
    (thrown: unknown) => thrown instanceof ApiError && thrown.status.code === 413 && /at most 1000 keys/.test(thrown.message),
  )
  assert.equal(store.count(boxes, ''), 0)
  assert.equal(store.isTaken({ kind: 'ports', value: '1' }), false)
})

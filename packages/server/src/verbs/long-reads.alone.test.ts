// Lists, selections and starts of watches that take several event-loop iterations show one revision.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { ListOptions, WatchOptions } from '@cluster-apiserver/api/api/options/list-options.js'
import { compileLabelSelector } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { ItemEncoding } from '@cluster-apiserver/api/codec/item-encoding.js'
import { objectEncodingOf } from '@cluster-apiserver/api/codec/object-encoding.js'
import { box, boxes, bytesOfItems, put, storedJson } from '../objects/box-store.fixture.js'
import { everything, type Selection } from '../objects/list/selection.js'
import { ObjectStore } from '../objects/object-store.js'
import { openMemoryStorage } from '../storage/memory/memory-storage.js'
import type { Engine } from './engine.js'
import { list } from './list.js'
import { Watch } from './watch.js'

const count = 2000
let store: ObjectStore
let engine: Engine
const nameOf = (i: number): string => `b${String(i).padStart(6, '0')}`

/** A budget that is spent after every step, so that each one yields. */
let clockMs = 0
const smallBudget = new TurnBudget(() => {
  clockMs += 10
  return clockMs
})

before(async () => {
  const storage = await openMemoryStorage({ clock: systemClock })
  store = new ObjectStore({ storage, clock: systemClock, readCacheBytes: 128 << 20, eventTtlSeconds: 3600, budget: smallBudget })
  engine = { store, clock: systemClock, identity: identityOf('cluster'), gates: () => true } as Partial<Engine> as Engine
  const write = (n: number) => put(store, box(nameOf(n), { labels: { group: `g${n % 10}`, app: 'shop' }, color: 'red' }))
  await Promise.all(Array.from({ length: count }, (_, n) => write(n)))
})
after(() => store.close())

let isAborted = false
const call = {
  resource: boxes,
  namespace: '',
  caller: {},
  waitFor: <T>(work: Promise<T>) => work,
  throwIfAborted() {
    if (isAborted) throw new Error('the client disconnected')
  },
} as unknown as Call

type Options = ListOptions & { readonly encoding: ItemEncoding | undefined }

const optionsOf = (encoding: ItemEncoding | undefined, selection: Selection, limit = 0): Options =>
  ({ version: { mode: 'most-recent' }, selection, limit, encoding }) as unknown as Options

interface Listed {
  readonly metadata: { readonly name: string; readonly resourceVersion: string; readonly labels: { readonly group: string } }
}

const read = async (options: Options): Promise<readonly Listed[]> =>
  JSON.parse(`[${await bytesOfItems(await list(engine, call, options))}]`) as readonly Listed[]

const labels = (text: string): Selection => ({ labels: compileLabelSelector(text), fields: undefined })
const protobuf = (): ItemEncoding => ({ ...objectEncodingOf(boxes, { format: 'protobuf', pretty: false }, identityOf('cluster')) })

for (const [text, expected] of [
  ['group!=g1,app!=shop', 0],
  ['absent=label', 0],
  ['group=g3', count / 10],
  ['group in (g1,g2,g3)', (count / 10) * 3],
] as const) {
  test(`a selection by ${text} builds the label index over several iterations`, async () => {
    for (let i = 0; i < 3; i++) store.releaseUnused()
    assert.equal((await read(optionsOf(storedJson, labels(text)))).length, expected)
  })
}

test('a page at an old revision counts its remaining items', async () => {
  const at = (resourceVersion: number, limit: number) =>
    ({ ...optionsOf(storedJson, everything, limit), version: { mode: 'exact', resourceVersion } }) as Options
  const [few, many] = await Promise.all([read(at(3, 0)), read(at(500, 0))])
  assert.ok(few.length < many.length && many.length <= 500)
  const page = await list(engine, call, at(500, 2))
  assert.equal(page.remainingItemCount, many.length - 2)
  assert.equal((JSON.parse(`[${await bytesOfItems(page)}]`) as unknown[]).length, 2)
})

test('a list and a selection show one revision while other clients write, and the label index built meanwhile is right', async () => {
  for (let i = 0; i < 3; i++) store.releaseUnused()
  let isDone = false
  const write = async (): Promise<void> => {
    for (let n = 0; !isDone; n = (n + 1237) % count) {
      const stored = store.read({ resource: boxes, namespace: 'n', name: nameOf(n) })
      const group = stored?.labels()?.['group'] === 'g4' ? `g${n % 10}` : 'g4'
      await put(store, box(nameOf(n), { labels: { group, app: 'shop' }, color: 'blue' }), stored?.revision)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const writing = write()
  const pages = await Promise.all([
    list(engine, call, optionsOf(storedJson, everything)),
    list(engine, call, optionsOf(storedJson, labels('group=g4'))),
  ])
  const shown = await Promise.all(pages.map(bytesOfItems))
  isDone = true
  await writing
  const parsed = (bytes: Buffer | undefined): readonly Listed[] => JSON.parse(`[${bytes}]`) as readonly Listed[]
  const stateAt = async (at: number): Promise<readonly Listed[]> =>
    parsed(
      await bytesOfItems(
        await store.listPage({ resource: boxes, namespace: '', selection: everything, limit: 0, encoding: storedJson, at }),
      ),
    )
  const selected = (items: readonly Listed[]): readonly Listed[] => items.filter(({ metadata }) => metadata.labels.group === 'g4')
  const [allItems, selectedItems] = pages
  assert.ok(store.revision > allItems.revision)
  assert.deepEqual(parsed(shown[0]), await stateAt(allItems.revision))
  assert.deepEqual(parsed(shown[1]), selected(await stateAt(selectedItems.revision)))
  const now = await list(engine, call, optionsOf(storedJson, labels('group=g4')))
  assert.deepEqual(parsed(await bytesOfItems(now)), selected(await stateAt(now.revision)))
})

test('a list stops when its client disconnects', async () => {
  const page = await list(engine, call, optionsOf(protobuf(), everything))
  const measuring = page.items.measure(Number.POSITIVE_INFINITY)
  isAborted = true
  try {
    await assert.rejects(measuring, { message: 'the client disconnected' })
  } finally {
    isAborted = false
  }
})

let watchCount = 0

for (const [title, start, selection, takesAll] of [
  ['existing objects', { mode: 'any' }, everything, true],
  ['existing objects, to a slow client', { mode: 'any' }, everything, false],
  ['selected existing objects', { mode: 'any' }, labels('group!=g1,app!=shop'), true],
  ['history', { mode: 'exact', resourceVersion: 1 }, everything, true],
  ['history without selected events', { mode: 'exact', resourceVersion: 1 }, labels('absent=label'), true],
] as const) {
  test(`a watch that starts with ${title} continues with later events, over several iterations`, async () => {
    const options = { selection, start, allowBookmarks: false } as unknown as WatchOptions
    const watch = new Watch(engine, call, options)
    await watch.prepare()
    const received: string[] = []
    let receivedInFirstIteration = 0
    let writing: Promise<unknown> = Promise.resolve()
    const name = `last-of-all-${++watchCount}`
    await new Promise<void>((resolve) => {
      setImmediate(() => {
        receivedInFirstIteration = received.length
      })
      watch.start(
        {
          events: ({ events }) => {
            for (const { object } of events) received.push(object.key)
            if (events.at(-1)?.object.key.endsWith(name)) resolve()
            if (!takesAll) process.nextTick(watch.resume)
            return takesAll
          },
          bookmark: () => true,
          fail: assert.fail,
          end: () => resolve(),
        },
        20_000,
      )
      writing = put(store, box(name, { labels: { group: 'g2', absent: 'label' } }))
    })
    await writing
    watch.close()
    assert.ok(selection === everything ? received.length > count : received.length >= 1)
    assert.ok(selection !== everything || receivedInFirstIteration < count)
    assert.ok(received.at(-1)?.endsWith(name))
  })
}

// Lists, selections and watches over many objects leave others their turns, and show one state all the same.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Call } from '../api/call.js'
import { identityOf } from '../api/identity.js'
import { compileLabelSelector } from '../api/label-selector.js'
import type { ListOptions, WatchOptions } from '../api/options/list-options.js'
import { systemClock } from '../base/clock.js'
import { type Turns, turnsOf } from '../base/turns.fixture.js'
import type { ItemForm } from '../codec/item-form.js'
import { wireFormOf } from '../codec/wire-form.js'
import { box, boxes, put, storedJson } from '../objects/fixture.js'
import { ObjectStore } from '../objects/object-store.js'
import { everything, type Selection } from '../objects/selection.js'
import { openMemoryStorage } from '../storage/memory.js'
import type { Engine } from './engine.js'
import { type ListedPage, list } from './list.js'
import { Watch } from './watch.js'

const count = 50_000
/** In one go each of these takes several times as long; a piece is five, and what collects garbage meanwhile counts, too. */
const longestTurnMs = 60
/** On a machine where everything takes longer. */
const largestShare = 1 / 5

let store: ObjectStore
let engine: Engine
const nameOf = (i: number): string => `b${String(i).padStart(6, '0')}`

before(async () => {
  const storage = await openMemoryStorage({ clock: systemClock })
  store = new ObjectStore({ storage, clock: systemClock, readCacheBytes: 128 << 20, eventTtlSeconds: 3600 })
  engine = { store, clock: systemClock, identity: identityOf('cluster') } as Engine
  for (let i = 0; i < count; i += 500) {
    const some = Array.from({ length: 500 }, (_, k) => i + k)
    await Promise.all(some.map((n) => put(store, box(nameOf(n), { labels: { group: `g${n % 10}`, app: 'shop' }, color: 'red' }))))
  }
})

after(() => store.close())

let lasts = 0
let isAborted = false
const call = {
  resource: boxes,
  namespace: '',
  waitFor: <T>(work: Promise<T>) => work,
  throwIfAborted() {
    if (isAborted) throw new Error('the client has gone')
  },
} as unknown as Call

const wanted = (form: ItemForm | undefined, selection: Selection, limit = 0): ListOptions & { form: ItemForm | undefined } =>
  ({ version: { mode: 'most-recent' }, selection, limit, form }) as ListOptions & { form: ItemForm | undefined }

/** The best of a few: garbage may be collected at any time. To parse what was read takes long as well, and is done afterwards. */
async function assertShortTurns(work: () => Promise<unknown>): Promise<void> {
  const turns: Turns[] = []
  for (let i = 0; i < 4; i++) {
    const { longestMs, totalMs } = await turnsOf(work)
    if (longestMs < Math.max(longestTurnMs, totalMs * largestShare)) return
    turns.push({ longestMs, totalMs })
  }
  assert.fail(`the event loop was held: ${JSON.stringify(turns)}`)
}

const itemsIn = (bytes: Buffer): readonly unknown[] => JSON.parse(`[${bytes}]`) as readonly unknown[]

async function readAll(page: Pick<ListedPage, 'items'>): Promise<Buffer> {
  const slices: Uint8Array[] = []
  for (let next = await page.items.next(); next !== undefined; next = await page.items.next()) slices.push(next)
  return Buffer.concat(slices)
}

const labels = (text: string): Selection => ({ labels: compileLabelSelector(text), fields: undefined })
const protobuf = (): ItemForm => ({ ...wireFormOf(boxes, { format: 'protobuf', pretty: false }, identityOf('cluster')) })

test('a whole list in a form that is made for the first time', () =>
  assertShortTurns(async () => {
    const page = await list(engine, call, wanted(protobuf(), everything))
    assert.ok(((await page.items.measure(Number.POSITIVE_INFINITY)) ?? 0) > count * 50)
    await readAll(page)
  }))

test('a large page in a form that is made for the first time', () =>
  assertShortTurns(async () => {
    const page = await list(engine, call, wanted(protobuf(), everything, count - 1))
    assert.equal(page.remainingItemCount, 1)
  }))

for (const [what, selection] of [
  ['that no index answers', labels('group!=g1,app!=shop')],
  ['by a label that is not there', labels('nobody=has')],
  ['of one in ten', labels('group=g3')],
  ['of several values', labels('group in (g1,g2,g3)')],
] as const) {
  test(`a selection ${what}, with a new index`, async () => {
    let bytes: Buffer = Buffer.alloc(0)
    await assertShortTurns(async () => {
      store.releaseUnused()
      store.releaseUnused()
      store.releaseUnused()
      bytes = await readAll(await list(engine, call, wanted(storedJson, selection)))
    })
    assert.equal(itemsIn(bytes).length, what === 'of one in ten' ? count / 10 : what === 'of several values' ? (count / 10) * 3 : 0)
  })
}

test('a list of a state long ago, whole and in pages', async () => {
  const at = (resourceVersion: number, limit: number) =>
    ({ ...wanted(storedJson, everything, limit), version: { mode: 'exact', resourceVersion } }) as ReturnType<typeof wanted>
  let middle = 1
  let past: Buffer = Buffer.alloc(0)
  await assertShortTurns(async () => {
    // Each time another one, so that it has to be looked up.
    middle += 2
    const page = await list(engine, call, at(middle, 0))
    past = await readAll(page)
    middle += 1
    const limited = await list(engine, call, at(middle, 1))
    assert.equal(itemsIn(await readAll(limited)).length, 1)
    assert.ok((limited.remainingItemCount ?? 0) < 3 * middle)
  })
  assert.ok(itemsIn(past).length < 3 * middle)
  const [first, then] = await Promise.all([list(engine, call, at(2, 0)), list(engine, call, at(500, 0))])
  const [few, many] = await Promise.all([readAll(first), readAll(then)])
  const lengthOf = (bytes: Buffer): number => itemsIn(bytes).length
  assert.ok(lengthOf(few) < lengthOf(many))
})

test('a list and a selection show one state while others write, and an index that is built meanwhile is true', async () => {
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
  const [whole, some] = await Promise.all([
    list(engine, call, wanted(storedJson, everything)),
    list(engine, call, wanted(storedJson, labels('group=g4'))),
  ])
  const [all, picked] = await Promise.all([readAll(whole), readAll(some)])
  isDone = true
  await writing
  interface Listed {
    readonly metadata: { readonly name: string; readonly resourceVersion: string; readonly labels: { readonly group: string } }
  }
  const parsed = (bytes: Buffer): readonly Listed[] => JSON.parse(`[${bytes}]`) as readonly Listed[]
  const stateAt = (at: number): readonly Listed[] => {
    const page = store.list({ resource: boxes, namespace: '', selection: everything, limit: 0, form: storedJson, at })
    const slices: Uint8Array[] = []
    for (let next = page.items.next(); next !== undefined; next = page.items.next()) slices.push(next as Uint8Array)
    return parsed(Buffer.concat(slices))
  }
  assert.ok(store.revision > whole.revision)
  assert.deepEqual(parsed(all), stateAt(whole.revision))
  assert.deepEqual(
    parsed(picked),
    stateAt(some.revision).filter(({ metadata }) => metadata.labels.group === 'g4'),
  )
  const now = await list(engine, call, wanted(storedJson, labels('group=g4')))
  assert.deepEqual(
    parsed(await readAll(now)),
    stateAt(now.revision).filter(({ metadata }) => metadata.labels.group === 'g4'),
  )
})

test('a list whose client has gone is not read to its end', async () => {
  isAborted = false
  const page = await list(engine, call, wanted(protobuf(), everything))
  const measuring = page.items.measure(Number.POSITIVE_INFINITY)
  isAborted = true
  try {
    await assert.rejects(async () => await measuring, { message: 'the client has gone' })
  } finally {
    isAborted = false
  }
})

for (const [what, start, selection] of [
  ['what is there', { mode: 'any' }, everything],
  ['what is there and no index answers', { mode: 'any' }, labels('group!=g1,app!=shop')],
  ['history', { mode: 'exact', resourceVersion: 1 }, everything],
  ['history of which nothing is selected', { mode: 'exact', resourceVersion: 1 }, labels('nobody=has')],
] as const) {
  test(`a watch that begins with ${what}`, () =>
    assertShortTurns(async () => {
      const options = { selection, start, allowBookmarks: false } as unknown as WatchOptions
      const watch = new Watch(engine, call, options)
      await watch.prepare()
      const seen: string[] = []
      const name = `last-of-all-${++lasts}`
      await new Promise<void>((resolve) => {
        watch.start(
          {
            events: ({ events }) => {
              for (const { object } of events) seen.push(object.key)
              if (events.at(-1)?.object.key.endsWith(name)) resolve()
              return true
            },
            bookmark: () => true,
            fail: assert.fail,
            end: () => resolve(),
          },
          20_000,
        )
        void put(store, box(name, { labels: { group: 'g2', nobody: 'has' } }))
      })
      watch.close()
      assert.ok(selection === everything ? seen.length > count : seen.length >= 1)
      assert.ok(seen.at(-1)?.endsWith(name))
    }))
}

test('a watch from what is there, of a client that takes everything at once, leaves others their turns', async () => {
  const options = { selection: everything, start: { mode: 'any' }, allowBookmarks: false } as unknown as WatchOptions
  const watch = new Watch(engine, call, options)
  await watch.prepare()
  let seen = 0
  let seenInFirstTurn = 0
  await new Promise<void>((resolve) => {
    setImmediate(() => {
      seenInFirstTurn = seen
    })
    watch.start(
      {
        events: ({ events }) => {
          seen += events.length
          if (seen >= count) setImmediate(resolve)
          // Within the same turn, as a connection does whose client reads as quickly as it is written to.
          else process.nextTick(watch.resume)
          return false
        },
        bookmark: () => true,
        fail: assert.fail,
        end: () => resolve(),
      },
      20_000,
    )
  })
  watch.close()
  assert.ok(seen >= count)
  assert.ok(seenInFirstTurn < count, 'in one turn')
})

// The watcher index: indexed watchers get the same events as without an index; many are notified over several event-loop iterations.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFieldSelector } from '@cluster-apiserver/api/api/selectors/field-selector.js'
import { compileLabelSelector } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { box, boxes, put, storeOfBoxes } from '../box-store.fixture.js'
import { everything, matcherOf, type Selection } from '../list/selection.js'
import type { ObjectStore } from '../object-store.js'

const select = (labels: string, fields = ''): Selection => ({
  labels: labels === '' ? undefined : compileLabelSelector(labels),
  fields: fields === '' ? undefined : parseFieldSelector(fields),
})

const nextIteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Events as text: `ADDED name revision`. */
function watch(store: ObjectStore, selection: Selection, { namespace = '', onEvents = (): void => undefined } = {}): string[] {
  const seen: string[] = []
  const stop = store.watch({
    resource: boxes,
    namespace,
    selection,
    matches: matcherOf(boxes, selection),
    take: ({ events }) => {
      onEvents()
      for (const { type, object } of events) seen.push(`${type} ${object.key} ${object.revision}`)
    },
    end: () => {
      seen.push('end')
      stop()
    },
    fail: (thrown) => {
      seen.push(String(thrown))
      stop()
    },
  })
  return seen
}

/** Deterministic pseudo-random numbers. */
const randomNumbers = (seed: number): ((below: number) => number) => {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

test('each of many watchers gets the same events as if it were the only one', async () => {
  const store = await storeOfBoxes()
  const random = randomNumbers(7)
  const cases: (readonly [Selection, string])[] = []
  const labels = ['a=1', 'a=2', 'a in (1,3)', 'a', '!a', 'a!=1', 'b=1', 'b==2', 'b notin (1)', 'a=1,b=1', 'a=1,b', 'a=2,b!=1', 'a>1', '']
  const fields = ['', 'metadata.name=x1', 'metadata.name!=x1', 'color=red', 'color=', 'metadata.namespace=m', 'color=red,metadata.name=x2']
  for (const label of labels)
    for (const field of fields) for (const namespace of ['', 'n', 'm', 'nowhere']) cases.push([select(label, field), namespace])
  const indexed = cases.map(([selection, namespace]) => watch(store, selection, { namespace }))
  // Internal watchers are not indexed.
  const unindexed = cases.map(([selection, namespace]) => {
    const seen: string[] = []
    store.watch({
      resource: boxes,
      namespace,
      matches: matcherOf(boxes, selection),
      deliver: ({ type, object }) => seen.push(`${type} ${object.key} ${object.revision}`),
    })
    return seen
  })
  const revisions = new Map<string, number>()
  for (let i = 0; i < 60; i++) {
    const name = `x${random(4)}`
    const namespace = ['n', 'm'][random(2)] as string
    const key = `${namespace}/${name}`
    const stored = random(5) === 0 ? store.read({ resource: boxes, namespace, name }) : undefined
    if (stored !== undefined) {
      await store.remove(stored)
      revisions.delete(key)
      continue
    }
    const objectLabels: Record<string, string> = {}
    for (const label of ['a', 'b']) if (random(3) > 0) objectLabels[label] = String(1 + random(3))
    const object = box(name, { namespace, labels: objectLabels, color: ['red', 'blue', ''][random(3)] as string })
    revisions.set(key, await put(store, object, revisions.get(key) ?? 0))
  }
  while (store.notifiedUpTo !== store.revision) await nextIteration()
  assert.ok(unindexed.some((seen) => seen.some((event) => event.startsWith('DELETED'))))
  for (const [i, [selection, namespace]] of cases.entries())
    assert.deepEqual(indexed[i], unindexed[i], `${selection.labels?.text} ${selection.fields?.text} in "${namespace}"`)
  store.close()
})

/** Blocks the event loop for the whole time budget. */
const blockEventLoop = (): void => {
  for (const until = performance.now() + 4; performance.now() < until; );
}

test('many watchers are notified over several iterations; later changes follow together, and a new watcher sees nothing twice', async () => {
  const store = await storeOfBoxes()
  const early = Array.from({ length: 20 }, () => watch(store, everything, { onEvents: blockEventLoop }))
  const first = await put(store, box('a'))
  assert.ok(early.filter((seen) => seen.length > 0).length < 20, 'all were notified in one iteration')
  // notifiedUpTo must not include pending changes.
  assert.equal(store.notifiedUpTo, first - 1)
  const between = watch(store, everything)
  const second = await put(store, box('b'))
  const third = await put(store, box('c'))
  const late = watch(store, everything)
  while (store.notifiedUpTo !== third) await nextIteration()
  const events = [[`ADDED boxes/n/a ${first}`], [`ADDED boxes/n/b ${second}`, `ADDED boxes/n/c ${third}`]]
  for (const seen of early) assert.deepEqual(seen, events.flat())
  assert.deepEqual([between, late], [events[1], []])
  store.close()
})

for (const { watchers, processes } of [
  { watchers: 100, processes: 1 },
  { watchers: 25, processes: 4 },
]) {
  test(`after ${watchers} watchers of each of ${processes} processes were notified, changes of their kind wait and follow together`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const store = await storeOfBoxes(0, processes)
    const many = Array.from({ length: watchers }, () => watch(store, everything))
    let batches = 0
    many.push(watch(store, everything, { onEvents: () => batches++ }))
    const until = async (isDone: () => boolean): Promise<void> => {
      while (!isDone()) await nextIteration()
    }
    await put(store, box('a'))
    await until(() => batches === 1)
    const second = await put(store, box('b'))
    const third = await put(store, box('c'))
    t.mock.timers.tick(3)
    await nextIteration()
    assert.equal(batches, 1)
    assert.equal(store.notifiedUpTo, second - 1)
    const late = watch(store, everything)
    t.mock.timers.tick(7)
    await until(() => store.notifiedUpTo === third)
    assert.equal(batches, 2)
    for (const seen of many) assert.equal(seen.length, 3)
    assert.deepEqual(late, [])
    store.close()
  })
}

// Many watchers of one collection: whoever asks for a name, a field or a label is looked up and sees what he would see if he were asked, many
// are told in several turns, and who comes meanwhile sees nothing twice.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFieldSelector } from '../api/field-selector.js'
import { compileLabelSelector } from '../api/label-selector.js'
import { box, boxes, put, storeOfBoxes } from './fixture.js'
import type { ObjectStore } from './object-store.js'
import { everything, matcherOf, type Selection } from './selection.js'

const select = (labels: string, fields = ''): Selection => ({
  labels: labels === '' ? undefined : compileLabelSelector(labels),
  fields: fields === '' ? undefined : parseFieldSelector(fields),
})

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** What a client sees: `ADDED name revision`. */
function watch(store: ObjectStore, selection: Selection, { namespace = '', told = (): void => undefined } = {}): string[] {
  const seen: string[] = []
  const stop = store.watch({
    resource: boxes,
    namespace,
    selection,
    matches: matcherOf(boxes, selection),
    take: ({ events }) => {
      told()
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

/** A number below `most`, from a seed. */
const randomly = (seed: number): ((most: number) => number) => {
  let state = seed
  return (most) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * most)
  }
}

test('of many questions each is answered as if it were the only one', async () => {
  const store = await storeOfBoxes()
  const random = randomly(7)
  const questions: (readonly [Selection, string])[] = []
  const labels = ['a=1', 'a=2', 'a in (1,3)', 'a', '!a', 'a!=1', 'b=1', 'b==2', 'b notin (1)', 'a=1,b=1', 'a=1,b', 'a=2,b!=1', 'a>1', '']
  const fields = ['', 'metadata.name=x1', 'metadata.name!=x1', 'color=red', 'color=', 'metadata.namespace=m', 'color=red,metadata.name=x2']
  for (const label of labels)
    for (const field of fields) for (const namespace of ['', 'n', 'm', 'nowhere']) questions.push([select(label, field), namespace])
  const many = questions.map(([selection, namespace]) => watch(store, selection, { namespace }))
  // The server's own watchers are asked one by one.
  const alone = questions.map(([selection, namespace]) => {
    const seen: string[] = []
    store.watch({
      resource: boxes,
      namespace,
      matches: matcherOf(boxes, selection),
      deliver: ({ type, object }) => seen.push(`${type} ${object.key} ${object.revision}`),
    })
    return seen
  })
  const known = new Map<string, number>()
  for (let i = 0; i < 60; i++) {
    const name = `x${random(4)}`
    const namespace = ['n', 'm'][random(2)] as string
    const key = `${namespace}/${name}`
    const stored = random(5) === 0 ? store.read({ resource: boxes, namespace, name }) : undefined
    if (stored !== undefined) {
      await store.remove(stored)
      known.delete(key)
      continue
    }
    const some: Record<string, string> = {}
    for (const label of ['a', 'b']) if (random(3) > 0) some[label] = String(1 + random(3))
    const made = box(name, { namespace, labels: some, color: ['red', 'blue', ''][random(3)] as string })
    known.set(key, await put(store, made, known.get(key) ?? 0))
  }
  while (store.toldUpTo !== store.revision) await nextTurn()
  assert.ok(alone.some((seen) => seen.some((event) => event.startsWith('DELETED'))))
  for (const [i, [selection, namespace]] of questions.entries())
    assert.deepEqual(many[i], alone[i], `${selection.labels?.text} ${selection.fields?.text} in "${namespace}"`)
  store.close()
})

test('those that ask for another name, label or namespace are not asked at all', async () => {
  const store = await storeOfBoxes()
  let asked = 0
  for (let i = 0; i < 500; i++) {
    const selection = [select('', `metadata.name=n${i}`), select(`a=v${i}`), select(`k${i}`), select('', `color=c${i}`), everything][i % 5]
    store.watch({
      resource: boxes,
      namespace: i % 5 === 4 ? `other${i}` : 'n',
      selection: selection as Selection,
      matches: () => {
        asked++
        return false
      },
      take: () => assert.fail(),
      end: () => undefined,
      fail: (thrown) => assert.fail(String(thrown)),
    })
  }
  const revision = await put(store, box('b', { labels: { a: 'none', kk: '' }, color: 'red' }))
  await put(store, box('b', { labels: { a: 'v1', k2: '' }, color: 'c3' }), revision)
  while (store.toldUpTo !== store.revision) await nextTurn()
  // Three are found by the second change, and asked before and after it.
  assert.equal(asked, 6)
  store.close()
})

/** Holds the event loop for as long as a piece of work may take. */
const dawdle = (): void => {
  for (const until = performance.now() + 4; performance.now() < until; );
}

test('very many are told in several turns, what is written meanwhile is told together, and who comes between sees nothing twice', async () => {
  const store = await storeOfBoxes()
  const early = Array.from({ length: 20 }, () => watch(store, everything, { told: dawdle }))
  const first = await put(store, box('a'))
  assert.ok(early.filter((seen) => seen.length > 0).length < 20, 'all were told in one turn')
  // Nobody may say that all is known up to now.
  assert.equal(store.toldUpTo, first - 1)
  const between = watch(store, everything)
  const second = await put(store, box('b'))
  const third = await put(store, box('c'))
  const late = watch(store, everything)
  while (store.toldUpTo !== third) await nextTurn()
  const events = [[`ADDED boxes/n/a ${first}`], [`ADDED boxes/n/b ${second}`, `ADDED boxes/n/c ${third}`]]
  for (const seen of early) assert.deepEqual(seen, events.flat())
  assert.deepEqual([between, late], [events[1], []])
  store.close()
})

test('very many are let go in several turns, and are told nothing from the first of them on', async () => {
  const store = await storeOfBoxes()
  let ends = 0
  let isOver = false
  for (let i = 0; i < 20; i++) {
    const stop = store.watch({
      resource: boxes,
      namespace: '',
      matches: undefined,
      take: () => assert.ok(!isOver),
      end: () => {
        dawdle()
        ends++
        stop()
      },
      fail: (thrown) => assert.fail(String(thrown)),
    })
  }
  store.endWatches()
  isOver = true
  assert.ok(ends < 20, 'all in one turn')
  assert.equal(store.toldUpTo, undefined)
  await put(store, box('a'))
  while (ends < 20) await nextTurn()
  assert.equal(store.toldUpTo, store.revision)
  assert.equal(store.watchers, 0)
  store.close()
})

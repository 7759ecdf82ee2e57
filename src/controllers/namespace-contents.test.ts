// What a namespace holds is deleted whatever it is, in pieces; what arrives in one that is gone, too, and what is in one that is there is not.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forbidden } from '../api/api-error.js'
import { systemClock } from '../base/clock.js'
import { SharedPieces } from '../base/pieces.js'
import { box, boxes, put } from '../objects/fixture.js'
import type { Engine } from '../verbs/engine.js'
import { stageOf } from './engine.fixture.js'
import type { Run } from './kit/loop.js'
import { deleteContents, deleteOrphans } from './namespace-contents.js'

const collections = [boxes]
const isStill = (): boolean => true
const runOf = (signal: AbortSignal = new AbortController().signal): Run => ({ signal, pieces: new SharedPieces() })

async function setUp(names: readonly string[], more: Partial<Engine> = {}): Promise<Engine> {
  const { engine } = await stageOf('cluster', systemClock)
  for (const name of names) await put(engine.store, box(name, { namespace: 'n' }))
  await put(engine.store, box('a', { namespace: 'other' }))
  return { ...engine, ...more }
}

test('all that a namespace holds is deleted, and nothing else', async () => {
  const engine = await setUp(Array.from({ length: 600 }, (_, index) => `b${index}`))
  const remaining = await deleteContents(engine, { name: 'n', collections, run: runOf(), isStill })
  assert.deepEqual(remaining, { objects: new Map(), finalizers: new Map(), failures: [] })
  assert.equal(engine.store.count(boxes, 'n'), 0)
  assert.equal(engine.store.count(boxes, 'other'), 1)
})

test('what is held is counted once it is marked, and is not written again', async () => {
  const engine = await setUp([])
  const held = box('held', { namespace: 'n' })
  await put(engine.store, { ...held, metadata: { ...held.metadata, finalizers: ['example.com/hold'] } })
  const first = await deleteContents(engine, { name: 'n', collections, run: runOf(), isStill })
  assert.deepEqual(first?.objects, new Map([['boxes', 1]]))
  assert.deepEqual(first?.finalizers, new Map([['example.com/hold', 1]]))
  const { revision } = engine.store
  assert.deepEqual(await deleteContents(engine, { name: 'n', collections, run: runOf(), isStill }), first)
  assert.equal(engine.store.revision, revision)
})

test('what another delete held for its dependents is let go', async () => {
  const engine = await setUp([])
  const going = box('going', { namespace: 'n' })
  const metadata = { ...going.metadata, finalizers: ['foregroundDeletion'], deletionTimestamp: '2020-01-01T00:00:00Z' }
  await put(engine.store, { ...going, metadata: { ...metadata, deletionGracePeriodSeconds: 0 } })
  await deleteContents(engine, { name: 'n', collections, run: runOf(), isStill })
  assert.equal(engine.store.count(boxes, 'n'), 0)
})

test('one that may not be deleted does not save the others', async () => {
  const validate: Engine['admission']['validate'] = ({ name }) => {
    if (name === 'b') throw forbidden(boxes.subject, name, 'it is precious')
  }
  const engine = await setUp(['a', 'b', 'c'], { admission: { mutate: () => undefined, validate } })
  const remaining = await deleteContents(engine, { name: 'n', collections, run: runOf(), isStill })
  assert.equal(engine.store.count(boxes, 'n'), 1)
  assert.equal(remaining?.failures.length, 1)
  assert.match(String(remaining?.failures[0]), /precious/)
})

test('a loop that ends stops on the way', async () => {
  const engine = await setUp(Array.from({ length: 600 }, (_, index) => `b${index}`))
  const ending = new AbortController()
  engine.store.watch({ resource: boxes, namespace: '', matches: undefined, deliver: () => ending.abort() })
  assert.equal(await deleteContents(engine, { name: 'n', collections, run: runOf(ending.signal), isStill }), undefined)
  assert.ok(engine.store.count(boxes, 'n') > 500)
})

test('objects without a namespace are deleted', async () => {
  const engine = await setUp(['a', 'b'])
  await deleteOrphans(engine, { name: 'n', collections, run: runOf(), isGone: () => true })
  assert.equal(engine.store.count(boxes, 'n'), 0)
  assert.equal(engine.store.count(boxes, 'other'), 1)
})

test('a namespace that is there again keeps what it has', async () => {
  const engine = await setUp(['a', 'b'])
  await deleteOrphans(engine, { name: 'n', collections, run: runOf(), isGone: () => false })
  assert.equal(engine.store.count(boxes, 'n'), 2)
})

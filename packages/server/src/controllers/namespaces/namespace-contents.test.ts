// Deletion of the contents of a namespace.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forbidden } from '@cluster-apiserver/api/api/api-error.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { box, boxes, put } from '../../objects/box-store.fixture.js'
import type { Engine } from '../../verbs/engine.js'
import type { Run } from '../framework/controller.js'
import { createTestEngine } from '../framework/engine.fixture.js'
import { deleteContents, deleteOrphans } from './namespace-contents.js'

const collections = [boxes]
const isStillTerminating = (): boolean => true
const runOf = (signal: AbortSignal = new AbortController().signal): Run => ({ signal, budget: new TurnBudget() })

async function setUp(names: readonly string[], more: Partial<Engine> = {}): Promise<Engine> {
  const { engine } = await createTestEngine('cluster', systemClock)
  for (const name of names) await put(engine.store, box(name, { namespace: 'n' }))
  await put(engine.store, box('a', { namespace: 'other' }))
  return { ...engine, ...more }
}

test('an object that waits for foreground deletion is deleted', async () => {
  const engine = await setUp([])
  const terminating = box('terminating', { namespace: 'n' })
  const metadata = { ...terminating.metadata, finalizers: ['foregroundDeletion'], deletionTimestamp: '2020-01-01T00:00:00Z' }
  await put(engine.store, { ...terminating, metadata: { ...metadata, deletionGracePeriodSeconds: 0 } })
  await deleteContents(engine, { name: 'n', collections, run: runOf(), isStillTerminating })
  assert.equal(engine.store.count(boxes, 'n'), 0)
})

test('a rejected deletion does not block the others', async () => {
  const validate: Engine['admission']['validate'] = async ({ name }) => {
    if (name === 'b') throw forbidden(boxes.subject, name, 'it is precious')
  }
  const engine = await setUp(['a', 'b', 'c'], { admission: { mutate: async () => undefined, validate } })
  const remaining = await deleteContents(engine, { name: 'n', collections, run: runOf(), isStillTerminating })
  assert.equal(engine.store.count(boxes, 'n'), 1)
  assert.equal(remaining?.failures.length, 1)
  assert.match(String(remaining?.failures[0]), /precious/)
})

test('objects of a deleted namespace are deleted', async () => {
  const engine = await setUp(['a', 'b'])
  await deleteOrphans(engine, { name: 'n', collections, run: runOf(), isDeleted: () => true })
  assert.equal(engine.store.count(boxes, 'n'), 0)
  assert.equal(engine.store.count(boxes, 'other'), 1)
})

test('objects of a namespace that was created again are kept', async () => {
  const engine = await setUp(['a', 'b'])
  await deleteOrphans(engine, { name: 'n', collections, run: runOf(), isDeleted: () => false })
  assert.equal(engine.store.count(boxes, 'n'), 2)
})

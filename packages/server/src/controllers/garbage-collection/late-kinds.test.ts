// Garbage collection with kinds that are added or removed at run time, a full queue, and rejected deletions.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { box, boxes, definition, put } from '../../objects/box-store.fixture.js'
import { Scenario } from './scenario.fixture.js'

const boxOwner = { name: 'x', fields: { kind: 'Box', uid: 'uid-1' } }

async function until(scenario: Scenario, isDone: () => boolean): Promise<void> {
  for (let i = 0; i < 10_000 && !isDone(); i++) await scenario.timers.advance(1000)
  assert.ok(isDone())
}

test('owners of a kind that is added later are checked then', async () => {
  const scenario = await Scenario.open()
  await put(scenario.testEngine.engine.store, box('x'))
  await scenario.create({ name: 'kept', owners: [boxOwner] })
  await scenario.create({ name: 'lost', owners: [{ name: 'y', fields: { kind: 'Box' } }] })
  await scenario.timers.advance(60_000)
  assert.deepEqual(scenario.remaining, ['kept', 'lost'])
  scenario.testEngine.catalogs.change({ put: [definition] })
  await until(scenario, () => scenario.remaining.length === 1)
  assert.deepEqual(scenario.remaining, ['kept'])
  await scenario.stop()
})

test('dependents are deleted although the kind or version of their owner was removed first', async () => {
  const scenario = await Scenario.open()
  const { engine, catalogs } = scenario.testEngine
  catalogs.change({ put: [definition] })
  await put(engine.store, box('x'))
  await scenario.create({ name: 'owned', owners: [boxOwner] })
  await scenario.create({ name: 'by-version', owners: [{ name: 'x', fields: { apiVersion: 'v9', kind: 'Box', uid: 'uid-1' } }] })
  await scenario.create({ name: 'of-unknown-kind', owners: [{ name: 'x', fields: { apiVersion: 'v9', kind: 'Other', uid: 'uid-1' } }] })
  await scenario.timers.advance(60_000)
  assert.deepEqual(scenario.remaining, ['by-version', 'of-unknown-kind', 'owned'])
  const owner = engine.store.read({ resource: boxes, namespace: 'n', name: 'x' })
  assert.ok(owner)
  await engine.store.remove(owner)
  catalogs.change({ remove: [definition] })
  await until(scenario, () => scenario.remaining.length === 1)
  assert.deepEqual(scenario.remaining, ['of-unknown-kind'])
  await scenario.stop()
})

test('existing and new dependents of a kind that is added later are deleted', async () => {
  const scenario = await Scenario.open()
  const { store } = scenario.testEngine.engine
  await scenario.create({ name: 'a' })
  const owned = (name: string) => ({
    ...box(name),
    metadata: {
      ...box(name).metadata,
      ownerReferences: [scenario.referenceTo('a') as { apiVersion: string; kind: string; name: string; uid: string }],
    },
  })
  await put(store, owned('before'))
  scenario.testEngine.catalogs.change({ put: [definition] })
  await put(store, owned('behind'))
  await scenario.timers.advance(5000)
  assert.equal(store.count(boxes, ''), 2)
  await scenario.remove('a')
  await until(scenario, () => store.count(boxes, '') === 0)
  await scenario.stop()
})

test('keys that did not fit into the queue are found by a scan', async () => {
  const scenario = await Scenario.open(undefined, 100)
  await Promise.all(Array.from({ length: 300 }, (_, i) => scenario.create({ name: `b${i}`, owners: [{ name: `missing-${i}` }] })))
  await until(scenario, () => scenario.count === 0)
  await scenario.stop()
})

test('a rejected deletion is retried and does not block the others', async () => {
  const scenario = await Scenario.open()
  await scenario.create({ name: 'a' })
  for (const name of ['b', 'c', 'd']) await scenario.create({ name, owners: ['a'] })
  let refusals = 0
  const { admission } = scenario.testEngine.engine
  Object.assign(admission, {
    validate: async ({ call }: { readonly call: { readonly name: string } }) => {
      if (call.name !== 'c' || refusals === 3) return undefined
      refusals += 1
      throw new Error('not this one')
    },
  })
  await scenario.remove('a')
  await scenario.timers.advance(350)
  assert.deepEqual(scenario.remaining, ['c'])
  await until(scenario, () => scenario.remaining.length === 0)
  assert.equal(refusals, 3)
  await scenario.stop()
})

test('without a garbage collector a foreground deletion does not wait', async () => {
  const scenario = await Scenario.open()
  await scenario.stop()
  Object.assign(scenario.testEngine.engine, { ignoresDependents: true })
  await scenario.create({ name: 'a' })
  await scenario.create({ name: 'b', owners: ['a'] })
  await scenario.remove('a', 'Foreground')
  assert.deepEqual(scenario.remaining, ['b'])
})

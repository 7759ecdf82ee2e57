// What loops write to heavy objects is carried out elsewhere, and here where nobody else knows of the object.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, notFound } from '../api/api-error.js'
import { systemClock } from '../base/clock.js'
import { box, boxes, put } from '../objects/fixture.js'
import type { Elsewhere, Engine } from '../verbs/engine.js'
import { stageOf } from './engine.fixture.js'
import { patchOwn, removeOwn } from './own-write.js'

const target = { resource: boxes, namespace: 'n', name: 'heavy' }
const data = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`key-${i}`, 'v']))

/** With one heavy object, and somebody elsewhere who carries requests out in this way. */
async function setUp(carryOut: (engine: Engine, path: string) => ReturnType<NonNullable<Elsewhere['carryOut']>>): Promise<Engine> {
  const { engine: stage } = await stageOf('cluster', systemClock)
  const engine: Engine = { ...stage, elsewhere: { carryOut: ({ path }) => carryOut(engine, path) } }
  await put(engine.store, { ...box('heavy', { namespace: 'n' }), data })
  return engine
}

const answer = (code: number, body: object) => Promise.resolve({ code, body: Buffer.from(JSON.stringify(body)) })
const unknown = () => answer(404, notFound(boxes.subject, 'heavy').status)

test('a heavy object is deleted by a request', async () => {
  const paths: string[] = []
  const engine = await setUp(async ({ store }, path) => {
    paths.push(path)
    await store.remove(store.read(target) as NonNullable<ReturnType<typeof store.read>>)
    return answer(200, {})
  })
  assert.equal(await removeOwn(engine, target), true)
  assert.deepEqual(paths, ['/api/v1/namespaces/n/boxes/heavy'])
})

test('one that nobody serves is deleted here: that it is not found elsewhere does not mean that it is gone', async () => {
  const engine = await setUp(unknown)
  assert.equal(await removeOwn(engine, target), true)
  assert.equal(engine.store.count(boxes, 'n'), 0)
})

test('one that nobody serves is changed here', async () => {
  const engine = await setUp(unknown)
  const revision = await patchOwn(engine, target, { metadata: { labels: { a: 'b' } } })
  const stored = engine.store.read(target)
  assert.equal(stored?.revision, revision)
  assert.deepEqual(stored?.decode(boxes).metadata?.labels, { a: 'b' })
})

test('one that is gone is not found', async () => {
  const engine = await setUp(async ({ store }) => {
    await store.remove(store.read(target) as NonNullable<ReturnType<typeof store.read>>)
    return unknown()
  })
  await assert.rejects(removeOwn(engine, target), (thrown: unknown) => thrown instanceof ApiError && thrown.status.code === 404)
})

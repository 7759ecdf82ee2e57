// The config map with the root certificates: there for whoever asks for it, mended when it is changed, new when they are.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, forbidden, unavailable } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import type { IdentityName } from '../api/identity.js'
import { type ApiObject, members } from '../api/object.js'
import { systemClock } from '../base/clock.js'
import { silentLogger } from '../base/logger.js'
import { create } from '../verbs/create.js'
import { remove } from '../verbs/delete.js'
import { get } from '../verbs/get.js'
import { update } from '../verbs/update.js'
import { stageOf } from './engine.fixture.js'
import type { LoopParts } from './kit/loop.js'
import { FakeTimers, flushTurns } from './kit/timers.fixture.js'
import { ownCall } from './own-call.js'
import { publishRootCa, type RootCa, rootCaMaps } from './root-ca.js'

async function setUp(identity: IdentityName = 'cluster') {
  const { engine, catalog, catalogs } = await stageOf(identity, systemClock)
  const [namespaces, maps] = ['namespaces', 'configmaps'].map((name) => catalog.find('', 'v1', name) as Resource)
  assert.ok(namespaces !== undefined && maps !== undefined)
  const timers = new FakeTimers()
  const parts: LoopParts = { engine, catalogs, logger: silentLogger, timers }
  const ca = { pem: 'first', listeners: new Set<() => void>() }
  const rootCa: RootCa = {
    pem: () => ca.pem,
    onChange: (listener) => {
      ca.listeners.add(listener)
      return () => ca.listeners.delete(listener)
    },
  }
  publishRootCa(engine, catalogs, rootCa)
  const loop = rootCaMaps(rootCa)
  const make = (name: string): Promise<unknown> =>
    create(engine, ownCall(engine, { resource: namespaces, name }), { object: { metadata: { name } } })
  const callOf = (namespace: string) => ownCall(engine, { resource: maps, namespace, name: engine.identity.prefixed('root-ca.crt') })
  const read = (namespace: string): ApiObject | undefined =>
    engine.store.read({ resource: maps, namespace, name: engine.identity.prefixed('root-ca.crt') })?.decode(maps)
  /** As a client asks for it. */
  const ask = async (namespace: string): Promise<void> => void (await get(engine, callOf(namespace), { version: { mode: 'any' } }))
  const change = async (namespace: string, changes: object): Promise<void> => {
    await update(engine, callOf(namespace), { object: { ...read(namespace), ...changes } })
  }
  const dataOf = (namespace: string): unknown => members(read(namespace) ?? {})['data']
  return { engine, parts, timers, ca, loop, make, ask, callOf, read, change, dataOf }
}

for (const [identity, name] of [
  ['cluster', 'cluster-root-ca.crt'],
  ['kubernetes', 'kube-root-ca.crt'],
] as const) {
  test(`whoever asks for ${name} finds it in every namespace, and lists show it from then on`, async () => {
    const { make, ask, read, dataOf } = await setUp(identity)
    await make('n')
    assert.equal(read('n'), undefined)
    await Promise.all([ask('n'), ask('n')])
    assert.equal(read('n')?.metadata?.name, name)
    assert.deepEqual(dataOf('n'), { 'ca.crt': 'first' })
  })
}

test('one with thousands of labels is mended, and keeps them', async () => {
  const { parts, timers, loop, make, ask, change, read, dataOf } = await setUp()
  await make('n')
  const running = loop(parts)
  await ask('n')
  const labels = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`label-${i}`, `value-${i}`]))
  await change('n', { metadata: { ...read('n')?.metadata, labels }, data: { 'ca.crt': 'forged' }, binaryData: { more: 'eA==' } })
  await timers.advance(1000)
  await flushTurns()
  assert.deepEqual([dataOf('n'), members(read('n') ?? {})['binaryData']], [{ 'ca.crt': 'first' }, undefined])
  assert.deepEqual(read('n')?.metadata?.labels, labels)
  await running.close()
})

test('it is mended after a moment when it is changed, and let be when it is right', async () => {
  const { engine, parts, timers, loop, make, ask, callOf, change, dataOf } = await setUp()
  await make('n')
  const running = loop(parts)
  await ask('n')
  await change('n', { data: { 'ca.crt': 'forged', more: 'x' } })
  await flushTurns()
  assert.deepEqual(dataOf('n'), { 'ca.crt': 'forged', more: 'x' })
  await timers.advance(1000)
  assert.deepEqual(dataOf('n'), { 'ca.crt': 'first' })
  await remove(engine, callOf('n'))
  await timers.advance(1000)
  assert.equal(dataOf('n'), undefined)
  await ask('n')
  assert.deepEqual(dataOf('n'), { 'ca.crt': 'first' })
  await change('n', { data: { 'ca.crt': 'forged' }, immutable: true })
  await timers.advance(1000)
  await ask('n')
  assert.deepEqual(dataOf('n'), { 'ca.crt': 'first' })
  await timers.advance(1000)
  const { revision } = engine.store
  await timers.advance(3_600_000)
  assert.equal(engine.store.revision, revision)
  await running.close()
})

test('labels of others stay when it is mended', async () => {
  const { parts, timers, loop, make, ask, read, change } = await setUp()
  await make('n')
  await ask('n')
  const running = loop(parts)
  await flushTurns()
  await change('n', { metadata: { ...read('n')?.metadata, labels: { mine: 'yes' } }, data: {} })
  await timers.advance(1000)
  assert.deepEqual(read('n')?.metadata?.labels, { mine: 'yes' })
  await running.close()
})

test('new certificates reach every map, and nobody is told of them after the end', async () => {
  const { parts, ca, loop, make, ask, dataOf } = await setUp()
  for (const namespace of ['a', 'b']) {
    await make(namespace)
    await ask(namespace)
  }
  const running = loop(parts)
  await flushTurns()
  ca.pem = 'second'
  for (const listener of ca.listeners) listener()
  await flushTurns()
  assert.deepEqual([dataOf('a'), dataOf('b')], [{ 'ca.crt': 'second' }, { 'ca.crt': 'second' }])
  await running.close()
  assert.equal(ca.listeners.size, 0)
})

test('where the store cannot write, the map is missing', async (t) => {
  const { engine, make, ask } = await setUp()
  await make('n')
  const put = t.mock.method(engine.store, 'put', () => Promise.reject(unavailable('the store cannot write now')))
  const isMissing = (thrown: unknown): boolean => thrown instanceof ApiError && thrown.status.code === 404
  await assert.rejects(ask('n'), isMissing)
  assert.equal(put.mock.callCount(), 1)
  put.mock.restore()
  await ask('n')
})

test('where it may not be mended, that is tried again; where it may not be made, it is missing', async () => {
  const { engine, parts, timers, ca, loop, make, ask, dataOf } = await setUp()
  for (const namespace of ['n', 'm']) await make(namespace)
  await ask('n')
  let refuses = true
  const validate = engine.admission.validate
  Object.assign(engine.admission, {
    validate: ({ resource, name }: { readonly resource: Resource; readonly name: string }) => {
      if (refuses) throw forbidden(resource.subject, name, 'no')
    },
  })
  await assert.rejects(ask('m'), (thrown: unknown) => thrown instanceof ApiError && thrown.status.code === 404)
  ca.pem = 'second'
  const running = loop(parts)
  await flushTurns()
  assert.deepEqual(dataOf('n'), { 'ca.crt': 'first' })
  refuses = false
  await timers.advance(60_000)
  assert.deepEqual(dataOf('n'), { 'ca.crt': 'second' })
  Object.assign(engine.admission, { validate })
  await running.close()
})

// The root CA ConfigMap: created on demand, repaired after changes, updated with new certificates.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, forbidden } from '@cluster-apiserver/api/api/api-error.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { IdentityName } from '@cluster-apiserver/api/api/identity.js'
import { type ApiObject, members } from '@cluster-apiserver/api/api/object.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { create } from '../../verbs/create.js'
import { remove } from '../../verbs/delete.js'
import { get } from '../../verbs/get.js'
import { update } from '../../verbs/update.js'
import type { ControllerParts } from '../framework/controller.js'
import { createTestEngine } from '../framework/engine.fixture.js'
import { internalCall } from '../framework/internal-call.js'
import { FakeTimers, flushTurns } from '../framework/timers.fixture.js'
import { publishRootCa, type RootCa, rootCaConfigMaps } from './root-ca-config-map.js'

async function setUp(identity: IdentityName = 'cluster') {
  const { engine, catalog, catalogs } = await createTestEngine(identity, systemClock)
  const [namespaces, maps] = ['namespaces', 'configmaps'].map((name) => catalog.find('', 'v1', name) as Resource)
  assert.ok(namespaces !== undefined && maps !== undefined)
  const timers = new FakeTimers()
  const parts: ControllerParts = { engine, catalogs, logger: silentLogger, timers }
  const ca = { pem: 'first', listeners: new Set<() => void>() }
  const rootCa: RootCa = {
    pem: () => ca.pem,
    onChange: (listener) => {
      ca.listeners.add(listener)
      return () => ca.listeners.delete(listener)
    },
  }
  publishRootCa(engine, catalogs, rootCa)
  const controller = rootCaConfigMaps(rootCa)
  const createNamespace = (name: string): Promise<unknown> =>
    create(engine, internalCall(engine, { resource: namespaces, name }), { object: { metadata: { name } } })
  const callOf = (namespace: string) => internalCall(engine, { resource: maps, namespace, name: engine.identity.prefixed('root-ca.crt') })
  const read = (namespace: string): ApiObject | undefined =>
    engine.store.read({ resource: maps, namespace, name: engine.identity.prefixed('root-ca.crt') })?.decode(maps)
  const getMap = async (namespace: string): Promise<void> => void (await get(engine, callOf(namespace), { version: { mode: 'any' } }))
  const change = async (namespace: string, changes: object): Promise<void> => {
    await update(engine, callOf(namespace), { object: { ...read(namespace), ...changes } })
  }
  const dataOf = (namespace: string): unknown => members(read(namespace) ?? {})['data']
  return { engine, parts, timers, ca, controller, createNamespace, getMap, callOf, read, change, dataOf }
}

for (const [identity, name] of [
  ['cluster', 'cluster-root-ca.crt'],
  ['kubernetes', 'kube-root-ca.crt'],
] as const) {
  test(`the first GET creates ${name} in a namespace`, async () => {
    const { createNamespace, getMap, read, dataOf } = await setUp(identity)
    await createNamespace('n')
    assert.equal(read('n'), undefined)
    await Promise.all([getMap('n'), getMap('n')])
    assert.equal(read('n')?.metadata?.name, name)
    assert.deepEqual(dataOf('n'), { 'ca.crt': 'first' })
  })
}

test('is repaired after a change, created again after a deletion, and otherwise not written', async () => {
  const { engine, parts, timers, controller, createNamespace, getMap, callOf, change, dataOf } = await setUp()
  await createNamespace('n')
  const running = controller(parts)
  await getMap('n')
  await change('n', { data: { 'ca.crt': 'forged', more: 'x' } })
  await flushTurns()
  assert.deepEqual(dataOf('n'), { 'ca.crt': 'forged', more: 'x' })
  await timers.advance(1000)
  assert.deepEqual(dataOf('n'), { 'ca.crt': 'first' })
  await remove(engine, callOf('n'))
  await timers.advance(1000)
  assert.equal(dataOf('n'), undefined)
  await getMap('n')
  assert.deepEqual(dataOf('n'), { 'ca.crt': 'first' })
  await change('n', { data: { 'ca.crt': 'forged' }, immutable: true })
  await timers.advance(1000)
  await getMap('n')
  assert.deepEqual(dataOf('n'), { 'ca.crt': 'first' })
  await timers.advance(1000)
  const { revision } = engine.store
  await timers.advance(3_600_000)
  assert.equal(engine.store.revision, revision)
  await running.close()
})

test('a repair keeps labels', async () => {
  const { parts, timers, controller, createNamespace, getMap, read, change } = await setUp()
  await createNamespace('n')
  await getMap('n')
  const running = controller(parts)
  await flushTurns()
  await change('n', { metadata: { ...read('n')?.metadata, labels: { mine: 'yes' } }, data: {} })
  await timers.advance(1000)
  assert.deepEqual(read('n')?.metadata?.labels, { mine: 'yes' })
  await running.close()
})

test('new certificates are written to every ConfigMap; close unsubscribes', async () => {
  const { parts, ca, controller, createNamespace, getMap, dataOf } = await setUp()
  for (const namespace of ['a', 'b']) {
    await createNamespace(namespace)
    await getMap(namespace)
  }
  const running = controller(parts)
  await flushTurns()
  ca.pem = 'second'
  for (const listener of ca.listeners) listener()
  await flushTurns()
  assert.deepEqual([dataOf('a'), dataOf('b')], [{ 'ca.crt': 'second' }, { 'ca.crt': 'second' }])
  await running.close()
  assert.equal(ca.listeners.size, 0)
})

test('a rejected repair is retried; a rejected creation is a 404', async () => {
  const { engine, parts, timers, ca, controller, createNamespace, getMap, dataOf } = await setUp()
  for (const namespace of ['n', 'm']) await createNamespace(namespace)
  await getMap('n')
  let isRejecting = true
  const validate = engine.admission.validate
  Object.assign(engine.admission, {
    validate: ({ resource, name }: { readonly resource: Resource; readonly name: string }) => {
      if (isRejecting) throw forbidden(resource.subject, name, 'no')
    },
  })
  await assert.rejects(getMap('m'), (thrown: unknown) => thrown instanceof ApiError && thrown.status.code === 404)
  ca.pem = 'second'
  const running = controller(parts)
  await flushTurns()
  assert.deepEqual(dataOf('n'), { 'ca.crt': 'first' })
  isRejecting = false
  await timers.advance(60_000)
  assert.deepEqual(dataOf('n'), { 'ca.crt': 'second' })
  Object.assign(engine.admission, { validate })
  await running.close()
})

// The default service account of every namespace.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, forbidden } from '@cluster-apiserver/api/api/api-error.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { create } from '../../verbs/create.js'
import { remove } from '../../verbs/delete.js'
import type { ControllerParts } from '../framework/controller.js'
import { createTestEngine } from '../framework/engine.fixture.js'
import { internalCall } from '../framework/internal-call.js'
import { FakeTimers, flushTurns } from '../framework/timers.fixture.js'
import { defaultServiceAccounts } from './default-service-account.js'

async function setUp() {
  const { engine, catalog, catalogs } = await createTestEngine('cluster', systemClock)
  const [namespaces, accounts] = ['namespaces', 'serviceaccounts'].map((name) => catalog.find('', 'v1', name) as Resource)
  assert.ok(namespaces !== undefined && accounts !== undefined)
  const timers = new FakeTimers()
  const parts: ControllerParts = { engine, catalogs, logger: silentLogger, timers }
  const createNamespace = (name: string): Promise<unknown> =>
    create(engine, internalCall(engine, { resource: namespaces, name }), { object: { metadata: { name } } })
  const deleteAccount = (namespace: string): Promise<unknown> =>
    remove(engine, internalCall(engine, { resource: accounts, namespace, name: 'default' }))
  const count = (namespace: string): number => engine.store.count(accounts, namespace)
  return { engine, parts, timers, createNamespace, deleteAccount, count }
}

test('existing and new namespaces get an account, also after its deletion', async () => {
  const { parts, timers, createNamespace, deleteAccount, count } = await setUp()
  await createNamespace('old')
  const controller = defaultServiceAccounts(parts)
  await createNamespace('new')
  await flushTurns()
  assert.deepEqual([count('old'), count('new')], [1, 1])
  await deleteAccount('old')
  await timers.advance(50)
  assert.deepEqual([count('old'), count('new')], [0, 1])
  await timers.advance(100)
  assert.deepEqual([count('old'), count('new')], [1, 1])
  await controller.close()
  await deleteAccount('old')
  await timers.advance(1000)
  assert.equal(count('old'), 0)
})

test('creation is retried after a rejection, and not in a terminating namespace', async () => {
  const { engine, parts, timers, createNamespace, count } = await setUp()
  await createNamespace('n')
  await createNamespace('terminating')
  let isRejecting = true
  let attempts = 0
  const mutate = async ({
    namespace,
    resource,
    name,
  }: {
    readonly namespace: string
    readonly resource: Resource
    readonly name: string
  }): Promise<undefined> => {
    const { status } = forbidden(resource.subject, name, 'no')
    if (namespace === 'n' && isRejecting) throw new ApiError(status)
    if (namespace === 'n') return
    attempts += 1
    throw new ApiError({ ...status, details: { ...status.details, causes: [{ reason: 'NamespaceTerminating' }] } })
  }
  const controller = defaultServiceAccounts({ ...parts, engine: { ...engine, admission: { ...engine.admission, mutate } } })
  await flushTurns()
  await timers.advance(5000)
  assert.equal(count('n'), 0)
  isRejecting = false
  await timers.advance(60_000)
  assert.deepEqual([count('n'), count('terminating'), attempts], [1, 0, 1])
  await controller.close()
})

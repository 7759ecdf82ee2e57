// The account of every namespace: in those that are there, in those that come, and again when it was deleted.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, forbidden, unavailable } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import { systemClock } from '../base/clock.js'
import { silentLogger } from '../base/logger.js'
import { create } from '../verbs/create.js'
import { remove } from '../verbs/delete.js'
import { defaultAccounts } from './default-accounts.js'
import { stageOf } from './engine.fixture.js'
import type { LoopParts } from './kit/loop.js'
import { FakeTimers, flushTurns } from './kit/timers.fixture.js'
import { ownCall } from './own-call.js'

async function setUp() {
  const { engine, catalog, catalogs } = await stageOf('cluster', systemClock)
  const [namespaces, accounts] = ['namespaces', 'serviceaccounts'].map((name) => catalog.find('', 'v1', name) as Resource)
  assert.ok(namespaces !== undefined && accounts !== undefined)
  const timers = new FakeTimers()
  const parts: LoopParts = { engine, catalogs, logger: silentLogger, timers }
  const make = (name: string): Promise<unknown> =>
    create(engine, ownCall(engine, { resource: namespaces, name }), { object: { metadata: { name } } })
  const take = (namespace: string): Promise<unknown> => remove(engine, ownCall(engine, { resource: accounts, namespace, name: 'default' }))
  const count = (namespace: string): number => engine.store.count(accounts, namespace)
  return { engine, parts, timers, make, take, count }
}

test('each namespace gets one, and gets it back', async () => {
  const { parts, timers, make, take, count } = await setUp()
  await make('old')
  const loop = defaultAccounts(parts)
  await make('new')
  await flushTurns()
  assert.deepEqual([count('old'), count('new')], [1, 1])
  await take('old')
  await timers.advance(50)
  assert.deepEqual([count('old'), count('new')], [0, 1])
  await timers.advance(100)
  assert.deepEqual([count('old'), count('new')], [1, 1])
  await loop.close()
  await take('old')
  await timers.advance(1000)
  assert.equal(count('old'), 0)
})

test('a store that cannot write is asked again', async () => {
  const { engine, parts, timers, make, count } = await setUp()
  await make('n')
  let refusals = 2
  const mutate = (): undefined => {
    if (refusals-- > 0) throw unavailable('not now')
  }
  const loop = defaultAccounts({ ...parts, engine: { ...engine, admission: { ...engine.admission, mutate } } })
  await flushTurns()
  assert.equal(count('n'), 0)
  await timers.advance(2000)
  assert.equal(count('n'), 1)
  await loop.close()
})

test('one whom a policy refuses is made when it may be, and not where the namespace is going', async () => {
  const { engine, parts, timers, make, count } = await setUp()
  await make('n')
  await make('going')
  let refuses = true
  let attempts = 0
  const mutate = ({
    namespace,
    resource,
    name,
  }: {
    readonly namespace: string
    readonly resource: Resource
    readonly name: string
  }): undefined => {
    const { status } = forbidden(resource.subject, name, 'no')
    if (namespace === 'n' && refuses) throw new ApiError(status)
    if (namespace === 'n') return
    attempts += 1
    throw new ApiError({ ...status, details: { ...status.details, causes: [{ reason: 'NamespaceTerminating' }] } })
  }
  const loop = defaultAccounts({ ...parts, engine: { ...engine, admission: { ...engine.admission, mutate } } })
  await flushTurns()
  await timers.advance(5000)
  assert.equal(count('n'), 0)
  refuses = false
  await timers.advance(60_000)
  assert.deepEqual([count('n'), count('going'), attempts], [1, 0, 1])
  await loop.close()
})

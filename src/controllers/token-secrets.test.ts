// Secrets of accounts that are gone go with them, also where somebody refuses that for a while.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forbidden } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { systemClock } from '../base/clock.js'
import { silentLogger } from '../base/logger.js'
import { decodedWhole } from '../objects/decoded-whole.fixture.js'
import { create } from '../verbs/create.js'
import { remove } from '../verbs/delete.js'
import type { Engine, OwnRequest } from '../verbs/engine.js'
import { stageOf } from './engine.fixture.js'
import { FakeTimers, flushTurns } from './kit/timers.fixture.js'
import { ownCall } from './own-call.js'
import { tokenSecrets } from './token-secrets.js'

test('a secret that may not be deleted stays until it may be, and does not save the others', async () => {
  const { engine, catalog, catalogs } = await stageOf('cluster', systemClock)
  const [secrets, accounts] = ['secrets', 'serviceaccounts'].map((name) => catalog.find('', 'v1', name) as Resource)
  assert.ok(secrets !== undefined && accounts !== undefined)
  const timers = new FakeTimers()
  const account = ownCall(engine, { resource: accounts, namespace: 'n', name: 'robot' })
  await create(engine, account, { object: { metadata: { name: 'robot' } } })
  const { identity } = engine
  for (const name of ['a', 'b', 'c']) {
    const metadata = { name, annotations: { [identity.label('service-account.name')]: 'robot' } }
    const object = { metadata, type: identity.label('service-account-token') } as ApiObject
    await create(engine, ownCall(engine, { resource: secrets, namespace: 'n', name }), { object })
  }
  let refuses = true
  Object.assign(engine.admission, {
    validate: ({ resource, name }: { readonly resource: Resource; readonly name: string }) => {
      if (refuses && name === 'a') throw forbidden(resource.subject, name, 'no')
    },
  })
  const loop = tokenSecrets({ pem: () => 'ca', onChange: () => () => undefined })({ engine, catalogs, logger: silentLogger, timers })
  await flushTurns()
  assert.equal(engine.store.count(secrets, 'n'), 3)
  await remove(engine, account)
  await timers.advance(5000)
  assert.equal(engine.store.count(secrets, 'n'), 1)
  refuses = false
  await timers.advance(60_000)
  assert.equal(engine.store.count(secrets, 'n'), 0)
  await loop.close()
})

test('of secrets and accounts with thousands of labels these are not looked at, and what is heavy is written elsewhere', async (t) => {
  const { engine: stage, catalog, catalogs } = await stageOf('cluster', systemClock)
  const { identity, store } = stage
  const requests: OwnRequest[] = []
  const carryOut = (request: OwnRequest) => {
    requests.push(request)
    return Promise.resolve({ code: 200, body: Buffer.from('{}') })
  }
  const issuer = { issueForSecret: async () => 'issued' } as unknown as NonNullable<Engine['issuer']>
  const engine: Engine = { ...stage, issuer, elsewhere: { carryOut } }
  const labels = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`label-${i}`, 'x']))
  const put = async (plural: string, name: string, { metadata, ...object }: ApiObject): Promise<void> => {
    const resource = catalog.find('', 'v1', plural) as Resource
    const own = { name, namespace: 'n', uid: `uid-${name}`, creationTimestamp: '2020-01-01T00:00:00Z', labels, ...metadata }
    await store.put({ resource, namespace: 'n', name }, store.encode(resource, { metadata: own, ...object } as ApiObject), { expect: 0 })
  }
  await put('serviceaccounts', 'heavy', {})
  for (const account of ['heavy', 'nobody']) {
    const annotations = { [identity.label('service-account.name')]: account, other: 'x' }
    const rest = { type: identity.label('service-account-token'), data: { mine: 'eA==' } }
    await put('secrets', `of-${account}-heavy`, { metadata: { annotations }, ...rest } as ApiObject)
  }
  const decoded = decodedWhole(t)
  const timers = new FakeTimers()
  const loop = tokenSecrets({ pem: () => 'ca', onChange: () => () => undefined })({ engine, catalogs, logger: silentLogger, timers })
  for (let i = 0; i < 20 && requests.length < 2; i++) await timers.advance(500)
  await loop.close()
  assert.deepEqual(decoded, [])
  const [filled, removed] = requests.toSorted((a, b) => (a.method < b.method ? 1 : -1))
  assert.deepEqual([filled?.method, filled?.path], ['PATCH', '/api/v1/namespaces/n/secrets/of-heavy-heavy'])
  const encoded = (text: string): string => Buffer.from(text).toString('base64')
  const { metadata, data } = JSON.parse(filled?.body ?? '')
  assert.deepEqual(data, { 'ca.crt': encoded('ca'), namespace: encoded('n'), token: encoded('issued') })
  assert.deepEqual(metadata.annotations, { [identity.label('service-account.uid')]: 'uid-heavy' })
  assert.deepEqual([removed?.method, removed?.path], ['DELETE', '/api/v1/namespaces/n/secrets/of-nobody-heavy'])
})

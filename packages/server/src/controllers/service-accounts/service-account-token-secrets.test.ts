// Deletion of token Secrets with their service account.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forbidden } from '@cluster-apiserver/api/api/api-error.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { create } from '../../verbs/create.js'
import { remove } from '../../verbs/delete.js'
import { createTestEngine } from '../framework/engine.fixture.js'
import { internalCall } from '../framework/internal-call.js'
import { FakeTimers, flushTurns } from '../framework/timers.fixture.js'
import { serviceAccountTokenSecrets } from './service-account-token-secrets.js'

test('a rejected deletion is retried and does not block the others', async () => {
  const { engine, catalog, catalogs } = await createTestEngine('cluster', systemClock)
  const [secrets, accounts] = ['secrets', 'serviceaccounts'].map((name) => catalog.find('', 'v1', name) as Resource)
  assert.ok(secrets !== undefined && accounts !== undefined)
  const timers = new FakeTimers()
  const account = internalCall(engine, { resource: accounts, namespace: 'n', name: 'robot' })
  await create(engine, account, { object: { metadata: { name: 'robot' } } })
  const { identity } = engine
  for (const name of ['a', 'b', 'c']) {
    const metadata = { name, annotations: { [identity.label('service-account.name')]: 'robot' } }
    const object = { metadata, type: identity.label('service-account-token') } as ApiObject
    await create(engine, internalCall(engine, { resource: secrets, namespace: 'n', name }), { object })
  }
  let isRejecting = true
  Object.assign(engine.admission, {
    validate: ({ resource, name }: { readonly resource: Resource; readonly name: string }) => {
      if (isRejecting && name === 'a') throw forbidden(resource.subject, name, 'no')
    },
  })
  const controller = serviceAccountTokenSecrets({ pem: () => 'ca', onChange: () => () => undefined })({
    engine,
    catalogs,
    logger: silentLogger,
    timers,
  })
  await flushTurns()
  assert.equal(engine.store.count(secrets, 'n'), 3)
  await remove(engine, account)
  await timers.advance(5000)
  assert.equal(engine.store.count(secrets, 'n'), 1)
  isRejecting = false
  await timers.advance(60_000)
  assert.equal(engine.store.count(secrets, 'n'), 0)
  await controller.close()
})

// Secrets of accounts that are gone go with them, also where somebody refuses that for a while.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forbidden } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { systemClock } from '../base/clock.js'
import { silentLogger } from '../base/logger.js'
import { create } from '../verbs/create.js'
import { remove } from '../verbs/delete.js'
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

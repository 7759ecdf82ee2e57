// The identity lease: name, renewal, takeover by the next start.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { members } from '@cluster-apiserver/api/api/object.js'
import { everything } from '../../objects/list/selection.js'
import { apiServerLease, base32 } from '../bootstrap/apiserver-objects.js'
import { ensureObjects } from '../bootstrap/ensure-objects.js'
import { createTestEngine } from '../framework/engine.fixture.js'
import { FakeTimers } from '../framework/timers.fixture.js'
import { ApiServerLease } from './apiserver-lease.js'

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

test('lease names are base32 in lower case without padding', () => {
  assert.equal(base32(Buffer.from('foobar')), 'mzxw6ytboi')
  assert.equal(base32(Buffer.from('f')), 'my')
  assert.equal(base32(Buffer.alloc(16)).length, 26)
})

test('the lease is renewed until close, and taken over by the next start', async () => {
  let now = Date.parse('2024-01-01T00:00:00Z')
  const { engine, catalog, catalogs } = await createTestEngine('cluster', { now: () => now })
  const resource = catalog.find('coordination.cluster.io', 'v1', 'leases') as Resource
  const leases = () =>
    [...engine.store.readAll({ resource, namespace: '', selection: everything, limit: 0 }).objects()].map(
      (stored) => members(stored.decode(resource))['spec'],
    )
  const self = { hostname: 'here', holder: 'first', leaseSeconds: 3600 }
  await ensureObjects(engine, catalog, [apiServerLease(engine.identity, { ...self, now })])
  const timers = new FakeTimers()
  const lease = new ApiServerLease({ engine, catalogs, logger: silent, self, renewMs: 10_000, timers })
  now += 900_000
  const isRenewed = () => JSON.stringify(leases()).includes('2024-01-01T00:15:00.000000Z')
  await timers.advance(9_999)
  assert.ok(!isRenewed())
  await timers.advance(1)
  assert.ok(isRenewed())
  await lease.close()
  assert.equal(leases().length, 1)
  now += 900_000
  await timers.advance(60_000)
  assert.ok(isRenewed(), 'no renewal after close')
  await ensureObjects(engine, catalog, [apiServerLease(engine.identity, { ...self, holder: 'second', now })])
  assert.equal(leases().length, 1, 'the next start on this machine takes it over')
  assert.match(JSON.stringify(leases()), /cluster-apiserver-[a-z2-7]{26}_second/)
})

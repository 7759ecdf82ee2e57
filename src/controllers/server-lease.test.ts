// The lease of a server is renewed while it runs, and by nobody after that.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Resource } from '../api/catalog.js'
import { members } from '../api/object.js'
import { everything } from '../objects/selection.js'
import { base32, ownLease } from './bootstrap/own-objects.js'
import { placeAll } from './bootstrap/place.js'
import { stageOf } from './engine.fixture.js'
import { ServerLease } from './server-lease.js'

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

test('names of leases: small letters and digits, as others compute them', () => {
  assert.equal(base32(Buffer.from('foobar')), 'mzxw6ytboi')
  assert.equal(base32(Buffer.from('f')), 'my')
  assert.equal(base32(Buffer.alloc(16)).length, 26)
})

test('a lease is taken, renewed, and let be', async () => {
  let now = Date.parse('2024-01-01T00:00:00Z')
  const { engine, catalog, catalogs } = await stageOf('cluster', { now: () => now })
  const resource = catalog.find('coordination.cluster.io', 'v1', 'leases') as Resource
  const leases = () =>
    [...engine.store.list({ resource, namespace: '', selection: everything, limit: 0 }).objects()].map(
      (stored) => members(stored.decode(resource))['spec'],
    )
  const named = { hostname: 'here', holder: 'first', leaseSeconds: 3600 }
  await placeAll(engine, catalog, [ownLease(engine.identity, { ...named, now })])
  const lease = new ServerLease({ engine, catalogs, logger: silent, self: named, renewMs: 5 })
  now += 900_000
  const isRenewed = () => JSON.stringify(leases()).includes('2024-01-01T00:15:00.000000Z')
  for (let i = 0; i < 12_000 && !isRenewed(); i++) await setTimeout(5)
  assert.ok(isRenewed())
  await lease.close()
  assert.equal(leases().length, 1)
  now += 900_000
  await setTimeout(20)
  assert.ok(isRenewed(), 'nobody renews it now')
  await placeAll(engine, catalog, [ownLease(engine.identity, { ...named, holder: 'second', now })])
  assert.equal(leases().length, 1, 'the next start on this machine takes it over')
  assert.match(JSON.stringify(leases()), /cluster-apiserver-[a-z2-7]{26}_second/)
})

// Leases of servers go when they have ended for a while; those of others are left alone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../api/catalog.js'
import { silentLogger } from '../base/logger.js'
import { stageOf } from './engine.fixture.js'
import { expiredLeases } from './expired-leases.js'
import { FakeTimers } from './kit/timers.fixture.js'
import { RawObjects } from './raw-objects.fixture.js'

const beginMs = Date.parse('2026-01-01T00:00:00Z')
const renewTime = '2026-01-01T00:00:00.000000Z'
const labels = { 'cluster.io/component': 'cluster-apiserver' }

test('a server that is gone, one that renews, and somebody else', async () => {
  const timers = new FakeTimers()
  const stage = await stageOf('cluster', { now: () => beginMs + timers.now() })
  const resource = stage.catalog.find('coordination.cluster.io', 'v1', 'leases') as Resource
  const leases = new RawObjects(stage, resource, 'cluster-system')
  const spec = { holderIdentity: 'h', leaseDurationSeconds: 3600, renewTime }
  for (const name of ['gone', 'renewed']) await leases.put({ metadata: { name, labels }, spec })
  await leases.put({ metadata: { name: 'other' }, spec })
  const loop = expiredLeases({ ...stage, logger: silentLogger, timers })
  await timers.advance(3_000_000)
  await leases.put({ metadata: { name: 'renewed', labels }, spec: { ...spec, renewTime: '2026-01-01T00:50:00.000000Z' } })
  await timers.advance(655_000)
  assert.notEqual(leases.read('gone'), undefined)
  await timers.advance(10_000)
  assert.equal(leases.read('gone'), undefined)
  assert.notEqual(leases.read('renewed'), undefined)
  await timers.advance(3_600_000)
  assert.equal(leases.read('renewed'), undefined)
  assert.notEqual(leases.read('other'), undefined)
  await loop.close()
})

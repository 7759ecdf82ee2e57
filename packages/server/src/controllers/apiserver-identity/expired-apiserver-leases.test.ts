// Deletion of expired identity leases.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { createTestEngine } from '../framework/engine.fixture.js'
import { RawObjects } from '../framework/raw-objects.fixture.js'
import { FakeTimers } from '../framework/timers.fixture.js'
import { expiredApiServerLeases } from './expired-apiserver-leases.js'

const startMs = Date.parse('2026-01-01T00:00:00Z')
const renewTime = '2026-01-01T00:00:00.000000Z'
const labels = { 'cluster.io/component': 'cluster-apiserver' }

test('deletes expired leases of API servers and no others', async () => {
  const timers = new FakeTimers()
  const testEngine = await createTestEngine('cluster', { now: () => startMs + timers.now() })
  const resource = testEngine.catalog.find('coordination.cluster.io', 'v1', 'leases') as Resource
  const leases = new RawObjects(testEngine, resource, 'cluster-system')
  const spec = { holderIdentity: 'h', leaseDurationSeconds: 3600, renewTime }
  for (const name of ['gone', 'renewed']) await leases.put({ metadata: { name, labels }, spec })
  await leases.put({ metadata: { name: 'other' }, spec })
  const controller = expiredApiServerLeases({ ...testEngine, logger: silentLogger, timers })
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
  await controller.close()
})

// Counting the usage of quotas.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { limitRange } from '@cluster-apiserver/api/resources/core/limit-range.js'
import type { ResourceQuota } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { ControllerParts } from './framework/controller.js'
import { createTestEngine } from './framework/engine.fixture.js'
import { ControllerCounters } from './framework/queue-metrics.js'
import { FakeTimers, flushTurns } from './framework/timers.fixture.js'
import { quotaStatus } from './resource-quota.js'

async function setUp() {
  let now = Date.parse('2026-01-01T00:00:00Z')
  const clock = { ...systemClock, now: () => now }
  const { engine, catalog, catalogs } = await createTestEngine('kubernetes', clock)
  const timers = new FakeTimers()
  const parts: ControllerParts = { engine, catalogs, logger: silentLogger, timers }
  const find = (name: string): Resource => catalog.find('', 'v1', name) as Resource
  const put = async (resource: string, name: string, fields: object, metadata: object = {}): Promise<void> => {
    const address = { resource: find(resource), namespace: 'a', name }
    const object = { metadata: { name, namespace: 'a', uid: name, creationTimestamp: '2020-01-01T00:00:00Z', ...metadata }, ...fields }
    await engine.store.put(address, engine.store.encode(address.resource, object), { expect: engine.store.read(address)?.revision ?? 0 })
  }
  const quota = (): ResourceQuota | undefined =>
    engine.store.read({ resource: find('resourcequotas'), namespace: 'a', name: 'q' })?.decode(find('resourcequotas')) as ResourceQuota
  const advance = async (ms: number): Promise<void> => {
    now += ms
    await timers.advance(ms)
    await flushTurns()
  }
  return { engine, parts, catalogs, put, quota, advance, find }
}

const pod = (cpu: string, more: object = {}) => ({ spec: { containers: [{ name: 'c', resources: { requests: { cpu } } }], ...more } })

test('a new quota counts existing objects, and a changed one is counted again', async () => {
  const { parts, put, quota, advance } = await setUp()
  await put('configmaps', 'm', {})
  await put('pods', 'p', pod('500m'))
  await put('pods', 'r', pod('1'))
  const controller = quotaStatus(parts)
  const hard = { 'count/configmaps': '5', configmaps: '5', cpu: '4', 'count/nothing.example.com': '1' }
  await put('resourcequotas', 'q', { spec: { hard } })
  await flushTurns()
  assert.deepEqual(quota()?.status, {}, 'the first count is delayed')
  await advance(500)
  assert.deepEqual(quota()?.status, { hard, used: { 'count/configmaps': '1', configmaps: '1', cpu: '1500m' } })
  await put('resourcequotas', 'q', { ...quota(), spec: { hard: { pods: '9' } } })
  await flushTurns()
  assert.deepEqual(quota()?.status, { hard: { pods: '9' }, used: { pods: '2' } })
  await controller.close()
})

test('a quota with scopes counts matching pods only', async () => {
  const { parts, put, quota, advance } = await setUp()
  await put('pods', 'p', pod('1', { priorityClassName: 'high' }))
  await put('pods', 'r', pod('1'))
  await put('secrets', 's', {})
  const scopeSelector = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] }
  const controller = quotaStatus(parts)
  await put('resourcequotas', 'q', { spec: { hard: { pods: '5', 'count/secrets': '5' }, scopeSelector } })
  await advance(500)
  assert.deepEqual(quota()?.status?.used, { pods: '1', 'count/secrets': '0' })
  await put('pods', 't', pod('1'))
  const { scopeSelector: _, ...spec } = quota()?.spec ?? {}
  await put('resourcequotas', 'q', { ...quota(), spec })
  await flushTurns()
  assert.deepEqual(quota()?.status?.used, { pods: '3', 'count/secrets': '1' }, 'without scopes')
  const other = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'DoesNotExist' }] }
  await put('resourcequotas', 'q', { ...quota(), spec: { ...spec, scopeSelector: other } })
  await flushTurns()
  assert.deepEqual(quota()?.status?.used, { pods: '2', 'count/secrets': '0' }, 'with other scopes')
  await controller.close()
})

test('a pod beyond its grace period does not count', async () => {
  const { parts, put, quota, advance } = await setUp()
  const controller = quotaStatus(parts)
  await put('resourcequotas', 'q', { spec: { hard: { pods: '5' } } })
  await put('pods', 'p', pod('1'), { deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 })
  await flushTurns()
  await advance(3000)
  assert.deepEqual(quota()?.status?.used, { pods: '1' })
  await advance(60_000)
  assert.deepEqual(quota()?.status?.used, { pods: '0' })
  await controller.close()
})

test('a resync finds deletions without an event', async () => {
  const { engine, parts, put, quota, advance, find } = await setUp()
  await put('configmaps', 'm', {})
  const controller = quotaStatus(parts)
  await put('resourcequotas', 'q', { spec: { hard: { 'count/configmaps': '5' } } })
  await flushTurns()
  await advance(3000)
  const stored = engine.store.read({ resource: find('configmaps'), namespace: 'a', name: 'm' })
  if (stored !== undefined) await engine.store.remove(stored)
  await flushTurns()
  assert.deepEqual(quota()?.status?.used, { 'count/configmaps': '1' })
  await advance(5 * 60_000)
  assert.deepEqual(quota()?.status?.used, { 'count/configmaps': '0' })
  await controller.close()
})

test('an added kind is counted; a changed schema does not cause a count', async () => {
  const { parts, catalogs, put, quota, advance } = await setUp()
  catalogs.change({ remove: [limitRange] })
  await put('resourcequotas', 'q', { spec: { hard: { 'count/limitranges': '5' } } })
  const counters = new ControllerCounters()
  const counted = (): number => counters.forQueue('resourcequota_primary').worked.counts.reduce((sum, each) => sum + each, 0)
  const controller = quotaStatus({ ...parts, counters })
  await flushTurns()
  assert.deepEqual(quota()?.status?.used ?? {}, {})
  catalogs.change({ put: [limitRange] })
  await advance(1000)
  assert.deepEqual(quota()?.status?.used, { 'count/limitranges': '0' })
  await advance(5000)
  const before = counted()
  catalogs.change({ put: [{ ...limitRange }] })
  await advance(1000)
  assert.equal(counted(), before)
  await controller.close()
})

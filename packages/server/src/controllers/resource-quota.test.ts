// The status of quotas: counted when they come or say something else, within scopes, and again when the time of a pod is over.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../api/catalog.js'
import { systemClock } from '../base/clock.js'
import { silentLogger } from '../base/logger.js'
import { limitRange } from '../resources/core/limit-range.js'
import type { ResourceQuota } from '../resources/core/v1.schema.js'
import { stageOf } from './engine.fixture.js'
import { LoopCounters } from './kit/counters.js'
import type { LoopParts } from './kit/loop.js'
import { FakeTimers, flushTurns } from './kit/timers.fixture.js'
import { quotaStatus } from './resource-quota.js'

async function setUp() {
  let now = Date.parse('2026-01-01T00:00:00Z')
  const clock = { ...systemClock, now: () => now }
  const { engine, catalog, catalogs } = await stageOf('kubernetes', clock)
  const timers = new FakeTimers()
  const parts: LoopParts = { engine, catalogs, logger: silentLogger, timers }
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

test('a quota that comes counts what is there, and one that says something else is counted again', async () => {
  const { parts, put, quota, advance } = await setUp()
  await put('configmaps', 'm', {})
  await put('pods', 'p', pod('500m'))
  await put('pods', 'r', pod('1'))
  const loop = quotaStatus(parts)
  const hard = { 'count/configmaps': '5', configmaps: '5', cpu: '4', 'count/nothing.example.com': '1' }
  await put('resourcequotas', 'q', { spec: { hard } })
  await flushTurns()
  assert.deepEqual(quota()?.status, {}, 'whoever made it finds it as they made it')
  await advance(500)
  assert.deepEqual(quota()?.status, { hard, used: { 'count/configmaps': '1', configmaps: '1', cpu: '1500m' } })
  await put('resourcequotas', 'q', { ...quota(), spec: { hard: { pods: '9' } } })
  await flushTurns()
  assert.deepEqual(quota()?.status, { hard: { pods: '9' }, used: { pods: '2' } })
  await loop.close()
})

test('scopes count the pods in them, and nothing else', async () => {
  const { parts, put, quota, advance } = await setUp()
  await put('pods', 'p', pod('1', { priorityClassName: 'high' }))
  await put('pods', 'r', pod('1'))
  await put('secrets', 's', {})
  const scopeSelector = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] }
  const loop = quotaStatus(parts)
  await put('resourcequotas', 'q', { spec: { hard: { pods: '5', 'count/secrets': '5' }, scopeSelector } })
  await advance(500)
  assert.deepEqual(quota()?.status?.used, { pods: '1', 'count/secrets': '0' })
  await loop.close()
})

test('a pod that stays after its time counts no more', async () => {
  const { parts, put, quota, advance } = await setUp()
  const loop = quotaStatus(parts)
  await put('resourcequotas', 'q', { spec: { hard: { pods: '5' } } })
  await put('pods', 'p', pod('1'), { deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 })
  await flushTurns()
  await advance(3000)
  assert.deepEqual(quota()?.status?.used, { pods: '1' })
  await advance(60_000)
  assert.deepEqual(quota()?.status?.used, { pods: '0' })
  await loop.close()
})

test('what went without a word is found after a while', async () => {
  const { engine, parts, put, quota, advance, find } = await setUp()
  await put('configmaps', 'm', {})
  const loop = quotaStatus(parts)
  await put('resourcequotas', 'q', { spec: { hard: { 'count/configmaps': '5' } } })
  await flushTurns()
  await advance(3000)
  const stored = engine.store.read({ resource: find('configmaps'), namespace: 'a', name: 'm' })
  if (stored !== undefined) await engine.store.remove(stored)
  await flushTurns()
  assert.deepEqual(quota()?.status?.used, { 'count/configmaps': '1' })
  await advance(5 * 60_000)
  assert.deepEqual(quota()?.status?.used, { 'count/configmaps': '0' })
  await loop.close()
})

test('a kind that comes later is counted from then on, and one that is described otherwise makes nobody count', async () => {
  const { parts, catalogs, put, quota, advance } = await setUp()
  catalogs.change({ remove: [limitRange] })
  await put('resourcequotas', 'q', { spec: { hard: { 'count/limitranges': '5' } } })
  const counters = new LoopCounters()
  const counted = (): number => counters.of('resourcequota_primary').worked.counts.reduce((sum, each) => sum + each, 0)
  const loop = quotaStatus({ ...parts, counters })
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
  await loop.close()
})

// Recording events: repeated ones are counted in one object.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { everything } from '../../objects/list/selection.js'
import { createTestEngine } from './engine.fixture.js'
import { forgetEvents, recordEvent } from './record-event.js'

interface Event {
  readonly metadata?: { readonly name?: string }
  readonly count?: number
  readonly firstTimestamp?: string
  readonly lastTimestamp?: string
}

test('a repeated event is counted in one object, and created again after that has expired', async () => {
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  const testEngine = await createTestEngine('cluster', { now: () => nowMs })
  const { store } = testEngine.engine
  const resource = testEngine.catalog.find('', 'v1', 'events') as Resource
  const events = () => [...store.readAll({ resource, namespace: 'n', selection: everything, limit: 0 }).objects()]
  const parts = { ...testEngine, logger: silentLogger }
  const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', namespace: 'n', name: 'b', uid: 'u' }
  const details = { type: 'Normal', reason: 'NoPods', message: 'No matching pods found', component: 'c' } as const
  for (let i = 0; i < 100; i++) await recordEvent(parts, budget, details)
  assert.equal(events().length, 1)
  assert.equal((events()[0]?.decode(resource) as Event | undefined)?.count, 25)
  for (const each of events()) await store.remove(each)
  nowMs += 300_000
  await recordEvent(parts, budget, details)
  const [recreated, ...others] = events().map((each) => each.decode(resource) as Event)
  assert.equal(others.length, 0)
  assert.deepEqual(
    [recreated?.count, recreated?.firstTimestamp, recreated?.lastTimestamp],
    [26, '2026-01-01T00:00:00Z', '2026-01-01T00:05:00Z'],
  )
})

test('concurrent events are one object; those that cannot be written are counted with the next', async () => {
  const testEngine = await createTestEngine('cluster', systemClock)
  const { store } = testEngine.engine
  const resource = testEngine.catalog.find('', 'v1', 'events') as Resource
  const events = () =>
    [...store.readAll({ resource, namespace: 'n', selection: everything, limit: 0 }).objects()].map(
      (each) => each.decode(resource) as Event,
    )
  const parts = { ...testEngine, logger: silentLogger }
  const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', namespace: 'n', name: 'b', uid: 'u' }
  const details = { type: 'Normal', reason: 'NoPods', message: 'No matching pods found', component: 'c' } as const
  const record = () => recordEvent(parts, budget, details)
  await Promise.all([record(), record()])
  assert.deepEqual(
    events().map(({ count }) => count),
    [2],
  )
  await Promise.all([record(), record(), record()])
  assert.deepEqual(
    events().map(({ count }) => count),
    [5],
  )
  const { put } = store
  store.put = () => Promise.reject(new Error('the disk is full'))
  for (let i = 0; i < 30; i++) await Promise.all([record(), record()])
  store.put = put
  await record()
  assert.deepEqual(
    events().map(({ count }) => count),
    [66],
  )
})

test('after forgetEvents the same event is a new object', async () => {
  const testEngine = await createTestEngine('cluster', systemClock)
  const resource = testEngine.catalog.find('', 'v1', 'events') as Resource
  const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', namespace: 'n', name: 'b', uid: 'u' }
  const details = { type: 'Normal', reason: 'NoPods', message: 'No matching pods found', component: 'c' } as const
  for (let i = 0; i < 30; i++) {
    await recordEvent({ ...testEngine, logger: silentLogger }, budget, details)
    forgetEvents(testEngine.engine)
  }
  const events = [...testEngine.engine.store.readAll({ resource, namespace: 'n', selection: everything, limit: 0 }).objects()]
  assert.deepEqual(new Set(events.map((each) => (each.decode(resource) as Event).count)), new Set([1]))
  assert.equal(events.length, 30)
})

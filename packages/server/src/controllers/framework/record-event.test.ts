// Events of loops: one object for what is told again and again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../../api/catalog.js'
import { systemClock } from '../../base/clock.js'
import { silentLogger } from '../../base/logger.js'
import { everything } from '../../objects/selection.js'
import { stageOf } from '../engine.fixture.js'
import { forgetEvents, recordEvent } from './record-event.js'

interface Event {
  readonly metadata?: { readonly name?: string }
  readonly count?: number
  readonly firstTimestamp?: string
  readonly lastTimestamp?: string
}

test('the same event is counted in one object, and made anew when that has ended', async () => {
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  const stage = await stageOf('cluster', { now: () => nowMs })
  const { store } = stage.engine
  const resource = stage.catalog.find('', 'v1', 'events') as Resource
  const events = () => [...store.list({ resource, namespace: 'n', selection: everything, limit: 0 }).objects()]
  const parts = { ...stage, logger: silentLogger }
  const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', namespace: 'n', name: 'b', uid: 'u' }
  const told = { type: 'Normal', reason: 'NoPods', message: 'No matching pods found', component: 'c' } as const
  for (let i = 0; i < 100; i++) await recordEvent(parts, budget, told)
  assert.equal(events().length, 1)
  assert.equal((events()[0]?.decode(resource) as Event | undefined)?.count, 25)
  for (const each of events()) await store.remove(each)
  nowMs += 300_000
  await recordEvent(parts, budget, told)
  const [again, ...others] = events().map((each) => each.decode(resource) as Event)
  assert.equal(others.length, 0)
  assert.deepEqual([again?.count, again?.firstTimestamp, again?.lastTimestamp], [26, '2026-01-01T00:00:00Z', '2026-01-01T00:05:00Z'])
})

test('what is told twice at the same time is one object, and what cannot be written is told with the next', async () => {
  const stage = await stageOf('cluster', systemClock)
  const { store } = stage.engine
  const resource = stage.catalog.find('', 'v1', 'events') as Resource
  const events = () =>
    [...store.list({ resource, namespace: 'n', selection: everything, limit: 0 }).objects()].map((each) => each.decode(resource) as Event)
  const parts = { ...stage, logger: silentLogger }
  const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', namespace: 'n', name: 'b', uid: 'u' }
  const told = { type: 'Normal', reason: 'NoPods', message: 'No matching pods found', component: 'c' } as const
  const record = () => recordEvent(parts, budget, told)
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

test('what is forgotten is told as for the first time', async () => {
  const stage = await stageOf('cluster', systemClock)
  const resource = stage.catalog.find('', 'v1', 'events') as Resource
  const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', namespace: 'n', name: 'b', uid: 'u' }
  const told = { type: 'Normal', reason: 'NoPods', message: 'No matching pods found', component: 'c' } as const
  for (let i = 0; i < 30; i++) {
    await recordEvent({ ...stage, logger: silentLogger }, budget, told)
    forgetEvents(stage.engine)
  }
  const events = [...stage.engine.store.list({ resource, namespace: 'n', selection: everything, limit: 0 }).objects()]
  assert.deepEqual(new Set(events.map((each) => (each.decode(resource) as Event).count)), new Set([1]))
  assert.equal(events.length, 30)
})

// Flow schemas say whether their priority level exists, as it comes and goes; who else wrote to a schema keeps what they own.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../api/catalog.js'
import { type ApiObject, members } from '../api/object.js'
import { silentLogger } from '../base/logger.js'
import type { FlowSchema } from '../resources/flowcontrol-apiserver/v1beta3.schema.js'
import { create } from '../verbs/create.js'
import { remove } from '../verbs/delete.js'
import { withDefaults } from '../verbs/versions.js'
import { flowObjects } from './bootstrap/flow-control.js'
import { placeAll } from './bootstrap/place.js'
import { stageOf } from './engine.fixture.js'
import { flowSchemaStatus } from './flow-schema-status.js'
import { FakeTimers, flushTurns } from './kit/timers.fixture.js'
import { ownCall } from './own-call.js'

const limited = { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } }

async function setUp() {
  const clock = { ms: Date.parse('2024-01-01T00:00:00Z') }
  const { engine, catalog, catalogs } = await stageOf('cluster', { now: () => clock.ms })
  const find = (name: string): Resource => catalog.find('flowcontrol.apiserver.cluster.io', 'v1beta3', name) as Resource
  const [schemas, levels] = [find('flowschemas'), find('prioritylevelconfigurations')]
  const make = (resource: Resource, name: string, spec: object): Promise<unknown> => {
    const call = ownCall(engine, { resource, name })
    return create(engine, call, { object: withDefaults(call, { metadata: { name }, spec } as ApiObject) })
  }
  const conditionOf = (name: string) => {
    const schema = engine.store.read({ resource: schemas, namespace: '', name })?.decode(schemas) as FlowSchema
    return schema.status?.conditions?.map(({ type, status, reason, lastTransitionTime }) => [type, status, reason, lastTransitionTime])
  }
  const parts = { engine, catalogs, logger: silentLogger, timers: new FakeTimers() }
  return { engine, catalog, clock, schemas, levels, make, conditionOf, parts }
}

test('a schema dangles until its level is there, and again when it is gone', async () => {
  const { engine, clock, schemas, levels, make, conditionOf, parts } = await setUp()
  const loop = flowSchemaStatus(parts)
  await make(schemas, 's', { priorityLevelConfiguration: { name: 'l' } })
  await flushTurns()
  assert.deepEqual(conditionOf('s'), [['Dangling', 'True', 'NotFound', '2024-01-01T00:00:00Z']])
  clock.ms += 1000
  await make(levels, 'l', limited)
  await flushTurns()
  assert.deepEqual(conditionOf('s'), [['Dangling', 'False', 'Found', '2024-01-01T00:00:01Z']])
  clock.ms += 1000
  await remove(engine, ownCall(engine, { resource: levels, name: 'l' }))
  await flushTurns()
  assert.deepEqual(conditionOf('s'), [['Dangling', 'True', 'NotFound', '2024-01-01T00:00:02Z']])
  const stored = engine.store.read({ resource: schemas, namespace: '', name: 's' })?.decode(schemas)
  const entry = stored?.metadata?.managedFields?.find(({ subresource }) => subresource === 'status')
  assert.deepEqual([entry?.manager, entry?.operation], ['api-priority-and-fairness-config-consumer-v1', 'Apply'])
  assert.ok(members(stored ?? {})['spec'])
  await loop.close()
})

test('what a fresh server has is right already, and nothing is written', async () => {
  const { engine, catalog, clock, parts } = await setUp()
  await placeAll(engine, catalog, flowObjects(engine.identity, clock.ms))
  const { revision } = engine.store
  const loop = flowSchemaStatus(parts)
  await flushTurns()
  assert.equal(engine.store.revision, revision)
  await loop.close()
})

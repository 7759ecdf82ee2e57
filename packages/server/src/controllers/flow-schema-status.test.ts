// The Dangling condition of FlowSchemas.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { type ApiObject, members } from '@cluster-apiserver/api/api/object.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import type { FlowSchema } from '@cluster-apiserver/api/resources/flowcontrol-apiserver/v1beta3.schema.js'
import { create } from '../verbs/create.js'
import { remove } from '../verbs/delete.js'
import { withDefaults } from '../verbs/version-conversion.js'
import { ensureObjects } from './bootstrap/ensure-objects.js'
import { flowControlDefaults } from './bootstrap/flow-control.js'
import { flowSchemaStatus } from './flow-schema-status.js'
import { createTestEngine } from './framework/engine.fixture.js'
import { internalCall } from './framework/internal-call.js'
import { FakeTimers, flushTurns } from './framework/timers.fixture.js'

const limited = { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } }

async function setUp() {
  const clock = { ms: Date.parse('2024-01-01T00:00:00Z') }
  const { engine, catalog, catalogs } = await createTestEngine('cluster', { now: () => clock.ms })
  const find = (name: string): Resource => catalog.find('flowcontrol.apiserver.cluster.io', 'v1beta3', name) as Resource
  const [schemas, levels] = [find('flowschemas'), find('prioritylevelconfigurations')]
  const createObject = (resource: Resource, name: string, spec: object): Promise<unknown> => {
    const call = internalCall(engine, { resource, name })
    return create(engine, call, { object: withDefaults(call, { metadata: { name }, spec } as ApiObject) })
  }
  const conditionOf = (name: string) => {
    const schema = engine.store.read({ resource: schemas, namespace: '', name })?.decode(schemas) as FlowSchema
    return schema.status?.conditions?.map(({ type, status, reason, lastTransitionTime }) => [type, status, reason, lastTransitionTime])
  }
  const parts = { engine, catalogs, logger: silentLogger, timers: new FakeTimers() }
  return { engine, catalog, clock, schemas, levels, createObject, conditionOf, parts }
}

test('Dangling follows creation and deletion of the priority level', async () => {
  const { engine, clock, schemas, levels, createObject, conditionOf, parts } = await setUp()
  const controller = flowSchemaStatus(parts)
  await createObject(schemas, 's', { priorityLevelConfiguration: { name: 'l' } })
  await flushTurns()
  assert.deepEqual(conditionOf('s'), [['Dangling', 'True', 'NotFound', '2024-01-01T00:00:00Z']])
  clock.ms += 1000
  await createObject(levels, 'l', limited)
  await flushTurns()
  assert.deepEqual(conditionOf('s'), [['Dangling', 'False', 'Found', '2024-01-01T00:00:01Z']])
  clock.ms += 1000
  await remove(engine, internalCall(engine, { resource: levels, name: 'l' }))
  await flushTurns()
  assert.deepEqual(conditionOf('s'), [['Dangling', 'True', 'NotFound', '2024-01-01T00:00:02Z']])
  const stored = engine.store.read({ resource: schemas, namespace: '', name: 's' })?.decode(schemas)
  const entry = stored?.metadata?.managedFields?.find(({ subresource }) => subresource === 'status')
  assert.deepEqual([entry?.manager, entry?.operation], ['api-priority-and-fairness-config-consumer-v1', 'Apply'])
  assert.ok(members(stored ?? {})['spec'])
  await controller.close()
})

test('bootstrap FlowSchemas already have the condition', async () => {
  const { engine, catalog, clock, parts } = await setUp()
  await ensureObjects(engine, catalog, flowControlDefaults(engine.identity, clock.ms))
  const { revision } = engine.store
  const controller = flowSchemaStatus(parts)
  await flushTurns()
  assert.equal(engine.store.revision, revision)
  await controller.close()
})

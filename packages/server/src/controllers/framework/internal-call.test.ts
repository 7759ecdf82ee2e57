// Internal writes keep the managedFields entries of other managers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { ManagedFieldsEntry } from '@cluster-apiserver/api/patch/managed-fields/managed-fields-entries.js'
import { create } from '../../verbs/create.js'
import { update } from '../../verbs/update.js'
import { createTestEngine } from './engine.fixture.js'
import { internalCall } from './internal-call.js'

test('an internal update keeps field managers of another API version', async () => {
  const { engine, catalog } = await createTestEngine('cluster', { now: () => 0 })
  const find = (version: string) => {
    const resource = catalog.find('flowcontrol.apiserver.cluster.io', version, 'flowschemas')
    assert.ok(resource)
    return resource
  }
  const [older, newer] = [find('v1beta2'), find('v1beta3')]
  const spec = { priorityLevelConfiguration: { name: 'global-default' }, matchingPrecedence: 1000 }
  const object = { metadata: { name: 'mine' }, spec }
  await create(engine, internalCall(engine, { resource: older, name: 'mine', options: { fieldManager: 'other' } }), { object })
  const fieldManagers = (): readonly string[] => {
    const stored = engine.store.read({ resource: newer, namespace: '', name: 'mine' })?.decode(newer)
    const entries = (stored?.metadata?.managedFields ?? []) as readonly ManagedFieldsEntry[]
    return entries.map(({ manager, apiVersion }) => `${manager} ${apiVersion}`)
  }
  assert.deepEqual(fieldManagers(), ['other flowcontrol.apiserver.cluster.io/v1beta2'])
  const status = { conditions: [{ type: 'Dangling', status: 'True' }] }
  const call = internalCall(engine, { resource: newer, name: 'mine', subresource: 'status' })
  const changed: ApiObject = { ...object, ...{ status } }
  await update(engine, call, { object: changed })
  assert.deepEqual(fieldManagers(), [
    'cluster-apiserver flowcontrol.apiserver.cluster.io/v1beta3',
    'other flowcontrol.apiserver.cluster.io/v1beta2',
  ])
})

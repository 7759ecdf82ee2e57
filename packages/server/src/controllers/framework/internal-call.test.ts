// The server's own writes are writes like others: they leave field owners alone, in whatever version those wrote.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../api/object.js'
import type { ManagedFieldsEntry } from '../patch/managed-entries.js'
import { create } from '../verbs/create.js'
import { update } from '../verbs/update.js'
import { stageOf } from './engine.fixture.js'
import { ownCall } from './own-call.js'

test('owners that wrote in another version stay', async () => {
  const { engine, catalog } = await stageOf('cluster', { now: () => 0 })
  const find = (version: string) => {
    const resource = catalog.find('flowcontrol.apiserver.cluster.io', version, 'flowschemas')
    assert.ok(resource)
    return resource
  }
  const [older, newer] = [find('v1beta2'), find('v1beta3')]
  const spec = { priorityLevelConfiguration: { name: 'global-default' }, matchingPrecedence: 1000 }
  const object = { metadata: { name: 'mine' }, spec }
  await create(engine, ownCall(engine, { resource: older, name: 'mine', options: { fieldManager: 'somebody' } }), { object })
  const owners = (): readonly string[] => {
    const stored = engine.store.read({ resource: newer, namespace: '', name: 'mine' })?.decode(newer)
    const entries = (stored?.metadata?.managedFields ?? []) as readonly ManagedFieldsEntry[]
    return entries.map(({ manager, apiVersion }) => `${manager} ${apiVersion}`)
  }
  assert.deepEqual(owners(), ['somebody flowcontrol.apiserver.cluster.io/v1beta2'])
  const status = { conditions: [{ type: 'Dangling', status: 'True' }] }
  const call = ownCall(engine, { resource: newer, name: 'mine', subresource: 'status' })
  const changed: ApiObject = { ...object, ...{ status } }
  await update(engine, call, { object: changed })
  assert.deepEqual(owners(), [
    'cluster-apiserver flowcontrol.apiserver.cluster.io/v1beta3',
    'somebody flowcontrol.apiserver.cluster.io/v1beta2',
  ])
})

// Deletion of CRDs with their objects, and the approval condition of protected groups.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forbidden } from '@cluster-apiserver/api/api/api-error.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import type { CustomResourceDefinition } from '@cluster-apiserver/api/resources/apiextensions/v1.schema.js'
import { create } from '../../verbs/create.js'
import { remove } from '../../verbs/delete.js'
import { patch } from '../../verbs/patch.js'
import { createTestEngine } from '../framework/engine.fixture.js'
import { internalCall } from '../framework/internal-call.js'
import { FakeTimers, flushTurns } from '../framework/timers.fixture.js'
import { serveCustomResources } from './crd-catalog.js'
import { customResourceDefinitions } from './crd-status.js'

const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
const crd = {
  metadata: { name: 'widgets.example.com' },
  spec: { group: 'example.com', scope: 'Namespaced', names, versions },
  status: { storedVersions: ['v1'] },
} as ApiObject

async function setUp(graceMs?: number) {
  const testEngine = await createTestEngine('cluster', systemClock)
  const { engine, catalogs } = testEngine
  const timers = new FakeTimers()
  const logged: string[] = []
  const logger = { ...silentLogger, info: (_: object, message: string) => void logged.push(message) }
  const close = serveCustomResources(engine.store, catalogs, {})
  const controller = customResourceDefinitions({ engine, catalogs, logger, timers }, graceMs)
  const resource = catalogs.current.find('apiextensions.cluster.io', 'v1', 'customresourcedefinitions') as Resource
  const crdCall = internalCall(engine, { resource, name: 'widgets.example.com' })
  await create(engine, crdCall, { object: crd })
  await timers.advance(1000)
  const widgets = catalogs.current.find('example.com', 'v1', 'widgets')
  assert.ok(widgets !== undefined)
  const callOf = (name: string) => internalCall(engine, { resource: widgets, namespace: 'n', name })
  const createWidget = (name: string, finalizers: readonly string[]): Promise<unknown> =>
    create(engine, callOf(name), { object: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name, finalizers } } as ApiObject })
  const removeFinalizers = (name: string): Promise<unknown> =>
    patch(engine, callOf(name), { type: 'merge', patch: { metadata: { finalizers: null } }, duplicates: [] })
  const read = () => engine.store.read({ resource, namespace: '', name: 'widgets.example.com' })
  const terminatingCondition = (): unknown => {
    const { status } = (read()?.decode(resource) ?? {}) as CustomResourceDefinition
    const { reason, message } = status?.conditions?.find(({ type }) => type === 'Terminating') ?? {}
    return [reason, message]
  }
  const end = async (): Promise<void> => {
    await controller.close()
    close()
  }
  return { engine, timers, crdCall, widgets, createWidget, removeFinalizers, read, terminatingCondition, logged, end }
}

test('a condition names the finalizers of remaining objects; the CRD is deleted after the last', async () => {
  const { engine, timers, crdCall, createWidget, removeFinalizers, read, terminatingCondition, logged, end } = await setUp()
  await createWidget('a', ['example.com/one'])
  await createWidget('b', ['example.com/one', 'example.com/two'])
  await remove(engine, crdCall)
  await timers.advance(60_000)
  const check = 'could not confirm zero CustomResources remaining: some have finalizers:'
  assert.deepEqual(terminatingCondition(), ['InstanceDeletionCheck', `${check} example.com/one, example.com/two`])
  const { revision } = engine.store
  await timers.advance(60_000)
  assert.deepEqual([engine.store.revision, logged.length], [revision, 1])
  await removeFinalizers('b')
  await timers.advance(6000)
  assert.deepEqual(terminatingCondition(), ['InstanceDeletionCheck', `${check} example.com/one`])
  await removeFinalizers('a')
  await timers.advance(6000)
  assert.equal(read(), undefined)
  await end()
})

test('an object that another process admitted before the deletion, and commits after it, is deleted with the CRD', async () => {
  const { engine, timers, crdCall, widgets, createWidget, read, end } = await setUp(600)
  await createWidget('a', [])
  const stored = engine.store.read({ resource: widgets, namespace: 'n', name: 'a' })
  assert.ok(stored !== undefined)
  await remove(engine, crdCall)
  await timers.advance(500)
  assert.ok((await engine.store.put({ resource: widgets, namespace: 'n', name: 'late' }, stored.entry.value, { expect: 0 })).ok)
  await timers.advance(6000)
  assert.deepEqual([read(), engine.store.count(widgets, '')], [undefined, 0])
  await end()
})

test('a rejected deletion is reported in a condition and retried', async () => {
  const { engine, timers, crdCall, createWidget, read, terminatingCondition, end } = await setUp()
  await createWidget('a', [])
  let rejectsDeletes = true
  Object.assign(engine.admission, {
    validate: ({ operation, resource, name }: { readonly operation: string; readonly resource: Resource; readonly name: string }) => {
      if (rejectsDeletes && operation === 'DELETE' && resource.kind === 'Widget') throw forbidden(resource.subject, name, 'it is precious')
    },
  })
  await remove(engine, crdCall)
  await timers.advance(1000)
  const rejection = 'widgets.example.com "a" is forbidden: it is precious'
  assert.deepEqual(terminatingCondition(), ['InstanceDeletionFailed', `could not issue all deletes: ${rejection}`])
  rejectsDeletes = false
  await flushTurns()
  await timers.advance(6000)
  assert.equal(read(), undefined)
  await end()
})

test('a CRD in a protected group has the approval condition', async () => {
  const { engine, timers, crdCall, end } = await setUp()
  const protectedCrd = {
    ...crd,
    metadata: { name: 'widgets.x.cluster.io', annotations: { 'api-approved.cluster.io': 'unapproved, a test' } },
    spec: { group: 'x.cluster.io', scope: 'Namespaced', names, versions },
  } as ApiObject
  await create(engine, internalCall(engine, { resource: crdCall.resource, name: 'widgets.x.cluster.io' }), { object: protectedCrd })
  await timers.advance(1000)
  const stored = engine.store.read({ resource: crdCall.resource, namespace: '', name: 'widgets.x.cluster.io' })
  const { status } = (stored?.decode(crdCall.resource) ?? {}) as CustomResourceDefinition
  assert.deepEqual(
    status?.conditions?.map(({ type, status: value, reason }) => [type, value, reason]),
    [
      ['NamesAccepted', 'True', 'NoConflicts'],
      ['Established', 'True', 'InitialNamesAccepted'],
      ['KubernetesAPIApprovalPolicyConformant', 'False', 'UnapprovedAnnotation'],
    ],
  )
  await end()
})

test('a CRD with another finalizer reports InstanceDeletionCompleted', async () => {
  const { engine, timers, crdCall, createWidget, removeFinalizers, read, terminatingCondition, end } = await setUp()
  const setFinalizers = (finalizers: readonly string[] | null): Promise<unknown> =>
    patch(engine, crdCall, { type: 'merge', patch: { metadata: { finalizers } }, duplicates: [] })
  await setFinalizers(['example.com/hold'])
  await createWidget('a', ['example.com/one'])
  await remove(engine, crdCall)
  await timers.advance(6000)
  await removeFinalizers('a')
  await timers.advance(6000)
  assert.deepEqual(terminatingCondition(), ['InstanceDeletionCompleted', 'removed all instances'])
  await setFinalizers(null)
  await timers.advance(1000)
  assert.equal(read(), undefined)
  await end()
})

// A definition that is deleted says what it waits for, and goes when nothing holds its objects any more.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forbidden } from '../../api/api-error.js'
import type { Resource } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import { systemClock } from '../../base/clock.js'
import { silentLogger } from '../../base/logger.js'
import type { CustomResourceDefinition } from '../../resources/apiextensions/v1.schema.js'
import { create } from '../../verbs/create.js'
import { remove } from '../../verbs/delete.js'
import { patch } from '../../verbs/patch.js'
import { stageOf } from '../engine.fixture.js'
import { FakeTimers, flushTurns } from '../kit/timers.fixture.js'
import { ownCall } from '../own-call.js'
import { serveCustomKinds } from './custom-kinds.js'
import { customResourceDefinitions } from './definition-status.js'

const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
const definition = {
  metadata: { name: 'widgets.example.com' },
  spec: { group: 'example.com', scope: 'Namespaced', names, versions },
  status: { storedVersions: ['v1'] },
} as ApiObject

async function setUp() {
  const stage = await stageOf('cluster', systemClock)
  const { engine, catalogs } = stage
  const timers = new FakeTimers()
  const told: string[] = []
  const logger = { ...silentLogger, info: (_: object, message: string) => void told.push(message) }
  const close = serveCustomKinds(engine.store, catalogs, {})
  const loop = customResourceDefinitions({ engine, catalogs, logger, timers })
  const resource = catalogs.current.find('apiextensions.cluster.io', 'v1', 'customresourcedefinitions') as Resource
  const own = ownCall(engine, { resource, name: 'widgets.example.com' })
  await create(engine, own, { object: definition })
  await timers.advance(1000)
  const widgets = catalogs.current.find('example.com', 'v1', 'widgets')
  assert.ok(widgets !== undefined)
  const callOf = (name: string) => ownCall(engine, { resource: widgets, namespace: 'n', name })
  const make = (name: string, finalizers: readonly string[]): Promise<unknown> =>
    create(engine, callOf(name), { object: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name, finalizers } } as ApiObject })
  const letGo = (name: string): Promise<unknown> =>
    patch(engine, callOf(name), { type: 'merge', patch: { metadata: { finalizers: null } }, duplicates: [] })
  const read = () => engine.store.read({ resource, namespace: '', name: 'widgets.example.com' })
  const says = (): unknown => {
    const { status } = (read()?.decode(resource) ?? {}) as CustomResourceDefinition
    const { reason, message } = status?.conditions?.find(({ type }) => type === 'Terminating') ?? {}
    return [reason, message]
  }
  const end = async (): Promise<void> => {
    await loop.close()
    close()
  }
  return { engine, timers, own, make, letGo, read, says, told, end }
}

test('it names the finalizers that hold objects, once, and goes soon after the last of them', async () => {
  const { engine, timers, own, make, letGo, read, says, told, end } = await setUp()
  await make('a', ['example.com/one'])
  await make('b', ['example.com/one', 'example.com/two'])
  await remove(engine, own)
  await timers.advance(60_000)
  const check = 'could not confirm zero CustomResources remaining: some have finalizers:'
  assert.deepEqual(says(), ['InstanceDeletionCheck', `${check} example.com/one, example.com/two`])
  const { revision } = engine.store
  await timers.advance(60_000)
  assert.deepEqual([engine.store.revision, told.length], [revision, 1])
  await letGo('b')
  await timers.advance(6000)
  assert.deepEqual(says(), ['InstanceDeletionCheck', `${check} example.com/one`])
  await letGo('a')
  await timers.advance(6000)
  assert.equal(read(), undefined)
  await end()
})

test('it says that objects may not be deleted, and tries again', async () => {
  const { engine, timers, own, make, read, says, end } = await setUp()
  await make('a', [])
  let refuses = true
  Object.assign(engine.admission, {
    validate: ({ operation, resource, name }: { readonly operation: string; readonly resource: Resource; readonly name: string }) => {
      if (refuses && operation === 'DELETE' && resource.kind === 'Widget') throw forbidden(resource.subject, name, 'it is precious')
    },
  })
  await remove(engine, own)
  await timers.advance(1000)
  const why = 'widgets.example.com "a" is forbidden: it is precious'
  assert.deepEqual(says(), ['InstanceDeletionFailed', `could not issue all deletes: ${why}`])
  refuses = false
  await flushTurns()
  await timers.advance(6000)
  assert.equal(read(), undefined)
  await end()
})

test('one in a group of the system says whether it was approved', async () => {
  const { engine, timers, own, end } = await setUp()
  const protectedOne = {
    ...definition,
    metadata: { name: 'widgets.x.cluster.io', annotations: { 'api-approved.cluster.io': 'unapproved, a test' } },
    spec: { group: 'x.cluster.io', scope: 'Namespaced', names, versions },
  } as ApiObject
  await create(engine, ownCall(engine, { resource: own.resource, name: 'widgets.x.cluster.io' }), { object: protectedOne })
  await timers.advance(1000)
  const stored = engine.store.read({ resource: own.resource, namespace: '', name: 'widgets.x.cluster.io' })
  const { status } = (stored?.decode(own.resource) ?? {}) as CustomResourceDefinition
  assert.deepEqual(
    status?.conditions?.map(({ type, status: is, reason }) => [type, is, reason]),
    [
      ['NamesAccepted', 'True', 'NoConflicts'],
      ['Established', 'True', 'InitialNamesAccepted'],
      ['KubernetesAPIApprovalPolicyConformant', 'False', 'UnapprovedAnnotation'],
    ],
  )
  await end()
})

test('one that somebody else holds, too, says when its objects are gone', async () => {
  const { engine, timers, own, make, letGo, read, says, end } = await setUp()
  const hold = (finalizers: readonly string[] | null): Promise<unknown> =>
    patch(engine, own, { type: 'merge', patch: { metadata: { finalizers } }, duplicates: [] })
  await hold(['example.com/hold'])
  await make('a', ['example.com/one'])
  await remove(engine, own)
  await timers.advance(6000)
  await letGo('a')
  await timers.advance(6000)
  assert.deepEqual(says(), ['InstanceDeletionCompleted', 'removed all instances'])
  await hold(null)
  await timers.advance(1000)
  assert.equal(read(), undefined)
  await end()
})

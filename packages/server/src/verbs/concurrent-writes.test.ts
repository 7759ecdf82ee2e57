// Writes that race with a concurrent create or delete of the same object, and an aborted DELETE.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { type ApiObject, members } from '@cluster-apiserver/api/api/object.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { createTestEngine } from '../controllers/framework/engine.fixture.js'
import { internalCall } from '../controllers/framework/internal-call.js'
import { create } from './create.js'
import { remove } from './delete.js'
import { addressOf, type Engine } from './engine.js'
import { patch } from './patch.js'
import { maxLostRaces, update } from './update.js'
import type { WorkerSteps } from './worker-steps.js'

/** `duringAdmission`: the concurrent write; gets the number of earlier admissions. */
async function setUp(
  plural: string,
  duringAdmission: (other: { createObject(): Promise<unknown>; deleteObject(): Promise<unknown> }, admissions: number) => unknown,
) {
  const { engine: base, catalog } = await createTestEngine('cluster', systemClock)
  const resource = catalog.find('', 'v1', plural) as Resource
  const callBy = (engine: Engine, fieldManager: string) =>
    internalCall(engine, { resource, namespace: 'n', name: 'x', options: { fieldManager } })
  const data = (value: string): ApiObject =>
    ({ metadata: { name: 'x', labels: { [value]: '1' } }, ...(plural === 'configmaps' ? { data: { [value]: '1' } } : {}) }) as ApiObject
  const other = {
    createObject: () => create(base, callBy(base, 'other'), { object: data('other') }),
    deleteObject: () => remove(base, callBy(base, 'other')),
  }
  let admissions = 0
  const engine: Engine = {
    ...base,
    admission: {
      mutate: async () => {
        await duringAdmission(other, admissions++)
        return undefined
      },
      validate: async () => undefined,
    },
  }
  const apply = () =>
    patch(engine, callBy(engine, 'me'), {
      type: 'apply',
      patch: { apiVersion: resource.apiVersion, kind: resource.kind, ...data('me') },
      duplicates: [],
    })
  return {
    other,
    apply,
    put: () => update(engine, callBy(engine, 'me'), { object: data('me') }),
    storedObject: () => base.store.read(addressOf(callBy(base, '')))?.decode(resource),
    admissionCount: () => admissions,
  }
}

test('an apply that loses the race to create updates the object', async () => {
  const { apply, storedObject } = await setUp('configmaps', ({ createObject }, admissions) =>
    admissions === 0 ? createObject() : undefined,
  )
  assert.equal((await apply()).created, false)
  const object = storedObject()
  assert.ok(object !== undefined)
  assert.deepEqual(members(object)['data'], { other: '1', me: '1' })
  assert.deepEqual(
    object.metadata?.managedFields?.map(({ manager, operation }) => [manager, operation]),
    [
      ['me', 'Apply'],
      ['other', 'Update'],
    ],
  )
})

test('an apply recreates an object that is deleted meanwhile', async () => {
  const { apply, storedObject, other } = await setUp('configmaps', ({ deleteObject }, admissions) =>
    admissions === 0 ? deleteObject() : undefined,
  )
  await other.createObject()
  assert.equal((await apply()).created, true)
  assert.deepEqual(members(storedObject() ?? {})['data'], { me: '1' })
})

test('a PUT that loses a race updates or recreates the object if PUT may create its kind, and otherwise fails with 404', async () => {
  const created = await setUp('endpoints', ({ createObject }, admissions) => (admissions === 0 ? createObject() : undefined))
  assert.equal((await created.put()).created, false)
  const deleted = await setUp('endpoints', ({ deleteObject }, admissions) => (admissions === 0 ? deleteObject() : undefined))
  await deleted.other.createObject()
  assert.equal((await deleted.put()).created, true)
  const configMap = await setUp('configmaps', ({ deleteObject }, admissions) => (admissions === 0 ? deleteObject() : undefined))
  await configMap.other.createObject()
  await assert.rejects(configMap.put(), (thrown) => thrown instanceof ApiError && thrown.status.code === 404)
})

test('the number of lost races is limited', async () => {
  const { apply, admissionCount } = await setUp('configmaps', ({ createObject, deleteObject }, admissions) =>
    admissions % 2 === 0 ? createObject() : deleteObject(),
  )
  await assert.rejects(apply(), (thrown) => thrown instanceof ApiError && thrown.status.reason === 'AlreadyExists')
  assert.equal(admissionCount(), maxLostRaces)
})

test('a DELETE that is aborted while a worker thread encodes the object commits nothing', async () => {
  const { engine: base, catalog } = await createTestEngine('cluster', systemClock)
  const resource = catalog.find('', 'v1', 'configmaps') as Resource
  const aborting = new AbortController()
  const steps = {
    encode: async (_call: unknown, object: ApiObject) => {
      aborting.abort(new Error('the client disconnected'))
      return base.store.encode(resource, object)
    },
  } as unknown as WorkerSteps
  const engine: Engine = { ...base, steps }
  // Background deletion removes the finalizer `orphan`, which is a change of its own.
  const metadata = { name: 'x', finalizers: ['orphan'] }
  await create(base, internalCall(base, { resource, namespace: 'n', name: 'x' }), { object: { metadata } as ApiObject })
  const options = { propagationPolicy: 'Background' }
  const call = internalCall(engine, { resource, namespace: 'n', name: 'x', signal: aborting.signal, options })
  call.markLarge()
  const before = base.store.revision
  await assert.rejects(remove(engine, call), /the client disconnected/)
  assert.equal(base.store.revision, before)
})

// The size limit of stored objects: above it they can only shrink or be deleted; at it they can get a status.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { maxObjectBytes } from '@cluster-apiserver/api/base/size-limits.js'
import { createTestEngine } from '../controllers/framework/engine.fixture.js'
import { internalCall } from '../controllers/framework/internal-call.js'
import { type RawObject, RawObjects } from '../controllers/framework/raw-objects.fixture.js'
import { create } from './create.js'
import { remove } from './delete.js'
import { addressOf } from './engine.js'
import { patch } from './patch.js'
import { update } from './update.js'

async function setUp(group: string, plural: string) {
  const parts = await createTestEngine('cluster', systemClock)
  const { engine, catalog } = parts
  const resource = catalog.find(group, 'v1', plural) as Resource
  const call = (fieldManager = 'm', subresource?: string) =>
    internalCall(engine, {
      resource,
      namespace: 'n',
      name: 'x',
      options: { fieldManager },
      ...(subresource === undefined ? {} : { subresource }),
    })
  const stored = () => engine.store.read(addressOf(call()))
  return {
    stored,
    bytes: () => stored()?.entry.value.length ?? 0,
    putRaw: (object: object) => new RawObjects(parts, resource).put(object as RawObject),
    createObject: (object: object) => create(engine, call(), { object: object as ApiObject }),
    put: (object: object) => update(engine, call(), { object: object as ApiObject }),
    storedObject: () => stored()?.decode(resource) as ApiObject,
    merge: (change: object, subresource?: string) =>
      patch(engine, call('m', subresource), { type: 'merge', patch: change, duplicates: [] }),
    apply: (manager: string, object: object) =>
      patch(engine, call(manager), {
        type: 'apply',
        patch: { apiVersion: resource.apiVersion, kind: resource.kind, ...object },
        duplicates: [],
      }),
    deleteObject: () => remove(engine, call()),
  }
}

const isTooLarge = (thrown: unknown): boolean => {
  assert.ok(thrown instanceof ApiError, String(thrown))
  assert.equal(thrown.status.code, 413)
  assert.equal(thrown.status.reason, 'RequestEntityTooLarge')
  assert.match(thrown.status.message ?? '', /would have \d+ bytes, \d+ of them managedFields; limit is \d+\. .*managedFields: \[\{\}\]/)
  return true
}

test('managedFields of many appliers grow the object up to the limit', async () => {
  const { apply, bytes, merge } = await setUp('', 'configmaps')
  const data = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${i}-`.padEnd(200, 'k'), '']))
  let applied = 0
  const applyAll = async (): Promise<void> => {
    for (; applied < 20; applied++) await apply(`m${applied}`, { metadata: { name: 'x' }, data })
  }
  await assert.rejects(applyAll, isTooLarge)
  assert.ok(applied > 3, `${applied} managers`)
  assert.ok(bytes() <= maxObjectBytes && bytes() > maxObjectBytes / 2)
  await merge({ metadata: { managedFields: [{}] } })
  assert.ok(bytes() < maxObjectBytes / 3)
  await apply('another', { metadata: { name: 'x' }, data })
})

test('a create is rejected if managedFields or admission exceed the limit', async () => {
  const { createObject, stored } = await setUp('', 'configmaps')
  const data = Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`${i}-`.padEnd(200, 'k'), '']))
  await assert.rejects(createObject({ metadata: { name: 'x' }, data }), isTooLarge)
  assert.equal(stored(), undefined)
})

test('an object above the limit cannot grow, but can shrink and be deleted', async () => {
  const { putRaw, put, storedObject, merge, bytes, deleteObject, stored } = await setUp('rbac.authorization.cluster.io', 'roles')
  const rules = (bytes: number) => [{ apiGroups: [''], resources: ['x'.repeat(bytes)], verbs: ['get'] }]
  await putRaw({ metadata: { name: 'x', finalizers: ['example.com/a', 'example.com/b'] }, rules: rules(maxObjectBytes + 3000) })
  const before = bytes()
  assert.ok(before > maxObjectBytes)
  await assert.rejects(merge({ metadata: { labels: { c: 'more' } } }), isTooLarge)
  await merge({ rules: rules(maxObjectBytes + 2000) })
  assert.ok(bytes() < before && bytes() > maxObjectBytes)
  await put({ ...storedObject(), rules: rules(maxObjectBytes + 1000) })
  assert.equal((await deleteObject()).removed, false)
  assert.notEqual(storedObject().metadata?.deletionTimestamp, undefined)
  await merge({ metadata: { finalizers: ['example.com/b'] } })
  assert.ok(bytes() > maxObjectBytes)
  await merge({ metadata: { finalizers: null } })
  assert.equal(stored(), undefined)
})

const podOf = (value: string) => ({
  restartPolicy: 'Always',
  dnsPolicy: 'ClusterFirst',
  containers: [{ name: 'c', image: 'i', terminationMessagePolicy: 'File', imagePullPolicy: 'Always', env: [{ name: 'E', value }] }],
})

test('an object at the limit can get a status and be deleted', async () => {
  const { createObject, merge, bytes, deleteObject, storedObject, stored } = await setUp('apps', 'deployments')
  const strategy = { type: 'Recreate' }
  const spec = { selector: { matchLabels: { a: 'b' } }, strategy, template: { metadata: { labels: { a: 'b' } }, spec: podOf('') } }
  await createObject({ metadata: { name: 'x', finalizers: ['example.com/a', 'example.com/b'] }, spec })
  await merge({ spec: { template: { spec: podOf('x') } } })
  await merge({ spec: { template: { spec: podOf('x'.repeat(maxObjectBytes - bytes() - 30)) } } })
  await assert.rejects(merge({ metadata: { labels: { more: 'l'.repeat(60) } } }), isTooLarge)
  await merge({ status: { replicas: 1, conditions: [{ type: 'Available', status: 'True', message: 'm'.repeat(1000) }] } }, 'status')
  assert.ok(bytes() > maxObjectBytes)
  await assert.rejects(
    merge({ status: { conditions: [{ type: 'Available', status: 'True', message: 'm'.repeat(1 << 20) }] } }, 'status'),
    isTooLarge,
  )
  await deleteObject()
  assert.notEqual(storedObject().metadata?.deletionTimestamp, undefined)
  await merge({ metadata: { finalizers: ['example.com/b'], annotations: { by: 'another controller' } } })
  await merge({ metadata: { finalizers: null } })
  assert.equal(stored(), undefined)
})

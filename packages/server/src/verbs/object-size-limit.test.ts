// Objects at the bound of what is stored of one: they grow no further, and can still be made smaller, reported on and deleted.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { systemClock } from '../base/clock.js'
import { maxObjectBytes } from '../base/most-body-bytes.js'
import { stageOf } from '../controllers/engine.fixture.js'
import { ownCall } from '../controllers/own-call.js'
import { type RawObject, RawObjects } from '../controllers/raw-objects.fixture.js'
import { create } from './create.js'
import { remove } from './delete.js'
import { addressOf } from './engine.js'
import { patch } from './patch.js'
import { update } from './update.js'

async function stage(group: string, plural: string) {
  const parts = await stageOf('cluster', systemClock)
  const { engine, catalog } = parts
  const resource = catalog.find(group, 'v1', plural) as Resource
  const call = (fieldManager = 'm', subresource?: string) =>
    ownCall(engine, {
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
    raw: (object: object) => new RawObjects(parts, resource).put(object as RawObject),
    make: (object: object) => create(engine, call(), { object: object as ApiObject }),
    put: (object: object) => update(engine, call(), { object: object as ApiObject }),
    now: () => stored()?.decode(resource) as ApiObject,
    merge: (change: object, subresource?: string) =>
      patch(engine, call('m', subresource), { type: 'merge', patch: change, duplicates: [] }),
    apply: (manager: string, object: object) =>
      patch(engine, call(manager), {
        type: 'apply',
        patch: { apiVersion: resource.apiVersion, kind: resource.kind, ...object },
        duplicates: [],
      }),
    drop: () => remove(engine, call()),
  }
}

const isTooLarge = (thrown: unknown): boolean => {
  assert.ok(thrown instanceof ApiError, String(thrown))
  assert.equal(thrown.status.code, 413)
  assert.equal(thrown.status.reason, 'RequestEntityTooLarge')
  assert.match(thrown.status.message ?? '', /would have \d+ bytes, \d+ of them managedFields; limit is \d+\. .*managedFields: \[\{\}\]/)
  return true
}

test('an object that ever more managers apply grows to the limit and no further', async () => {
  const { apply, bytes, merge } = await stage('', 'configmaps')
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

test('what is made larger by others than its client is refused when it is created, too', async () => {
  const { make, stored } = await stage('', 'configmaps')
  const data = Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`${i}-`.padEnd(200, 'k'), '']))
  await assert.rejects(make({ metadata: { name: 'x' }, data }), isTooLarge)
  assert.equal(stored(), undefined)
})

test('an object that is larger from before is not made larger; it is made smaller, marked and deleted', async () => {
  const { raw, put, now, merge, bytes, drop, stored } = await stage('rbac.authorization.cluster.io', 'roles')
  const rules = (bytes: number) => [{ apiGroups: [''], resources: ['x'.repeat(bytes)], verbs: ['get'] }]
  await raw({ metadata: { name: 'x', finalizers: ['example.com/a', 'example.com/b'] }, rules: rules(maxObjectBytes + 3000) })
  const before = bytes()
  assert.ok(before > maxObjectBytes)
  await assert.rejects(merge({ metadata: { labels: { c: 'more' } } }), isTooLarge)
  await merge({ rules: rules(maxObjectBytes + 2000) })
  assert.ok(bytes() < before && bytes() > maxObjectBytes)
  await put({ ...now(), rules: rules(maxObjectBytes + 1000) })
  assert.equal((await drop()).removed, false)
  assert.notEqual(now().metadata?.deletionTimestamp, undefined)
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

test('a full object is reported on and deleted', async () => {
  const { make, merge, bytes, drop, now, stored } = await stage('apps', 'deployments')
  const strategy = { type: 'Recreate' }
  const spec = { selector: { matchLabels: { a: 'b' } }, strategy, template: { metadata: { labels: { a: 'b' } }, spec: podOf('') } }
  await make({ metadata: { name: 'x', finalizers: ['example.com/a', 'example.com/b'] }, spec })
  await merge({ spec: { template: { spec: podOf('x') } } })
  await merge({ spec: { template: { spec: podOf('x'.repeat(maxObjectBytes - bytes() - 30)) } } })
  await assert.rejects(merge({ metadata: { labels: { more: 'l'.repeat(60) } } }), isTooLarge)
  await merge({ status: { replicas: 1, conditions: [{ type: 'Available', status: 'True', message: 'm'.repeat(1000) }] } }, 'status')
  assert.ok(bytes() > maxObjectBytes)
  await assert.rejects(
    merge({ status: { conditions: [{ type: 'Available', status: 'True', message: 'm'.repeat(1 << 20) }] } }, 'status'),
    isTooLarge,
  )
  await drop()
  assert.notEqual(now().metadata?.deletionTimestamp, undefined)
  await merge({ metadata: { finalizers: ['example.com/b'], annotations: { by: 'whoever let it go' } } })
  await merge({ metadata: { finalizers: null } })
  assert.equal(stored(), undefined)
})

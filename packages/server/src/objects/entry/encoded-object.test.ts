// An object that is read back during its commit equals the one that a parser reads from the bytes; later readers parse.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { definitions } from '@cluster-apiserver/api/resources/index.js'
import { storeOfBoxes } from '../box-store.fixture.js'
import { committing } from './encoded-object.js'
import { StoredObject } from './stored-object.js'

const catalog = new Catalog({ identity: identityOf('cluster'), definitions, isServed: () => true })
const find = (group: string, plural: string): Resource => catalog.find(group, 'v1', plural) as Resource

const metadata = { name: 'a', namespace: 'n', uid: 'u1', creationTimestamp: '2026-01-01T00:00:00Z' }
const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }]
const template = { metadata: { labels: { b: '2', a: '1' } }, spec: { containers: [{ name: 'c', image: 'i', resources: {} }] } }
const managedFields = [{ manager: 'm', operation: 'Update', fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': { 'f:x': {} } } }]

const cases: readonly (readonly [Resource, object])[] = [
  [find('', 'configmaps'), { data: { b: '1', a: '2' }, binaryData: { x: 'AA==' } }],
  [find('', 'pods'), { spec: template.spec, status: { phase: 'Running', conditions, startTime: null } }],
  [find('apps', 'deployments'), { spec: { replicas: 0, selector: {}, template }, status: { replicas: 0, conditions } }],
  [find('apps', 'controllerrevisions'), { data: { spec: { template: { metadata: { creationTimestamp: null } } } }, revision: 1 }],
  [find('batch', 'jobs'), { spec: { template, activeDeadlineSeconds: 9_007_199_254_740_993n }, status: { ready: 0, conditions } }],
]

for (const [resource, fields] of cases)
  test(`${resource.name} read back during a commit equal parsed ones`, async () => {
    const store = await storeOfBoxes()
    const address = { resource, namespace: 'n', name: 'a' }
    const seen: StoredObject[] = []
    const deliver = ({ object }: { readonly object: StoredObject }): void => {
      object.decode(resource)
      seen.push(object)
    }
    store.watch({ resource, namespace: '', matches: undefined, deliver })
    let expect = 0
    for (const generation of [1, 2]) {
      const object = { ...fields, metadata: { ...metadata, generation, managedFields, resourceVersion: '7' } } as ApiObject
      const value = store.encode(resource, object)
      const outcome = await store.put(address, value, { expect, object })
      assert.ok(outcome.ok)
      expect = outcome.object.revision
      const parsed = new StoredObject(outcome.object.entry).decode(resource)
      assert.equal(parsed.metadata?.resourceVersion, String(expect))
      assert.deepEqual(outcome.object.decode(resource), parsed)
      assert.deepEqual(seen.at(-1)?.decode(resource), parsed)
      assert.deepEqual(store.readCached(address)?.decode(resource), parsed)
      assert.equal(committing.has(value), false)
    }
    assert.equal(seen.length, 2)
    store.close()
  })

test('a failed commit leaves no object behind', async () => {
  const store = await storeOfBoxes()
  const [resource, fields] = cases[0] as (typeof cases)[number]
  const object = { ...fields, metadata } as ApiObject
  const value = store.encode(resource, object)
  const outcome = await store.put({ resource, namespace: 'n', name: 'a' }, value, { expect: 5, object })
  assert.equal(outcome.ok, false)
  assert.equal(committing.has(value), false)
  store.close()
})

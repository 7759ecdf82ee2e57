// Names of objects by API group.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { keyOf } from '../../objects/object-keys.js'
import { createTestEngine } from '../framework/engine.fixture.js'
import { NamesByGroup } from './names-by-group.js'

test('finds stored, added and not deleted names', async () => {
  const { engine, catalog } = await createTestEngine('cluster', systemClock)
  const resource = catalog.find('apiextensions.cluster.io', 'v1', 'customresourcedefinitions') as Resource
  const put = (name: string): Promise<unknown> => {
    const object = { metadata: { name, uid: name, creationTimestamp: '2026-01-01T00:00:00Z' } } as ApiObject
    return engine.store.put({ resource, namespace: '', name }, engine.store.encode(resource, object), { expect: 0 })
  }
  for (const name of ['a.shop.example', 'b.shop.example', 'a.example']) await put(name)
  const names = new NamesByGroup(engine.store)
  assert.equal(names.update(resource, keyOf(resource, '', 'a.shop.example'), 'LISTED'), 'a.shop.example')
  assert.deepEqual(names.namesIn(resource, 'shop.example'), ['a.shop.example', 'b.shop.example'])
  assert.deepEqual(names.namesIn(resource, 'example'), ['a.example'])
  names.update(resource, keyOf(resource, '', 'c.shop.example'), 'ADDED')
  names.update(resource, keyOf(resource, '', 'a.shop.example'), 'DELETED')
  assert.deepEqual(names.namesIn(resource, 'shop.example'), ['b.shop.example', 'c.shop.example'])
  assert.deepEqual(names.namesIn(resource, 'none.example'), [])
})

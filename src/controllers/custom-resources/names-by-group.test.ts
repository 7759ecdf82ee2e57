// Names are found by group, at first and after changes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import { systemClock } from '../../base/clock.js'
import { keyOf } from '../../objects/keys.js'
import { stageOf } from '../engine.fixture.js'
import { NamesByGroup } from './names-by-group.js'

test('those that are stored, that come and that go', async () => {
  const { engine, catalog } = await stageOf('cluster', systemClock)
  const resource = catalog.find('apiextensions.cluster.io', 'v1', 'customresourcedefinitions') as Resource
  const put = (name: string): Promise<unknown> => {
    const object = { metadata: { name, uid: name, creationTimestamp: '2026-01-01T00:00:00Z' } } as ApiObject
    return engine.store.put({ resource, namespace: '', name }, engine.store.encode(resource, object), { expect: 0 })
  }
  for (const name of ['a.shop.example', 'b.shop.example', 'a.example']) await put(name)
  const names = new NamesByGroup(engine.store)
  assert.equal(names.note(resource, keyOf(resource, '', 'a.shop.example'), 'LISTED'), 'a.shop.example')
  assert.deepEqual(names.of(resource, 'shop.example'), ['a.shop.example', 'b.shop.example'])
  assert.deepEqual(names.of(resource, 'example'), ['a.example'])
  names.note(resource, keyOf(resource, '', 'c.shop.example'), 'ADDED')
  names.note(resource, keyOf(resource, '', 'a.shop.example'), 'DELETED')
  assert.deepEqual(names.of(resource, 'shop.example'), ['b.shop.example', 'c.shop.example'])
  assert.deepEqual(names.of(resource, 'none.example'), [])
})

test('groups that come and go leave nothing behind', async () => {
  const { engine, catalog } = await stageOf('cluster', systemClock)
  const resource = catalog.find('apiextensions.cluster.io', 'v1', 'customresourcedefinitions') as Resource
  const names = new NamesByGroup(engine.store)
  assert.deepEqual(names.of(resource, 'example'), [])
  for (let i = 0; i < 20_000; i++)
    for (const seen of ['ADDED', 'DELETED'] as const) names.note(resource, keyOf(resource, '', `a.g${i}.example`), seen)
  assert.equal(names['byGroup']?.size, 0)
})

// What is found out once for an operation on a resource.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stageOf } from '../stage.fixture.js'
import { byPlace } from './by-place.js'

test('it is found out once for each place, and again when its source or the catalog has changed', async () => {
  const [stage, other] = [await stageOf(), await stageOf()]
  const catalogs = { current: stage.catalog }
  let made = 0
  const find = byPlace(catalogs, (source: readonly string[], { operation }) => `${source.join()} ${operation} ${++made}`)
  const [maps, pods] = ['configmaps', 'pods'].map((name) => stage.find(name))
  assert.ok(maps && pods)
  const source = ['a']
  const create = (name: string) => stage.attempt({ resource: maps, object: { metadata: { name, namespace: 'n' } } })
  for (let i = 0; i < 5; i++) assert.equal(find(source, create(`x${i}`)), 'a CREATE 1')
  assert.equal(find(source, stage.attempt({ resource: maps, operation: 'DELETE' })), 'a DELETE 2')
  assert.equal(find(source, stage.attempt({ resource: pods })), 'a CREATE 3')
  assert.equal(find(source, stage.attempt({ resource: pods, subresource: 'status', operation: 'CREATE' })), 'a CREATE 4')
  assert.equal(find(source, create('y')), 'a CREATE 1')
  assert.equal(find(['b'], create('y')), 'b CREATE 5')
  catalogs.current = other.catalog
  assert.equal(find(['c'], create('y')), 'c CREATE 6')
})

// What arrives in a namespace that is gone is deleted; what is in one that is there is not.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Catalog, type Resource } from '../api/catalog.js'
import { identityOf } from '../api/identity.js'
import { systemClock } from '../base/clock.js'
import { box, boxes, put, storeOfBoxes } from '../objects/fixture.js'
import { definitions } from '../resources/index.js'
import type { Engine } from '../verbs/engine.js'
import { deleteOrphans } from './namespace-orphans.js'

const identity = identityOf('cluster')
const namespaces = new Catalog({ identity, definitions, isServed: () => true }).find('', 'v1', 'namespaces') as Resource

async function setUp(): Promise<Engine> {
  const store = await storeOfBoxes()
  await put(store, box('a', { namespace: 'gone' }))
  await put(store, box('b', { namespace: 'gone' }))
  await put(store, box('a', { namespace: 'there' }))
  return {
    store,
    identity,
    gates: () => false,
    forbidsPrivileged: false,
    admission: { mutate: ({ object }) => object, validate: () => undefined },
    clock: systemClock,
    access: { authenticators: [], authorizers: [] },
    reservers: [],
    newUid: () => 'uid',
    randomSuffix: () => 'x',
  }
}

test('objects without a namespace are deleted', async () => {
  const engine = await setUp()
  await deleteOrphans(engine, { name: 'gone', namespaces, collections: [boxes] })
  assert.equal(engine.store.count(boxes, 'gone'), 0)
  assert.equal(engine.store.count(boxes, 'there'), 1)
})

test('a namespace that is there again keeps what it has', async () => {
  const engine = await setUp()
  const namespace = { metadata: { name: 'gone', uid: 'n', creationTimestamp: '2020-01-01T00:00:00Z' } }
  await engine.store.put({ resource: namespaces, namespace: '', name: 'gone' }, engine.store.encode(namespaces, namespace), { expect: 0 })
  await deleteOrphans(engine, { name: 'gone', namespaces, collections: [boxes] })
  assert.equal(engine.store.count(boxes, 'gone'), 2)
})

// What tokens live and die with is looked at without what anybody may hang on it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { systemClock } from '../base/clock.js'
import { stageOf } from '../controllers/engine.fixture.js'
import { decodedWhole } from '../objects/decoded-whole.fixture.js'
import type { StoredObject } from '../objects/stored-object.js'
import { tokenObjects } from './make-authenticators.js'

test('a service account with thousands of labels', async (t) => {
  const { engine, catalog, catalogs } = await stageOf('cluster', systemClock)
  const address = { resource: catalog.find('', 'v1', 'serviceaccounts') as Resource, namespace: 'n', name: 'heavy' }
  const labels = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`label-${i}`, 'x']))
  const metadata = { name: 'heavy', namespace: 'n', uid: 'u', creationTimestamp: '2020-01-01T00:00:00Z', labels }
  await engine.store.put(address, engine.store.encode(address.resource, { metadata } as ApiObject), { expect: 0 })
  const decoded = decodedWhole(t)
  const objects = tokenObjects(engine.store, catalogs)
  const found = objects.decode('serviceaccounts', objects.find('serviceaccounts', 'n', 'heavy') as StoredObject)
  assert.deepEqual([found.metadata?.uid, decoded], ['u', []])
})

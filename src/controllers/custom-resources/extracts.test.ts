// What was taken from an object is good until the object changes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import { systemClock } from '../../base/clock.js'
import { stageOf } from '../engine.fixture.js'
import { Extracts } from './extracts.js'

test('it is taken once, and again when the object was seen', async () => {
  const { engine, catalog } = await stageOf('cluster', systemClock)
  const resource = catalog.find('', 'v1', 'namespaces') as Resource
  const place = { resource, namespace: '', name: 'a' }
  const encoded = (mark: string) =>
    engine.store.encode(resource, {
      metadata: { name: 'a', uid: 'a', creationTimestamp: '2026-01-01T00:00:00Z', labels: { mark } },
    } as ApiObject)
  const taken: string[] = []
  const extracts = new Extracts(engine.store, ({ metadata }) => {
    taken.push(metadata?.labels?.['mark'] ?? '')
    return { count: taken.length }
  })
  assert.equal(extracts.of(resource, 'a'), undefined)
  const first = await engine.store.put(place, encoded('one'), { expect: 0 })
  assert.deepEqual([extracts.of(resource, 'a'), extracts.of(resource, 'a')], [{ count: 1 }, { count: 1 }])
  await engine.store.put(place, encoded('two'), { expect: first.ok ? first.object.revision : 0 })
  extracts.forget('a')
  assert.deepEqual([extracts.of(resource, 'a'), extracts.of(resource, 'a')], [{ count: 2 }, { count: 2 }])
  assert.deepEqual(taken, ['one', 'two'])
})

// After a write, the cache decodes from the object passed to put, without parsing. The result must equal the parsed bytes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Box, box, boxes, put, storeOfBoxes } from '../box-store.fixture.js'
import { StoredObject } from './stored-object.js'

const address = { resource: boxes, namespace: 'n', name: 'a' }

async function writeAndRead(object: Box) {
  const store = await storeOfBoxes()
  const first = await put(store, box('a'))
  store.readCached(address)
  const value = store.encode(boxes, object)
  const outcome = await store.put(address, value, { expect: first, object })
  assert.ok(outcome.ok)
  const cached = store.read(address)
  store.close()
  assert.ok(cached !== undefined && cached.revision === outcome.object.revision)
  return { cached, parsed: new StoredObject(cached.entry).decode(boxes) }
}

test('the cached object equals its parsed bytes', async () => {
  const object: Box = { ...box('a', { labels: { b: '1', a: '2' }, color: '' }), data: { z: 'y', a: '<\ud800>' } }
  const { cached, parsed } = await writeAndRead(object)
  assert.deepStrictEqual(cached.decode(boxes), parsed)
  assert.equal(cached.decode(boxes).metadata?.resourceVersion, cached.resourceVersion)
  assert.equal(object.metadata?.resourceVersion, undefined)
})

test('a cached object without creationTimestamp, which is stored as null, equals its parsed bytes', async () => {
  const { metadata } = box('a')
  const { creationTimestamp: _, ...withoutTimestamp } = metadata ?? {}
  const { cached, parsed } = await writeAndRead({ metadata: withoutTimestamp })
  assert.deepStrictEqual(cached.decode(boxes), parsed)
})

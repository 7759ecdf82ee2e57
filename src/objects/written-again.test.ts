// An object that is written again and again: it is decoded from what was encoded last, and is what its bytes say all the same.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Box, box, boxes, put, storeOfBoxes } from './fixture.js'
import { StoredObject } from './stored-object.js'

const address = { resource: boxes, namespace: 'n', name: 'a' }

async function written(object: Box) {
  const store = await storeOfBoxes()
  const first = await put(store, box('a'))
  store.readOften(address)
  const value = store.encode(boxes, object)
  const outcome = await store.put(address, value, { expect: first, object })
  assert.ok(outcome.ok)
  const kept = store.read(address)
  store.close()
  assert.ok(kept !== undefined && kept.revision === outcome.object.revision)
  return { kept, parsed: new StoredObject(kept.entry).decode(boxes) }
}

test('the object in the cache is what its bytes say', async () => {
  const object: Box = { ...box('a', { labels: { b: '1', a: '2' }, color: '' }), data: { z: 'y', a: '<\ud800>' } }
  const { kept, parsed } = await written(object)
  assert.deepStrictEqual(kept.decode(boxes), parsed)
  assert.equal(kept.decode(boxes).metadata?.resourceVersion, kept.resourceVersion)
  assert.equal(object.metadata?.resourceVersion, undefined)
})

test('what was encoded is not parsed again', async (t) => {
  const object: Box = { ...box('a'), data: { a: 'b' } }
  const { kept } = await written(object)
  const parse = t.mock.method(JSON, 'parse')
  assert.deepEqual((kept.decode(boxes) as Box).data, { a: 'b' })
  assert.equal(parse.mock.callCount(), 0)
})

test('bytes with a null in them are parsed: the text leaves out what the object has, and the other way round', async () => {
  const { metadata } = box('a')
  const { creationTimestamp: _, ...timeless } = metadata ?? {}
  const { kept, parsed } = await written({ metadata: timeless })
  assert.deepStrictEqual(kept.decode(boxes), parsed)
})

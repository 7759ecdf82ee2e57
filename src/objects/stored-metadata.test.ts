// Metadata of small and large objects are the same as those of the whole object.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { box, boxes, storeOfBoxes } from './fixture.js'
import { metadataOf } from './stored-metadata.js'

test('metadata are read without the rest of what is large', async () => {
  const store = await storeOfBoxes()
  for (const [name, length] of [
    ['small', 10],
    ['large', 200_000],
  ] as const) {
    const { metadata, ...rest } = box(name, { labels: { 'a"},{': 'metadata' } })
    const finalizers = ['example.com/one']
    const object = { ...rest, metadata: { ...metadata, finalizers }, data: { metadata: '}'.repeat(length) } }
    const address = { resource: boxes, namespace: 'n', name }
    await store.put(address, store.encode(boxes, object), { expect: 0 })
    const stored = store.read(address)
    assert.ok(stored !== undefined)
    assert.deepEqual(metadataOf(stored, boxes), stored.decode(boxes).metadata)
    assert.deepEqual(metadataOf(stored, boxes).finalizers, finalizers)
  }
  store.close()
})

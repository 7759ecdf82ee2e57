// Storage keys: collection of a key, and names with unpaired surrogates.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { box, boxes, put, storeOfBoxes } from './box-store.fixture.js'
import { collectionOf } from './object-keys.js'

test('the collection of a key does not depend on the keys before it', () => {
  const keys = ['pods/a/b', 'pods/c', 'pods.metrics/a', 'pod/a', 'pods/a/b', 'a/b', '/b', 'a/b/c', 'services/pods/x', 'pods/services/x']
  for (const before of keys) {
    for (const key of keys) {
      collectionOf(before)
      assert.equal(collectionOf(key), key.slice(0, key.indexOf('/')))
    }
  }
})

test('an unpaired surrogate in a name becomes the replacement character', async () => {
  const store = await storeOfBoxes()
  await put(store, box('a\ud800'))
  assert.equal(store.read({ resource: boxes, namespace: 'n', name: 'a\ufffd' })?.decode(boxes).metadata?.name, 'a\ufffd')
})

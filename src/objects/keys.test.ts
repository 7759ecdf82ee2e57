// Which collection a key is of, whichever was asked for before.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collectionOf } from './keys.js'

test('the collection of a key does not depend on the keys before it', () => {
  const keys = ['pods/a/b', 'pods/c', 'pods.metrics/a', 'pod/a', 'pods/a/b', 'a/b', '/b', 'a/b/c', 'services/pods/x', 'pods/services/x']
  for (const before of keys) {
    for (const key of keys) {
      collectionOf(before)
      assert.equal(collectionOf(key), key.slice(0, key.indexOf('/')))
    }
  }
})

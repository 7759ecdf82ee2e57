// Template hashes: independent of the order of members, distinct by value and by collision count, valid in names.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashOf } from './template-hash.js'

test('equal values have equal hashes', () => {
  assert.equal(hashOf({ a: 1, b: [{ c: 'x', d: undefined }] }), hashOf({ b: [{ c: 'x' }], a: 1 }))
  assert.equal(hashOf({ a: 1 }, 0), hashOf({ a: 1 }))
})

test('other values, other orders of lists and collisions have other hashes', () => {
  const hashes = [
    hashOf({ a: 1 }),
    hashOf({ a: 2 }),
    hashOf({ a: [1, 2] }),
    hashOf({ a: [2, 1] }),
    hashOf({ a: 1 }, 1),
    hashOf({ a: 1 }, 2),
  ]
  assert.equal(new Set(hashes).size, hashes.length)
  for (const hash of hashes) assert.match(hash, /^[bcdfghjklmnpqrstvwxz2-9]{1,10}$/)
})

test('the hash of a value never changes: names of stored ReplicaSets contain it', () => {
  assert.equal(hashOf({ metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'app:1' }] } }), '7c89647b54')
})

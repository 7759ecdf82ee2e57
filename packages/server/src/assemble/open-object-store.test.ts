// The size of the read cache.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limitReadCache, memoryBytes } from './open-object-store.js'

test('the read cache has the size of the flag, or an eighth of the memory if that is less', () => {
  const mebibyte = 1 << 20
  assert.equal(limitReadCache(16_384 * mebibyte, 256 * mebibyte), 256 * mebibyte)
  assert.equal(limitReadCache(512 * mebibyte, 256 * mebibyte), 64 * mebibyte)
  assert.equal(limitReadCache(512 * mebibyte, 0), 0)
  assert.ok(memoryBytes() > 64 * mebibyte)
})

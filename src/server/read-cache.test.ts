// The read cache on machines of several sizes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { machineBytes, readCacheBytesOn } from './read-cache.js'

test('the flag is the bound where there is much memory, and a share of it where there is little', () => {
  const mebibyte = 1 << 20
  assert.equal(readCacheBytesOn(16_384 * mebibyte, 256 * mebibyte), 256 * mebibyte)
  assert.equal(readCacheBytesOn(512 * mebibyte, 256 * mebibyte), 64 * mebibyte)
  assert.equal(readCacheBytesOn(512 * mebibyte, 0), 0)
  assert.ok(machineBytes() > 64 * mebibyte)
})

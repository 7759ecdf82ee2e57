// Key ranges in byte order, invalid keys, and bounds longer than a key.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkKey, clipBound, isEmptyRange, isInRange, maxKeyBytes } from './collections.js'

test('ranges are in byte order', () => {
  const range = { start: '\uff61', end: '😀' }
  assert.equal(isInRange('\uff61001', range), true)
  assert.equal(isInRange('😀', range), false)
  assert.equal(isInRange('a', range), false)
  assert.equal(isEmptyRange(range), false)
  assert.equal(isEmptyRange({ start: '😀', end: '\uff61' }), true)
})

const keys = [
  { name: 'ASCII', key: 'pods/a/b', ok: true },
  { name: 'other scripts', key: 'roles/é中😀', ok: true },
  { name: 'longest', key: 'x'.repeat(maxKeyBytes), ok: true },
  { name: 'too long', key: 'x'.repeat(maxKeyBytes + 1), ok: false },
  { name: 'too long in bytes', key: '中'.repeat(maxKeyBytes / 2), ok: false },
  { name: 'empty', key: '', ok: false },
  { name: 'half a character', key: 'a\ud83d', ok: false },
]
for (const { name, key, ok } of keys) {
  test(`a key is ${ok ? 'valid' : 'invalid'}: ${name}`, () => {
    if (ok) checkKey(key)
    else assert.throws(() => checkKey(key), RangeError)
  })
}

const bounds = [
  { name: 'short', bound: 'pods/', clipped: 'pods/' },
  { name: 'long', bound: 'x'.repeat(5000), clipped: 'x'.repeat(maxKeyBytes) },
  { name: 'cut within a character', bound: 'x'.repeat(maxKeyBytes - 1) + '中'.repeat(10), clipped: 'x'.repeat(maxKeyBytes - 1) },
]
for (const { name, bound, clipped } of bounds) {
  test(`clipped bound: ${name}`, () => assert.equal(clipBound(bound), clipped))
}

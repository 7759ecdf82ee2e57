// Ranges of keys are those of their bytes, and bounds that are too long are cut without losing a key.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkKey, clipBound, isEmptyRange, isInRange, longestKeyBytes } from './key-order.js'

test('a range is one of bytes', () => {
  const range = { start: '\uff61', end: '😀' }
  assert.equal(isInRange('\uff61001', range), true)
  assert.equal(isInRange('😀', range), false)
  assert.equal(isInRange('a', range), false)
  assert.equal(isEmptyRange(range), false)
  assert.equal(isEmptyRange({ start: '😀', end: '\uff61' }), true)
})

const keys = [
  { name: 'plain', key: 'pods/a/b', ok: true },
  { name: 'other scripts', key: 'roles/é中😀', ok: true },
  { name: 'longest', key: 'x'.repeat(longestKeyBytes), ok: true },
  { name: 'too long', key: 'x'.repeat(longestKeyBytes + 1), ok: false },
  { name: 'too long in bytes', key: '中'.repeat(longestKeyBytes / 2), ok: false },
  { name: 'empty', key: '', ok: false },
  { name: 'half a character', key: 'a\ud83d', ok: false },
]
for (const { name, key, ok } of keys) {
  test(`a key: ${name}`, () => {
    if (ok) checkKey(key)
    else assert.throws(() => checkKey(key), RangeError)
  })
}

const bounds = [
  { name: 'short', bound: 'pods/', clipped: 'pods/' },
  { name: 'long', bound: 'x'.repeat(5000), clipped: 'x'.repeat(longestKeyBytes) },
  { name: 'cut within a character', bound: 'x'.repeat(longestKeyBytes - 1) + '中'.repeat(10), clipped: 'x'.repeat(longestKeyBytes - 1) },
]
for (const { name, bound, clipped } of bounds) {
  test(`a bound: ${name}`, () => assert.equal(clipBound(bound), clipped))
}

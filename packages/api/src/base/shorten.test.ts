// What a message repeats of a long text.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listSome, shorten } from './shorten.js'

test('a short text stays as it is', () => {
  assert.equal(shorten(''), '')
  assert.equal(shorten('x'.repeat(512)), 'x'.repeat(512))
})

test('of a long text the beginning is shown', () => {
  assert.equal(shorten('x'.repeat(513)), `${'x'.repeat(256)}...`)
  assert.equal(shorten('abcdefg', 3), 'abc...')
})

test('a pair of surrogates is not cut in two', () => {
  assert.equal(shorten('ab😀cdef', 3), 'ab...')
  assert.equal(shorten('ab😀cdefgh', 4), 'ab😀...')
})

test('a list that is cut says how many more there are', () => {
  assert.equal(listSome(['a', 'b'], 0), 'a, b')
  assert.equal(listSome(['a', 'b'], 3), 'a, b, and 3 more')
})

// Tests of shortened texts and lists in messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listSome, shorten } from './shorten.js'

test('texts up to 512 characters are unchanged', () => {
  assert.equal(shorten(''), '')
  assert.equal(shorten('x'.repeat(512)), 'x'.repeat(512))
})

test('longer texts are cut after 256 characters', () => {
  assert.equal(shorten('x'.repeat(513)), `${'x'.repeat(256)}...`)
  assert.equal(shorten('abcdefg', 3), 'abc...')
})

test('surrogate pairs are not split', () => {
  assert.equal(shorten('ab😀cdef', 3), 'ab...')
  assert.equal(shorten('ab😀cdefgh', 4), 'ab😀...')
})

test('listSome appends the number of omitted items', () => {
  assert.equal(listSome(['a', 'b'], 0), 'a, b')
  assert.equal(listSome(['a', 'b'], 3), 'a, b, and 3 more')
})

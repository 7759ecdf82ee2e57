// What a message repeats of a long text.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shorten } from './shorten.js'

test('a short text stays as it is', () => {
  assert.equal(shorten(''), '')
  assert.equal(shorten('x'.repeat(256)), 'x'.repeat(256))
})

test('of a long text the beginning is shown', () => {
  assert.equal(shorten('x'.repeat(257)), `${'x'.repeat(256)}...`)
  assert.equal(shorten('abcdef', 3), 'abc...')
})

test('a pair of surrogates is not cut in two', () => {
  assert.equal(shorten(`ab${'😀'}cd`, 3), 'ab...')
  assert.equal(shorten(`ab${'😀'}cd`, 4), 'ab😀...')
})

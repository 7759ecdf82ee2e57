// Warnings of a response: duplicates, and the limit on their total length.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Warnings } from './warnings.js'

function collected(...texts: readonly string[]): readonly string[] {
  const warnings = new Warnings()
  for (const text of texts) warnings.add(text)
  return [...warnings.texts]
}

test('each warning is sent once and in order; empty ones are not', () => assert.deepEqual(collected('a', 'b', 'a', ''), ['a', 'b']))

test('a long warning is not truncated within the total limit', () => assert.deepEqual(collected('x'.repeat(4096)), ['x'.repeat(4096)]))

test('beyond the total limit each warning is truncated', () => {
  const texts = ['a', 'b'].map((char) => char.repeat(4000))
  assert.deepEqual(
    collected(...texts),
    texts.map((text) => text.slice(0, 256)),
  )
  assert.deepEqual(collected('c'.repeat(4_000_000)), ['c'.repeat(256)])
})

test('warnings beyond the total limit are dropped', () => {
  const texts = Array.from({ length: 1000 }, (_, i) => `${i} ${'x'.repeat(500)}`)
  const kept = collected(...texts)
  assert.equal(kept.length, 16)
  assert.ok(kept.every((text) => text.length === 256))
  const short = collected(...Array.from({ length: 100_000 }, (_, i) => `warning ${i}`))
  assert.ok(short.join('').length < 4200)
})

test('a surrogate pair is not split', () => {
  assert.deepEqual(collected(`${'x'.repeat(255)}😀`, 'y'.repeat(4096)).at(0), 'x'.repeat(255))
})

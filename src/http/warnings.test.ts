// How many warnings an answer carries, and how long they are.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Warnings } from './warnings.js'

function shown(...texts: readonly string[]): readonly string[] {
  const warnings = new Warnings()
  for (const text of texts) warnings.add(text)
  return [...warnings.texts]
}

test('each is said once, in order, and nothing is not said', () => assert.deepEqual(shown('a', 'b', 'a', ''), ['a', 'b']))

test('a long one goes out whole where there is room', () => assert.deepEqual(shown('x'.repeat(4096)), ['x'.repeat(4096)]))

test('beyond the room for all, each is cut', () => {
  const texts = ['a', 'b'].map((letter) => letter.repeat(4000))
  assert.deepEqual(
    shown(...texts),
    texts.map((text) => text.slice(0, 256)),
  )
  assert.deepEqual(shown('c'.repeat(4_000_000)), ['c'.repeat(256)])
})

test('and more than there is room for are left out', () => {
  const texts = Array.from({ length: 1000 }, (_, i) => `${i} ${'x'.repeat(500)}`)
  const said = shown(...texts)
  assert.equal(said.length, 16)
  assert.ok(said.every((text) => text.length === 256))
  const short = shown(...Array.from({ length: 100_000 }, (_, i) => `warning ${i}`))
  assert.ok(short.join('').length < 4200)
})

test('a pair of surrogates is not cut in two', () => {
  assert.deepEqual(shown(`${'x'.repeat(255)}😀`, 'y'.repeat(4096)).at(0), 'x'.repeat(255))
})

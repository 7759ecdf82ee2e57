// Texts are ordered as their UTF-8 bytes are, whichever way they are compared.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareText, comparisonOf, countBefore, sortTexts } from './text-order.js'

const texts = [
  '',
  'a',
  'a\0',
  'a-',
  'a/',
  'a0',
  'ab',
  'z',
  'é',
  '\ud7ff',
  '\ue000',
  '｡',
  '｡001',
  '\uffff',
  '\u{10000}',
  '😀',
  '😀001',
  '😁',
  '\u{10ffff}',
]
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

test('the order is that of the bytes', () => {
  for (const a of texts) {
    for (const b of texts) {
      assert.equal(Math.sign(compareText(a, b)), byBytes(a, b), `${a} and ${b}`)
      assert.equal(Math.sign(comparisonOf(a)(a, b)), byBytes(a, b), `${a} with ${b}`)
      assert.equal(Math.sign(comparisonOf(b)(a, b)), byBytes(a, b), `${b} with ${a}`)
    }
  }
})

test('texts are sorted, and found again', () => {
  const sorted = texts.toSorted(byBytes)
  assert.deepEqual(sortTexts(texts.toReversed()), sorted)
  assert.deepEqual(sortTexts(['b', 'a', 'c']), ['a', 'b', 'c'])
  for (const [index, text] of sorted.entries()) assert.equal(countBefore(sorted, text), index)
  assert.equal(countBefore(sorted, '😀0'), sorted.indexOf('😀001'))
  assert.equal(countBefore(sorted, '｡0'), sorted.indexOf('｡001'))
})

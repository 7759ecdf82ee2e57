// Tests of text order: strings sort like their UTF-8 bytes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comparatorFor, compareText, lowerBound, sortTexts } from './text-order.js'

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

test('compareText and comparatorFor order by UTF-8 bytes', () => {
  for (const a of texts) {
    for (const b of texts) {
      assert.equal(Math.sign(compareText(a, b)), byBytes(a, b), `${a} and ${b}`)
      assert.equal(Math.sign(comparatorFor(a)(a, b)), byBytes(a, b), `${a} with ${b}`)
      assert.equal(Math.sign(comparatorFor(b)(a, b)), byBytes(a, b), `${b} with ${a}`)
    }
  }
})

test('sortTexts sorts by UTF-8 bytes, and lowerBound finds each text', () => {
  const sorted = texts.toSorted(byBytes)
  assert.deepEqual(sortTexts(texts.toReversed()), sorted)
  assert.deepEqual(sortTexts(['b', 'a', 'c']), ['a', 'b', 'c'])
  for (const [index, text] of sorted.entries()) assert.equal(lowerBound(sorted, text), index)
  assert.equal(lowerBound(sorted, '😀0'), sorted.indexOf('😀001'))
  assert.equal(lowerBound(sorted, '｡0'), sorted.indexOf('｡001'))
})

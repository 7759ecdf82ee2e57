// Tests of substring search: results compared with V8, and linear time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { indexOfText, lastIndexOfText, splitText } from './text-search.js'

/** Random text of two letters, so that substrings repeat. */
function textOf(random: () => number, length: number): string {
  return Array.from({ length }, () => 'ab'[Math.floor(random() * 1.3) % 2]).join('')
}

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

test('results agree with indexOf, lastIndexOf and split', () => {
  const random = seeded(7)
  for (let round = 0; round < 300; round++) {
    const unit = textOf(random, 1 + Math.floor(random() * 40))
    const text = textOf(random, Math.floor(random() * 200)) + unit.repeat(Math.floor(random() * 12)) + textOf(random, 50)
    const start = Math.floor(random() * text.length)
    const part = random() < 0.5 ? text.slice(start, start + 65 + Math.floor(random() * 100)) : unit.repeat(40).slice(0, 70)
    if (part.length <= 64) continue
    for (const from of [0, 1, start, text.length, text.length + 3]) {
      assert.equal(indexOfText(text, part, from), text.indexOf(part, from))
      assert.equal(lastIndexOfText(text, part, from), text.lastIndexOf(part, from))
    }
    assert.equal(lastIndexOfText(text, part), text.lastIndexOf(part))
    assert.deepEqual(splitText(text + text, part), (text + text).split(part))
  }
})

test('near matches at every position take linear time', () => {
  const length = 1 << 20
  const text = 'a'.repeat(length)
  const quarter = 'a'.repeat(length / 4)
  // Quadratic search takes minutes and would exceed the time limit of the test file.
  for (const part of [`${quarter}b${quarter}`, `${quarter}b`, `b${quarter}`]) {
    assert.equal(indexOfText(text, part), -1)
    assert.equal(lastIndexOfText(text, part), -1)
    assert.equal(splitText(text, part).length, 1)
  }
})

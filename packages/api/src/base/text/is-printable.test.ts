// Tests of printable and unprintable characters.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { indexOfUnprintable, isPrintable } from './is-printable.js'

test('letters, marks, numbers, punctuation and symbols of all scripts are printable', () => {
  for (const text of ['', 'kubectl-edit 1.0 (~)', 'größe', 'ключ', '鍵', 'e\u0301', '½', '€', '𝒜', '😀', '«»'])
    assert.ok(isPrintable(text), text)
})

test('control characters, spaces other than U+0020 and unassigned code points are not printable', () => {
  for (const text of ['\0', 'a\n', '\t', '\x7f', '\u0085', '\u00a0', '\u2028', '\u200b', '\ufeff', '\ue000', '\ud800', '\u{e0001}'])
    assert.ok(!isPrintable(text), JSON.stringify(text))
})

test('indexOfUnprintable returns the index of the first unprintable character', () => {
  assert.equal(indexOfUnprintable('größe\n\t'), 5)
  assert.equal(indexOfUnprintable('😀\u00a0'), 2)
  assert.equal(indexOfUnprintable('plain'), -1)
})

test('isPrintable agrees with the Unicode category of every code point', () => {
  for (let code = 0; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code)
    if (isPrintable(character) !== /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character)) assert.fail(`U+${code.toString(16)}`)
  }
})

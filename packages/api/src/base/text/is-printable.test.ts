// What can be printed and what cannot, in all scripts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canBePrinted, indexOfUnprintable } from './can-be-printed.js'

test('letters, marks, numbers, punctuation and symbols of all scripts can be printed', () => {
  for (const text of ['', 'kubectl-edit 1.0 (~)', 'größe', 'ключ', '鍵', 'e\u0301', '½', '€', '𝒜', '😀', '«»'])
    assert.ok(canBePrinted(text), text)
})

test('controls, spaces other than the plain one, and what no script has cannot', () => {
  for (const text of ['\0', 'a\n', '\t', '\x7f', '\u0085', '\u00a0', '\u2028', '\u200b', '\ufeff', '\ue000', '\ud800', '\u{e0001}'])
    assert.ok(!canBePrinted(text), JSON.stringify(text))
})

test('the first of them is found', () => {
  assert.equal(indexOfUnprintable('größe\n\t'), 5)
  assert.equal(indexOfUnprintable('😀\u00a0'), 2)
  assert.equal(indexOfUnprintable('plain'), -1)
})

/** Each character by itself, beside the pattern. */
test('it is the same for every character as what the platform says of its category', () => {
  for (let code = 0; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code)
    if (canBePrinted(character) !== /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character)) assert.fail(`U+${code.toString(16)}`)
  }
})

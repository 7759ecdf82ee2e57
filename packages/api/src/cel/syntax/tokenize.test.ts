// Tests of unterminated strings in CEL: tokens, reported errors, linear time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Token, tokenize } from './tokenize.js'

function tokenizeAll(text: string): { readonly tokens: readonly Token[]; readonly errorOffsets: readonly number[] } {
  const errorOffsets: number[] = []
  const tokens = tokenize(text, ({ at }) => errorOffsets.push(at))
  return { tokens, errorOffsets }
}

const strings = (text: string): readonly string[] =>
  tokenizeAll(text).tokens.flatMap((token) => (token.type === 'STRING' ? [token.text] : []))

test('unterminated triple quotes become an empty string and a quote', () => {
  assert.deepEqual(strings("'''a\n'''"), ["'''a\n'''"])
  assert.deepEqual(strings("'''a\n''"), ["''", "''"])
  // Escaped quotes do not end the string.
  assert.deepEqual(strings("'''\n\\'''\n\\'''"), ["''", "''", "''"])
  assert.deepEqual(strings("'''\n\\'''\n\\''' '''"), ["'''\n\\'''\n\\''' '''"])
  assert.deepEqual(strings('"""\n\\"""\n\\\\"""'), ['"""\n\\"""\n\\\\"""'])
  assert.deepEqual(strings("'''\n\\q'''a'''"), ["''", "'''a'''"])
})

test('20,000 unterminated strings are all reported', () => {
  const count = 20_000
  const { tokens, errorOffsets } = tokenizeAll("'''\n\\".repeat(count))
  assert.equal(tokens.length, count + 1)
  assert.equal(errorOffsets.length, 2 * count)
})

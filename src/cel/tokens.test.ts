// Strings without an end in expressions: what is reported of them, and that each letter is looked at a few times at most.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Token, tokenize } from './tokens.js'

function read(text: string): { readonly tokens: readonly Token[]; readonly problems: readonly number[] } {
  const problems: number[] = []
  const tokens = tokenize(text, ({ at }) => problems.push(at))
  return { tokens, problems }
}

const strings = (text: string): readonly string[] => read(text).tokens.flatMap((token) => (token.type === 'STRING' ? [token.text] : []))

test('three quotes without three more are an empty string and a quote', () => {
  assert.deepEqual(strings("'''a\n'''"), ["'''a\n'''"])
  assert.deepEqual(strings("'''a\n''"), ["''", "''"])
  // Quotes behind a backslash do not end it, nor do those that are no end for what began before.
  assert.deepEqual(strings("'''\n\\'''\n\\'''"), ["''", "''", "''"])
  assert.deepEqual(strings("'''\n\\'''\n\\''' '''"), ["'''\n\\'''\n\\''' '''"])
  assert.deepEqual(strings('"""\n\\"""\n\\\\"""'), ['"""\n\\"""\n\\\\"""'])
  assert.deepEqual(strings("'''\n\\q'''a'''"), ["''", "'''a'''"])
})

test('many that have no end are all reported', () => {
  const count = 20_000
  const { tokens, problems } = read("'''\n\\".repeat(count))
  assert.equal(tokens.length, count + 1)
  assert.equal(problems.length, 2 * count)
})

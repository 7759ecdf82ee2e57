// Tests of compiled regular expressions: compared with RE2JS, and limits.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RE2JS } from 're2js'
import { compileRegex } from './regex.js'

let state = 11
const randomBelow = (limit: number): number => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
  return (state >>> 8) % limit
}

const samples = ['', 'a', '[', ':', ']', '^', '-', '\\', 'x', '[:', ':]', 'a]', '-]', '[:a]', '5', '😀', 'p', '{']

/** Returns the error message, or the samples that match. */
const outcome = (compiled: RE2JS | Error): unknown =>
  compiled instanceof Error ? compiled.message : samples.filter((text) => compiled.test(text))

function compileWithRe2js(text: string): RE2JS | Error {
  try {
    return RE2JS.compile(text)
  } catch (thrown) {
    const { message } = thrown as Error
    return new Error(message.endsWith('trailing backslash at end of expression') ? `${message}: \`\`` : message)
  }
}

/** Syntax that kube-apiserver treats differently from RE2JS. */
const treatedDifferently = /\[:\]|\(\?<|duplicate capture/

function compare(alphabet: readonly string[], count: number): number {
  let errors = 0
  for (let i = 0; i < count; i++) {
    const text = Array.from({ length: 1 + randomBelow(12) }, () => alphabet[randomBelow(alphabet.length)]).join('')
    const expected = outcome(compileWithRe2js(text))
    if (treatedDifferently.test(text) || treatedDifferently.test(String(expected))) continue
    assert.deepEqual(outcome(compileRegex(text)), expected, text)
    if (typeof expected === 'string') errors++
  }
  return errors
}

test('random character classes behave as in RE2JS', () => {
  const errors = compare([...'[[[]:::a^-'], 8_000)
  assert.ok(errors > 500 && errors < 7_500, `${errors} errors`)
})

test('random expressions with character classes behave as in RE2JS', () => {
  const parts = [
    '[',
    '[',
    '[:',
    '[[:',
    ']',
    ':]',
    ':',
    '-',
    '^',
    'a',
    '\\',
    '\\[',
    '\\]',
    '\\d',
    '\\Q',
    '\\E',
    '\\p{L}',
    '\\p{',
    '\\pL',
    '}',
  ]
  const errors = compare(
    [...parts, '[:alpha:]', '(', ')', '(?P<n>', '(?P<', '>', '\\x5b', '\\x{5b}', '\\x{', '\\101', '\\0', '😀', '*', '|'],
    2_000,
  )
  assert.ok(errors > 125 && errors < 1_875, `${errors} errors`)
})

test('`[:` without `:]` in a class matches literally', () => {
  const matched = (pattern: string, text: string): boolean => {
    const compiled = compileRegex(pattern)
    assert.ok(compiled instanceof RE2JS, String(compiled))
    return compiled.test(text)
  }
  assert.ok(matched('^[[:a]+$', 'a[:'))
  assert.ok(matched('^[[:]+$', '[:'))
  assert.ok(matched('^[^[:]$', 'a'))
  assert.ok(!matched('^[^[:]$', '['))
  assert.equal((compileRegex('(?:[[:[:') as Error).message, 'error parsing regexp: missing closing ]: `[[:[:`')
  assert.equal((compileRegex('(\\[:[[:a]') as Error).message, 'error parsing regexp: missing closing ): `(\\[:[[:a]`')
})

test('duplicate group names are accepted, unterminated ones are not', () => {
  assert.ok(compileRegex('(?P<a>x)(?P<a>y)') instanceof RE2JS)
  assert.equal((compileRegex('(?P<a>x)(?P<a>y)(?P<b') as Error).message, 'error parsing regexp: invalid named capture: `(?P<b`')
  assert.equal((compileRegex('(?P<a>x)(?P<a>y') as Error).message, 'error parsing regexp: missing closing ): `(?P<a>x)(?P<a>y`')
})

test('at most a hundred Unicode classes are accepted', () => {
  assert.ok(!(compileRegex(`[${'\\pL'.repeat(100)}]`) instanceof Error))
  for (const count of [101, 10_000])
    for (const pattern of [`[${'\\pL'.repeat(count)}]`, '\\P{Greek}'.repeat(count)]) {
      const rejected = compileRegex(pattern)
      assert.ok(rejected instanceof Error && rejected.message === 'error parsing regexp: expression too large')
    }
})

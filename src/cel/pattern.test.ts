// Patterns as users write them: what the library makes of them is what comes out, in time that is in proportion to their length.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RE2JS } from 're2js'
import { patternOf } from './pattern.js'

let state = 11
const below = (limit: number): number => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
  return (state >>> 8) % limit
}

const samples = ['', 'a', '[', ':', ']', '^', '-', '\\', 'x', '[:', ':]', 'a]', '-]', '[:a]', '5', '😀', 'p', '{']

/** What is wrong with it, or which of the samples it matches. */
const outcome = (compiled: RE2JS | Error): unknown =>
  compiled instanceof Error ? compiled.message : samples.filter((text) => compiled.test(text))

function plain(text: string): RE2JS | Error {
  try {
    return RE2JS.compile(text)
  } catch (thrown) {
    const { message } = thrown as Error
    return new Error(message.endsWith('trailing backslash at end of expression') ? `${message}: \`\`` : message)
  }
}

/** What the reference sees otherwise than the library. */
const differs = /\[:\]|\(\?<|duplicate capture/

function compare(alphabet: readonly string[], count: number): number {
  let errors = 0
  for (let i = 0; i < count; i++) {
    const text = Array.from({ length: 1 + below(12) }, () => alphabet[below(alphabet.length)]).join('')
    const wanted = outcome(plain(text))
    if (differs.test(text) || differs.test(String(wanted))) continue
    assert.deepEqual(outcome(patternOf(text)), wanted, text)
    if (typeof wanted === 'string') errors++
  }
  return errors
}

test('classes are what the library takes them for', () => {
  const errors = compare([...'[[[]:::a^-'], 8_000)
  assert.ok(errors > 500 && errors < 7_500, `${errors} errors`)
})

test('classes among all else are what the library takes them for', () => {
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
    8_000,
  )
  assert.ok(errors > 500 && errors < 7_500, `${errors} errors`)
})

test('a bracket and a colon are letters where no name ends', () => {
  const matched = (pattern: string, text: string): boolean => {
    const compiled = patternOf(pattern)
    assert.ok(compiled instanceof RE2JS, String(compiled))
    return compiled.test(text)
  }
  assert.ok(matched('^[[:a]+$', 'a[:'))
  assert.ok(matched('^[[:]+$', '[:'))
  assert.ok(matched('^[^[:]$', 'a'))
  assert.ok(!matched('^[^[:]$', '['))
  assert.equal((patternOf('(?:[[:[:') as Error).message, 'error parsing regexp: missing closing ]: `[[:[:`')
  assert.equal((patternOf('(\\[:[[:a]') as Error).message, 'error parsing regexp: missing closing ): `(\\[:[[:a]`')
})

test('groups of one name are told apart, and one without an end is an error', () => {
  assert.ok(patternOf('(?P<a>x)(?P<a>y)') instanceof RE2JS)
  assert.equal((patternOf('(?P<a>x)(?P<a>y)(?P<b') as Error).message, 'error parsing regexp: invalid named capture: `(?P<b`')
  assert.equal((patternOf('(?P<a>x)(?P<a>y') as Error).message, 'error parsing regexp: missing closing ): `(?P<a>x)(?P<a>y`')
})

/** The shortest of a few times. */
const time = (text: string): number =>
  Math.min(
    ...Array.from({ length: 3 }, () => {
      const start = performance.now()
      patternOf(text)
      return performance.now() - start
    }),
  )

const bytes = 64 << 10
const fill = (start: string, unit: string, end = ''): string => `${start}${unit.repeat(bytes / unit.length)}${end}`
const long: readonly string[] = [
  fill('[', '[:'),
  fill('[', '[:', ']'),
  fill('[[:alpha:]', '[:', ']'),
  fill('', '[[:]'),
  fill('[', '[:', ':]'),
  fill('[', '[:a', ':]]'),
  fill('[', '\\p{'),
  fill('[(?<n>[', '[:', ']'),
  fill('(?P<n>a)(?P<n>a)[', '[:', ']'),
  fill('(?P<n>a)(?P<n>a)', '(?P<'),
]
for (const text of long) {
  test(`a long pattern is compiled as soon as another: ${text.slice(0, 24)}`, () => {
    // As many classes, which each cost something; quadratic time was a hundred times as much.
    const control = fill('', '[ab]')
    const isSoon = (): boolean => time(text) < 10 * time(control) + 100
    assert.ok(isSoon() || isSoon() || isSoon())
  })
}

test('a pattern may name a hundred properties of letters, and not ten thousand', () => {
  assert.ok(!(patternOf(`[${'\\pL'.repeat(100)}]`) instanceof Error))
  for (const count of [101, 10_000])
    for (const pattern of [`[${'\\pL'.repeat(count)}]`, '\\P{Greek}'.repeat(count)]) {
      const refused = patternOf(pattern)
      assert.ok(refused instanceof Error && refused.message === 'error parsing regexp: expression too large')
    }
})

// Tests of durations: parsing, errors and the canonical text.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDurationMs, printDuration, readDuration } from './duration.js'

const durations: readonly (readonly [text: string, nanoseconds: bigint, canonical: string])[] = [
  ['90m', 5_400_000_000_000n, '1h30m0s'],
  ['1h0.5s', 3_600_500_000_000n, '1h0m0.5s'],
  ['-2m', -120_000_000_000n, '-2m0s'],
  ['+1.5s', 1_500_000_000n, '1.5s'],
  ['0', 0n, '0s'],
  ['-0', 0n, '0s'],
  ['00s', 0n, '0s'],
  ['1500us', 1_500_000n, '1.5ms'],
  ['2µs', 2000n, '2µs'],
  ['2μs', 2000n, '2µs'],
  ['15ns', 15n, '15ns'],
  ['.5us1.s', 1_000_000_500n, '1.0000005s'],
  ['007ms', 7_000_000n, '7ms'],
  ['0.9999999999999999999999ns', 0n, '0s'],
  ['1h'.repeat(500), 1_800_000_000_000_000n, '500h0m0s'],
  ['9223372036854775807ns', (1n << 63n) - 1n, '2562047h47m16.854775807s'],
  ['-9223372036854775808ns', -(1n << 63n), '-2562047h47m16.854775808s'],
]

const invalid: readonly (readonly [text: string, problem: string, unit?: string])[] = [
  ['', 'invalid'],
  ['-', 'invalid'],
  ['.s', 'invalid'],
  ['soon', 'invalid'],
  ['1s-1s', 'unknown unit', 's-'],
  ['1h ', 'unknown unit', 'h '],
  ['5', 'missing unit'],
  ['1s5', 'missing unit'],
  ['1d', 'unknown unit', 'd'],
  ['1 s', 'unknown unit', ' s'],
  ['1constructor', 'unknown unit', 'constructor'],
  ['9223372036854775808ns', 'invalid'],
  ['9999999h', 'invalid'],
  [`${'9'.repeat(900)}h`, 'invalid'],
  ['1h'.repeat(501), 'invalid'],
  ['1'.repeat(1_000_000), 'invalid'],
]

test('durations are parsed, and printed canonically', () => {
  for (const [text, nanoseconds, canonical] of durations) {
    assert.equal(readDuration(text), nanoseconds, text)
    assert.equal(printDuration(nanoseconds), canonical, text)
  }
})

test('an invalid duration returns the problem and the unknown unit', () => {
  for (const [text, problem, unit] of invalid)
    assert.deepEqual(readDuration(text), unit === undefined ? { problem } : { problem, unit }, text.slice(0, 40))
})

test('parseDurationMs returns milliseconds, or undefined', () => {
  assert.equal(parseDurationMs('1m30.5s'), 90_500)
  assert.equal(parseDurationMs('1ns'), 1e-6)
  assert.equal(parseDurationMs('soon'), undefined)
})

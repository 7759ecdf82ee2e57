// Tests of human-readable durations at the boundaries of each unit.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ageOf, humanDuration } from './human-duration.js'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const year = 365 * day

const rows: readonly { readonly ms: number; readonly text: string }[] = [
  { ms: -5 * second, text: '<invalid>' },
  { ms: -2 * second, text: '<invalid>' },
  { ms: -1999, text: '0s' },
  { ms: 0, text: '0s' },
  { ms: 999, text: '0s' },
  { ms: 59 * second, text: '59s' },
  { ms: 119 * second, text: '119s' },
  { ms: 2 * minute, text: '2m' },
  { ms: 3 * minute + 20 * second, text: '3m20s' },
  { ms: 10 * minute + 5 * second, text: '10m' },
  { ms: 179 * minute, text: '179m' },
  { ms: 3 * hour, text: '3h' },
  { ms: 7 * hour + 59 * minute, text: '7h59m' },
  { ms: 8 * hour + 59 * minute, text: '8h' },
  { ms: 47 * hour, text: '47h' },
  { ms: 2 * day, text: '2d' },
  { ms: 2 * day + 3 * hour, text: '2d3h' },
  { ms: 8 * day + 3 * hour, text: '8d' },
  { ms: 729 * day, text: '729d' },
  { ms: 2 * year, text: '2y' },
  { ms: 4 * year + 12 * day, text: '4y12d' },
  { ms: 9 * year + 12 * day, text: '9y' },
]

for (const { ms, text } of rows) test(`${ms} ms is ${text}`, () => assert.equal(humanDuration(ms), text))

test('an age without a timestamp is unknown', () => assert.equal(ageOf(undefined, 0), '<unknown>'))
test('an age is counted from its timestamp', () => assert.equal(ageOf('1970-01-01T00:00:10Z', 15_000), '5s'))

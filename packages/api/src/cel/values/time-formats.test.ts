// Tests of times and durations of schema formats, and of their error messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDate, parseDateTime, parseLooseDuration, parseTimestamp } from './time-formats.js'

const seconds = (text: string): unknown => {
  const parsed = parseDateTime(text)
  return typeof parsed === 'string' ? parsed : Number(parsed.nanos / 1_000_000n) / 1000
}
const parseError = (text: string, rest: string, element: string): string =>
  `parsing time "${text}" as "2006-01-02T15:04:05": cannot parse "${rest}" as "${element}"`

const dateTimes: readonly (readonly [text: string, outcome: unknown])[] = [
  ['', 0],
  ['1970-01-01T00:00:01Z', 1],
  ['1970-01-01T1:00:00Z', 3600],
  ['1970-01-01T00:00:01,5Z', 1.5],
  ['1970-01-01T00:00:01', 1],
  ['1970-01-01T01:00:00.000+0100', 0],
  ['1970-01-01T01:00:00+0100', 'parsing time "1970-01-01T01:00:00+0100": extra text: "+0100"'],
  ['1970-13-01T00:00:00Z', 'parsing time "1970-13-01T00:00:00Z": month out of range'],
  ['1970-02-30T00:00:00', 'parsing time "1970-02-30T00:00:00": day out of range'],
  ['1970-01-01T24:00:00Z', 'parsing time "1970-01-01T24:00:00Z": hour out of range'],
  ['1970-1-01T00:00:00Z', parseError('1970-1-01T00:00:00Z', '1-01T00:00:00Z', '01')],
  ['1970-01-01t00:00:00Z', parseError('1970-01-01t00:00:00Z', 't00:00:00Z', 'T')],
  ['19a0-01-01', parseError('19a0-01-01', '-01-01', '2006')],
  ['1970-01-01T00:00', parseError('1970-01-01T00:00', '', ':')],
]
for (const [text, outcome] of dateTimes) test(`parseDateTime of ${JSON.stringify(text)}`, () => assert.equal(seconds(text), outcome))

test('parseDate returns nanoseconds or the error', () => {
  assert.equal(parseDate('1970-01-02'), 86_400_000_000_000n)
  assert.equal(parseDate(''), 'parsing time "" as "2006-01-02": cannot parse "" as "2006"')
  assert.equal(parseDate('2021-02-30'), 'parsing time "2021-02-30": day out of range')
  assert.equal(parseDate('2021-01-01Z'), 'parsing time "2021-01-01Z": extra text: "Z"')
})

test('hours may have one digit', () => assert.equal(parseTimestamp('1970-01-01T1:00:00Z')?.nanos, 3_600_000_000_000n))

const durations: readonly (readonly [text: string, seconds: number | undefined])[] = [
  ['1h', 3600],
  ['3 days', 259_200],
  ['about 2 weeks', 1_209_600],
  ['1.5 min', 300],
  ['1 hr 2 secs', 3602],
  ['7 parsecs', undefined],
  ['days', undefined],
  ['12 34 sec', 34],
  ['1\u00a0s', undefined],
  ['1'.repeat(1000), undefined],
  [`1${' '.repeat(999)}`, undefined],
  ['', undefined],
]
for (const [text, expectedSeconds] of durations) {
  test(`parseLooseDuration of ${JSON.stringify(text)}`, () => {
    const nanos = parseLooseDuration(text)
    assert.equal(nanos === undefined ? undefined : Number(nanos / 1_000_000_000n), expectedSeconds)
  })
}

test('overlong texts are rejected, and shortened in the message', () => {
  assert.equal(parseLooseDuration('1h'.repeat(500)), 1_800_000_000_000_000n)
  assert.equal(parseLooseDuration('1h'.repeat(501)), undefined)
  for (const problem of [parseDateTime('1'.repeat(100_000)), parseDate('2'.repeat(100_000))]) assert.ok(String(problem).length < 2000)
})

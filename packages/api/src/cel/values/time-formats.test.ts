// Times and durations of schemas as they are read, and what is said of those that cannot be.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { numbersWithUnits, parseDate, parseDateTime, parseLooseDuration, parseTimestamp } from './time-text.js'

const seconds = (text: string): unknown => {
  const read = parseDateTime(text)
  return typeof read === 'string' ? read : Number(read.nanos / 1_000_000n) / 1000
}
const cannot = (text: string, rest: string, element: string): string =>
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
  ['1970-1-01T00:00:00Z', cannot('1970-1-01T00:00:00Z', '1-01T00:00:00Z', '01')],
  ['1970-01-01t00:00:00Z', cannot('1970-01-01t00:00:00Z', 't00:00:00Z', 'T')],
  ['19a0-01-01', cannot('19a0-01-01', '-01-01', '2006')],
  ['1970-01-01T00:00', cannot('1970-01-01T00:00', '', ':')],
]
for (const [text, outcome] of dateTimes) test(`date-time ${JSON.stringify(text)}`, () => assert.equal(seconds(text), outcome))

test('dates', () => {
  assert.equal(parseDate('1970-01-02'), 86_400_000_000_000n)
  assert.equal(parseDate(''), 'parsing time "" as "2006-01-02": cannot parse "" as "2006"')
  assert.equal(parseDate('2021-02-30'), 'parsing time "2021-02-30": day out of range')
  assert.equal(parseDate('2021-01-01Z'), 'parsing time "2021-01-01Z": extra text: "Z"')
})

test('an hour of one digit is one', () => assert.equal(parseTimestamp('1970-01-01T1:00:00Z')?.nanos, 3_600_000_000_000n))

const durations: readonly (readonly [text: string, seconds: number | undefined])[] = [
  ['1h', 3600],
  ['3 days', 259_200],
  ['about 2 weeks', 1_209_600],
  ['1.5 min', 300],
  ['1 hr 2 secs', 3602],
  ['7 parsecs', undefined],
  ['days', undefined],
  ['', undefined],
]
for (const [text, wanted] of durations) {
  test(`duration ${JSON.stringify(text)}`, () => {
    const nanos = parseLooseDuration(text)
    assert.equal(nanos === undefined ? undefined : Number(nanos / 1_000_000_000n), wanted)
  })
}

test('a text that is longer than any time or duration is none, and is not told whole', () => {
  assert.equal(parseLooseDuration('1h'.repeat(500)), 1_800_000_000_000_000n)
  assert.equal(parseLooseDuration('1h'.repeat(501)), undefined)
  for (const problem of [parseDateTime('1'.repeat(100_000)), parseDate('2'.repeat(100_000))]) assert.ok(String(problem).length < 2000)
})

test('numbers with units are what the expression of the reference finds', () => {
  let state = 7
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % limit
  }
  const letters = [...'0019 \t\n\u000b\f\r\u00a0asµμZ.-é٣']
  for (let i = 0; i < 20_000; i++) {
    const text = Array.from({ length: below(14) }, () => letters[below(letters.length)]).join('')
    const wanted = Array.from(text.matchAll(/(\d+)[\t\n\f\r ]*([A-Za-zµ]+)/g), ([, count, name]) => [count, name])
    assert.deepEqual([...numbersWithUnits(text)], wanted, JSON.stringify(text))
  }
})

test('a long text is no duration soon', () => {
  const start = performance.now()
  for (const text of ['1'.repeat(1_000_000), '1 '.repeat(500_000), `1${' '.repeat(1_000_000)}`, `${'1 '.repeat(1000)}x`.repeat(400)])
    assert.equal(parseLooseDuration(text), undefined)
  // With an expression that begins anew at every digit, this took hours.
  assert.ok(performance.now() - start < 20_000)
})

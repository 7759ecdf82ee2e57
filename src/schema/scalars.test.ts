// Times, bytes and durations in their one spelling.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64Fault, durationNanoseconds, isBase64, readBytes, readDuration, readTime } from './scalars.js'

const times: readonly { text: string; micro?: boolean; read: string | undefined }[] = [
  { text: '2024-02-29T12:00:00Z', read: '2024-02-29T12:00:00Z' },
  { text: '2023-02-29T12:00:00Z', read: undefined },
  { text: '2024-13-01T12:00:00Z', read: undefined },
  { text: '2024-01-01T25:00:00Z', read: undefined },
  { text: '2024-01-01t00:00:00z', read: undefined },
  { text: '2024-01-01T00:00:00.5Z', read: '2024-01-01T00:00:00Z' },
  { text: '2024-01-01T00:30:00-01:30', read: '2024-01-01T02:00:00Z' },
  { text: '2024-01-01T00:00:00.123456+01:00', micro: true, read: '2023-12-31T23:00:00.123456Z' },
  { text: '2024-01-01T00:00:00.123456789Z', micro: true, read: undefined },
  { text: '2024-01-01T00:00:00.123Z', micro: true, read: undefined },
  { text: '2024-01-01T00:00:00Z', micro: true, read: undefined },
  { text: '2024-01-01', read: undefined },
]
for (const row of times) test(`time ${row.text}`, () => assert.equal(readTime(row.text, row.micro ?? false), row.read))

const durations: readonly { text: string; read: string | undefined }[] = [
  { text: '90m', read: '1h30m0s' },
  { text: '1.5s', read: '1.5s' },
  { text: '-2m', read: '-2m0s' },
  { text: '0', read: '0s' },
  { text: '1500us', read: '1.5ms' },
  { text: '15ns', read: '15ns' },
  { text: '1d', read: undefined },
  { text: '', read: undefined },
  { text: '5', read: undefined },
]
for (const row of durations) test(`duration ${row.text}`, () => assert.equal(readDuration(row.text), row.read))

test('durations in nanoseconds', () => assert.equal(durationNanoseconds('1h0.5s'), 3_600_500_000_000n))

const faults: readonly { text: string; at: number }[] = [
  { text: 'ab*d', at: 2 },
  { text: 'abcde', at: 4 },
  { text: 'a=bc', at: 1 },
]
for (const row of faults) test(`base64 ${row.text} goes wrong at ${row.at}`, () => assert.equal(base64Fault(row.text), row.at))

test('base64 is what groups of four are, the last of them padded', () => {
  const groups = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
  const letters = ['a', '/', '=', '-', '\n']
  let texts = ['']
  for (let length = 0; length <= 6; length++) {
    for (const text of texts) assert.equal(isBase64(text), groups.test(text), JSON.stringify(text))
    texts = texts.flatMap((text) => letters.map((letter) => text + letter))
  }
})

test('a text of many megabytes is read as bytes', () => {
  const text = 'abcd'.repeat(4 << 20)
  assert.equal(readBytes(text), text)
  assert.equal(readBytes(`${text}a`), undefined)
})

// Tests of the times of cron schedules, also across clock changes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSchedule } from './cron-schedule.js'
import { nextTime } from './cron-times.js'

/** Times after `after`, as many as are expected. */
const rows: readonly (readonly [schedule: string, zone: string | undefined, after: string, ...times: readonly string[]])[] = [
  ['* * * * *', undefined, '2024-01-01T00:00:00Z', '2024-01-01T00:01:00Z', '2024-01-01T00:02:00Z'],
  ['* * * * *', undefined, '2024-01-01T00:00:59.999Z', '2024-01-01T00:01:00Z'],
  ['*/20 9-10 * * *', undefined, '2024-01-01T09:30:00Z', '2024-01-01T09:40:00Z', '2024-01-01T10:00:00Z', '2024-01-01T10:20:00Z'],
  ['30 6-16/4 * * 1-5', undefined, '2024-01-05T14:30:00Z', '2024-01-08T06:30:00Z', '2024-01-08T10:30:00Z', '2024-01-08T14:30:00Z'],
  ['0 0 29 2 *', undefined, '2024-02-29T00:00:00Z', '2028-02-29T00:00:00Z'],
  ['0 0 31 2 *', undefined, '2024-01-01T00:00:00Z'],
  // Both days restricted: either matches. One is a star: both must match.
  ['0 0 13 * fri', undefined, '2024-09-07T00:00:00Z', '2024-09-13T00:00:00Z', '2024-09-20T00:00:00Z'],
  ['0 0 13 * *', undefined, '2024-09-07T00:00:00Z', '2024-09-13T00:00:00Z', '2024-10-13T00:00:00Z'],
  ['0 0 * * fri', undefined, '2024-09-07T00:00:00Z', '2024-09-13T00:00:00Z', '2024-09-20T00:00:00Z'],
  ['0 0 */10 * mon', undefined, '2024-09-02T00:00:00Z', '2024-09-09T00:00:00Z', '2024-09-11T00:00:00Z'],
  ['@yearly', undefined, '2024-09-02T00:00:00Z', '2025-01-01T00:00:00Z'],
  ['@weekly', undefined, '2024-09-02T00:00:00Z', '2024-09-08T00:00:00Z'],
  ['@every 90s', undefined, '2024-09-02T00:00:00.500Z', '2024-09-02T00:01:30Z', '2024-09-02T00:03:00Z'],
  ['@every 10ms', undefined, '2024-09-02T00:00:00Z', '2024-09-02T00:00:01Z'],
  ['0 9 * * *', 'Asia/Kolkata', '2024-01-01T00:00:00Z', '2024-01-01T03:30:00Z', '2024-01-02T03:30:00Z'],
  ['TZ=Asia/Tokyo 0 9 * * *', undefined, '2024-01-01T00:00:00Z', '2024-01-02T00:00:00Z'],
  ['0 0 1 * *', 'America/New_York', '2024-02-15T00:00:00Z', '2024-03-01T05:00:00Z', '2024-04-01T04:00:00Z'],
  // 02:30 does not exist on March 31; 02:30 exists twice on October 27.
  ['30 2 * * *', 'Europe/Berlin', '2024-03-30T12:00:00Z', '2024-04-01T00:30:00Z'],
  ['30 2 * * *', 'Europe/Berlin', '2024-10-26T12:00:00Z', '2024-10-27T00:30:00Z', '2024-10-27T01:30:00Z', '2024-10-28T01:30:00Z'],
  ['0 0 * * mon', 'Europe/Berlin', '2024-03-30T00:00:00Z', '2024-03-31T22:00:00Z', '2024-04-07T22:00:00Z'],
  ['30 0 * * mon', 'Europe/Berlin', '2024-10-26T00:00:00Z', '2024-10-27T23:30:00Z'],
  // Midnight does not exist in Santiago on September 8.
  ['0 0 * * *', 'America/Santiago', '2024-09-07T12:00:00Z', '2024-09-09T03:00:00Z'],
  ['0 1 * * sun', 'America/Santiago', '2024-09-02T12:00:00Z', '2024-09-08T04:00:00Z'],
]
for (const [schedule, zone, after, ...times] of rows) {
  test(`${schedule} in ${zone ?? 'UTC'} after ${after}`, () => {
    const result = parseSchedule(schedule)
    assert.ok('parsed' in result)
    let ms: number | undefined = Date.parse(after)
    for (const time of times.length === 0 ? [undefined] : times) {
      ms = nextTime(result.parsed, ms ?? 0, zone)
      assert.equal(ms === undefined ? undefined : new Date(ms).toISOString(), time && new Date(time).toISOString())
    }
  })
}

test('every time is the first minute whose wall clock matches', () => {
  const result = parseSchedule('*/17 1-4,22 * * *')
  assert.ok('parsed' in result && 'fields' in result.parsed)
  const { minutes, hours } = result.parsed.fields
  const clock = new Intl.DateTimeFormat('en-US', { timeZone: 'Australia/Lord_Howe', hourCycle: 'h23', hour: 'numeric', minute: 'numeric' })
  const matches = (ms: number): boolean => {
    const [hour = 0, minute = 0] = clock.format(ms).split(':').map(Number)
    return hours.values.has(hour) && minutes.values.has(minute)
  }
  for (const start of ['2024-04-05T12:00:00Z', '2024-10-04T12:00:00Z']) {
    let expected = Date.parse(start)
    for (let ms = expected, i = 0; i < 60; i++) {
      ms = nextTime(result.parsed, ms, 'Australia/Lord_Howe') ?? 0
      do expected += 60_000
      while (!matches(expected))
      assert.equal(ms, expected)
    }
  }
})

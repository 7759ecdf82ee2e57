// Start times of CronJobs: missed ones, the starting deadline, the next one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSchedule } from '@cluster-apiserver/api/resources/batch/cron-schedule.js'
import type { CronJob } from '@cluster-apiserver/api/resources/batch/v1.schema.js'
import { missedStart, type ScheduledCronJob, untilNextStartMs } from './missed-starts.js'

interface Row {
  readonly title: string
  readonly schedule: string
  readonly last: string
  readonly now: string
  readonly spec?: { readonly startingDeadlineSeconds?: number; readonly timeZone?: string }
  readonly latest?: string
  readonly isTooMany?: boolean
  readonly next?: string
}

const rows: readonly Row[] = [
  {
    title: 'nothing is due',
    schedule: '0 * * * *',
    last: '2024-01-01T10:00:00Z',
    now: '2024-01-01T10:59:59Z',
    next: '2024-01-01T11:00:00Z',
  },
  {
    title: 'one start is due',
    schedule: '0 * * * *',
    last: '2024-01-01T10:00:00Z',
    now: '2024-01-01T11:00:00Z',
    latest: '2024-01-01T11:00:00Z',
    next: '2024-01-01T12:00:00Z',
  },
  {
    title: 'the latest of several missed starts',
    schedule: '0 * * * *',
    last: '2024-01-01T10:00:00Z',
    now: '2024-01-03T00:30:00Z',
    latest: '2024-01-03T00:00:00Z',
    next: '2024-01-03T01:00:00Z',
  },
  {
    title: 'irregular intervals',
    schedule: '30 6-16/4 * * 1-5',
    last: '2024-01-04T06:30:00Z',
    now: '2024-01-07T12:00:00Z',
    latest: '2024-01-05T14:30:00Z',
    next: '2024-01-08T06:30:00Z',
  },
  {
    title: '100 missed starts',
    schedule: '* * * * *',
    last: '2024-01-01T00:00:00Z',
    now: '2024-01-01T01:40:30Z',
    latest: '2024-01-01T01:40:00Z',
    next: '2024-01-01T01:41:00Z',
  },
  {
    title: '101 missed starts',
    schedule: '* * * * *',
    last: '2024-01-01T00:00:00Z',
    now: '2024-01-01T01:41:30Z',
    latest: '2024-01-01T01:41:00Z',
    isTooMany: true,
    next: '2024-01-01T01:42:00Z',
  },
  {
    title: 'years of missed starts',
    schedule: '* * * 1-6 *',
    last: '2004-01-01T00:00:00Z',
    now: '2024-11-01T00:00:00Z',
    latest: '2024-06-30T23:59:00Z',
    isTooMany: true,
    next: '2025-01-01T00:00:00Z',
  },
  {
    title: 'starts before the deadline do not count',
    schedule: '* * * * *',
    last: '2024-01-01T00:00:00Z',
    now: '2024-01-01T05:00:30Z',
    spec: { startingDeadlineSeconds: 60 },
    latest: '2024-01-01T05:00:00Z',
    next: '2024-01-01T05:01:00Z',
  },
  {
    title: 'no start within the deadline',
    schedule: '0 * * * *',
    last: '2024-01-01T00:00:00Z',
    now: '2024-01-01T05:00:30Z',
    spec: { startingDeadlineSeconds: 20 },
    next: '2024-01-01T06:00:00Z',
  },
  {
    title: 'a time zone',
    schedule: '0 9 * * *',
    last: '2024-07-01T07:00:00Z',
    now: '2024-07-02T07:30:00Z',
    spec: { timeZone: 'Europe/Berlin' },
    latest: '2024-07-02T07:00:00Z',
    next: '2024-07-03T07:00:00Z',
  },
  {
    title: 'an interval counts from the last start',
    schedule: '@every 90s',
    last: '2024-01-01T00:00:10Z',
    now: '2024-01-01T00:05:00Z',
    latest: '2024-01-01T00:04:40Z',
    next: '2024-01-01T00:06:10Z',
  },
]

const timeText = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString().replace('.000', '')

for (const { title, schedule: text, last, now, spec, latest, isTooMany = false, next } of rows) {
  test(`start times: ${title}`, () => {
    const result = parseSchedule(text)
    assert.ok('parsed' in result)
    // A CronJob that never started counts from its creation.
    for (const cronJob of [{ metadata: { creationTimestamp: last } }, { status: { lastScheduleTime: last } }]) {
      const scheduled: ScheduledCronJob = { cronJob: { ...cronJob, spec } as CronJob, schedule: result.parsed, nowMs: Date.parse(now) }
      const missed = missedStart(scheduled)
      assert.ok('latestMs' in missed)
      assert.deepEqual([timeText(missed.latestMs), missed.isTooMany], [latest, isTooMany])
      assert.equal(timeText((untilNextStartMs(scheduled) ?? 0) + Date.parse(now) - 100), next)
    }
  })
}

test('a schedule that is never due is a problem', () => {
  const result = parseSchedule('0 0 31 2 *')
  assert.ok('parsed' in result)
  const scheduled: ScheduledCronJob = {
    cronJob: { metadata: { creationTimestamp: '2024-01-01T00:00:00Z' } } as CronJob,
    schedule: result.parsed,
    nowMs: 1.8e12,
  }
  assert.deepEqual(missedStart(scheduled), { problem: 'time difference between two schedules is less than 1 second' })
  assert.equal(untilNextStartMs(scheduled), undefined)
})

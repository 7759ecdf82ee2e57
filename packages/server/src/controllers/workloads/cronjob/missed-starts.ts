// Start times of a CronJob: the latest one that has passed, and the next one.

import type { CronSchedule } from '@cluster-apiserver/api/resources/batch/cron-schedule.js'
import { nextTime } from '@cluster-apiserver/api/resources/batch/cron-times.js'
import type { CronJob } from '@cluster-apiserver/api/resources/batch/v1.schema.js'

/** More missed start times than this give a warning. */
const manyMissed = 100
/** Runs start a little late, so that the clock has reached the start time. */
const lateByMs = 100

export interface ScheduledCronJob {
  readonly cronJob: CronJob
  readonly schedule: CronSchedule
  readonly nowMs: number
}

type MissedStart =
  /** The schedule is never due, such as on February 31. */
  | { readonly problem: string }
  /** `latestMs`: undefined if no start time has passed since the last one. */
  | { readonly latestMs: number | undefined; readonly isTooMany: boolean }

/** Start times before `startingDeadlineSeconds` do not count. */
export function missedStart({ cronJob, schedule, nowMs }: ScheduledCronJob): MissedStart {
  const { startingDeadlineSeconds } = cronJob.spec ?? {}
  const deadlineMs = startingDeadlineSeconds === undefined ? 0 : nowMs - Number(startingDeadlineSeconds) * 1000
  return latestStart({ cronJob, schedule, nowMs }, Math.max(lastStartMs(cronJob), deadlineMs))
}

/** Milliseconds until the next run; undefined if there is none. */
export function untilNextStartMs(scheduled: ScheduledCronJob): number | undefined {
  const { cronJob, schedule, nowMs } = scheduled
  const lastMs = lastStartMs(cronJob)
  const found = latestStart(scheduled, lastMs)
  const baseMs = 'problem' in found ? nowMs : (found.latestMs ?? lastMs)
  const nextMs = nextTime(schedule, baseMs, cronJob.spec?.timeZone)
  return nextMs === undefined ? undefined : nextMs + lateByMs - nowMs
}

/** The last start, or the creation of a CronJob that never started. */
const lastStartMs = ({ metadata, status }: CronJob): number =>
  Date.parse(status?.lastScheduleTime ?? metadata?.creationTimestamp ?? new Date(0).toISOString())

function latestStart({ cronJob, schedule, nowMs }: ScheduledCronJob, earliestMs: number): MissedStart {
  const zone = cronJob.spec?.timeZone
  const firstMs = nextTime(schedule, earliestMs, zone)
  const secondMs = firstMs === undefined ? undefined : nextTime(schedule, firstMs, zone)
  if (firstMs === undefined) return { problem: 'time difference between two schedules is less than 1 second' }
  if (nowMs < firstMs) return { latestMs: undefined, isTooMany: false }
  if (secondMs === undefined || nowMs < secondMs) return { latestMs: firstMs, isTooMany: false }
  // A long pause must not visit every start time, so the number of missed ones is an estimate by the first interval.
  const intervalMs = secondMs - firstMs
  const missed = Math.floor((nowMs - firstMs) / intervalMs) + 1
  const latestMs = 'everyMs' in schedule ? firstMs + (missed - 1) * intervalMs : latestBefore({ schedule, zone, nowMs }, secondMs)
  return { latestMs, isTooMany: missed > manyMissed }
}

interface Search {
  readonly schedule: CronSchedule
  readonly zone: string | undefined
  readonly nowMs: number
}

/** Bisects: the latest start time is the next one of all times between its predecessor and itself. `startMs` has passed. */
function latestBefore({ schedule, zone, nowMs }: Search, startMs: number): number {
  let latestMs = startMs
  for (let endMs = nowMs; latestMs < endMs; ) {
    const middleMs = Math.floor((latestMs + endMs) / 2)
    const next = nextTime(schedule, middleMs, zone)
    if (next === undefined || next > nowMs) endMs = middleMs
    else latestMs = next
  }
  return latestMs
}

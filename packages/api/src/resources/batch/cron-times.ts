// Times of a cron schedule: the first minute after a time whose wall clock in a time zone matches the fields.

import type { CronFields, CronSchedule } from './cron-schedule.js'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** Schedules such as February 31 have no time. */
const maxYearsAhead = 5

/**
 * First time of the schedule after `afterMs`; undefined if there is none within five years. `zone`: IANA name, for schedules without their
 * own. Minutes that a clock change skips have no time, and repeated minutes have two.
 */
export function nextTime(schedule: CronSchedule, afterMs: number, zone = 'UTC'): number | undefined {
  if ('everyMs' in schedule) return Math.floor(afterMs / 1000) * 1000 + schedule.everyMs
  const clockAt = wallClockOf(schedule.zone ?? zone)
  let ms = Math.floor(afterMs / minuteMs) * minuteMs + minuteMs
  const lastYear = new Date(clockAt(ms)).getUTCFullYear() + maxYearsAhead
  for (;;) {
    const clock = new Date(clockAt(ms))
    if (clock.getUTCFullYear() > lastYear) return undefined
    const stepMs = untilNextCandidateMs(schedule.fields, clock)
    if (stepMs === 0) return ms
    ms = stepMs < hourMs ? ms + stepMs : startOfDay(clockAt, ms + stepMs, ms)
  }
}

/** Milliseconds since 1970 of the UTC time that shows what the wall clock shows. */
type WallClock = (ms: number) => number

/** 0 if the clock matches; otherwise the time until the next minute, hour, day or month that can match. */
function untilNextCandidateMs({ minutes, hours, daysOfMonth, months, daysOfWeek }: CronFields, clock: Date): number {
  const clockMs = clock.getTime()
  if (!months.values.has(clock.getUTCMonth() + 1)) return Date.UTC(clock.getUTCFullYear(), clock.getUTCMonth() + 1, 1) - clockMs
  const isDayOfMonth = daysOfMonth.values.has(clock.getUTCDate())
  const isDayOfWeek = daysOfWeek.values.has(clock.getUTCDay())
  const isDay = daysOfMonth.isStar || daysOfWeek.isStar ? isDayOfMonth && isDayOfWeek : isDayOfMonth || isDayOfWeek
  if (!isDay) return dayMs - (clockMs % dayMs)
  const minute = clock.getUTCMinutes()
  if (hours.values.has(clock.getUTCHours())) for (let m = minute; m < 60; m++) if (minutes.values.has(m)) return (m - minute) * minuteMs
  return hourMs - minute * minuteMs
}

/** Corrects a jump to midnight, if a clock change on the way led past it. */
function startOfDay(clockAt: WallClock, ms: number, afterMs: number): number {
  const pastMidnightMs = clockAt(ms) % dayMs
  if (pastMidnightMs === 0 || pastMidnightMs > dayMs / 2) return ms
  const midnightMs = ms - pastMidnightMs
  return midnightMs > afterMs && clockAt(midnightMs) % dayMs === 0 ? midnightMs : ms
}

/** Intl takes a millisecond to create a format. */
const formats = new Map<string, Intl.DateTimeFormat>()
const maxFormats = 100

function wallClockOf(zone: string): WallClock {
  // `Local` is UTC: times must not depend on the zone of the process.
  if (zone === 'UTC' || zone === 'Local' || zone === '') return (ms) => ms
  let format = formats.get(zone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    })
    if (formats.size >= maxFormats) formats.clear()
    formats.set(zone, format)
  }
  const known = format
  return (ms) => {
    const {
      year = 0,
      month = 1,
      day = 1,
      hour = 0,
      minute = 0,
    } = Object.fromEntries(known.formatToParts(ms).map(({ type, value }) => [type, Number(value)])) as { readonly [part: string]: number }
    return Date.UTC(year, month - 1, day, hour, minute)
  }
}

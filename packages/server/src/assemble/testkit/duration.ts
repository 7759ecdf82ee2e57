// Durations in the calls of the test kit.

import { parseDurationMs } from '@cluster-apiserver/api/base/duration.js'

/** Milliseconds, or text as in Go: `1h30m`, `500ms`; days are allowed as well: `30d`. */
export type Duration = number | string

const dayMs = 24 * 3_600_000

/** Throws a TypeError for another value, and a RangeError for a negative duration. */
export function readDurationMs(duration: unknown): number {
  const ms = typeof duration === 'string' ? readText(duration) : duration
  if (typeof ms !== 'number' || !Number.isFinite(ms))
    throw new TypeError(`${JSON.stringify(duration)} is not a duration such as 90s, 1h30m or 30d`)
  if (ms < 0) throw new RangeError(`${JSON.stringify(duration)} is a negative duration`)
  return ms
}

const readText = (text: string): number | undefined => (/^\d{1,6}d$/.test(text) ? Number.parseInt(text, 10) * dayMs : parseDurationMs(text))

// How long ago something was, in the short form of tables: `5s`, `3m20s`, `2d3h`, `4y12d`.

const minute = 60
const hour = 60 * minute
const day = 24 * hour
const year = 365 * day

/** Up to `below` seconds, a duration is shown in `unit`, and in `rest` as well where that says something. */
interface Scale {
  readonly below: number
  readonly unit: number
  readonly letter: string
  readonly rest?: { readonly unit: number; readonly letter: string }
}

const scales: readonly Scale[] = [
  { below: 2 * minute, unit: 1, letter: 's' },
  { below: 10 * minute, unit: minute, letter: 'm', rest: { unit: 1, letter: 's' } },
  { below: 3 * hour, unit: minute, letter: 'm' },
  { below: 8 * hour, unit: hour, letter: 'h', rest: { unit: minute, letter: 'm' } },
  { below: 2 * day, unit: hour, letter: 'h' },
  { below: 8 * day, unit: day, letter: 'd', rest: { unit: hour, letter: 'h' } },
  { below: 2 * year, unit: day, letter: 'd' },
  { below: 8 * year, unit: year, letter: 'y', rest: { unit: day, letter: 'd' } },
]
const longest: Scale = { below: Number.POSITIVE_INFINITY, unit: year, letter: 'y' }

export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000)
  // Clocks differ by a second here and there; more than that is no duration.
  if (seconds < -1) return '<invalid>'
  if (seconds <= 0) return '0s'
  const { unit, letter, rest } = scales.find(({ below }) => seconds < below) ?? longest
  const whole = `${Math.floor(seconds / unit)}${letter}`
  const more = rest === undefined ? 0 : Math.floor((seconds % unit) / rest.unit)
  return rest === undefined || more === 0 ? whole : `${whole}${more}${rest.letter}`
}

/**
 * Not yet known: rows of tables are made once and shown for as long as their object does not change, and only their ages grow. In place of
 * an age stands its timestamp, between two characters that no text has which was ever stored.
 */
export const agesLater = Number.NaN
const openMark = '\ud800'
const closeMark = '\udc00'

/** The time since a timestamp, as a cell shows it. */
export function ageOf(timestamp: string | undefined, now: number): string {
  if (timestamp === undefined) return '<unknown>'
  return Number.isNaN(now) ? `${openMark}${timestamp}${closeMark}` : humanDuration(now - Date.parse(timestamp))
}

/** A text that was made with {@link agesLater}: what is known of it, and at every second place the timestamp of an age. */
export const splitAtAges = (text: string): readonly string[] => (text.includes(openMark) ? text.split(ageMarks) : [text])

const ageMarks = /\ud800(?![\udc00-\udfff])|(?<![\ud800-\udbff])\udc00/

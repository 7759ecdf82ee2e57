// Durations and ages as tables print them: `5s`, `3m20s`, `2d3h`, `4y12d`.

/** Units in seconds. */
const minute = 60
const hour = 60 * minute
const day = 24 * hour
const year = 365 * day

interface DurationFormat {
  readonly below: number
  readonly unit: number
  readonly char: string
  readonly rest?: { readonly unit: number; readonly char: string }
}

const formats: readonly DurationFormat[] = [
  { below: 2 * minute, unit: 1, char: 's' },
  { below: 10 * minute, unit: minute, char: 'm', rest: { unit: 1, char: 's' } },
  { below: 3 * hour, unit: minute, char: 'm' },
  { below: 8 * hour, unit: hour, char: 'h', rest: { unit: minute, char: 'm' } },
  { below: 2 * day, unit: hour, char: 'h' },
  { below: 8 * day, unit: day, char: 'd', rest: { unit: hour, char: 'h' } },
  { below: 2 * year, unit: day, char: 'd' },
  { below: 8 * year, unit: year, char: 'y', rest: { unit: day, char: 'd' } },
]
const yearsFormat: DurationFormat = { below: Number.POSITIVE_INFINITY, unit: year, char: 'y' }

export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000)
  // Tolerates a clock skew of less than two seconds.
  if (seconds < -1) return '<invalid>'
  if (seconds <= 0) return '0s'
  const { unit, char, rest } = formats.find(({ below }) => seconds < below) ?? yearsFormat
  const whole = `${Math.floor(seconds / unit)}${char}`
  const remainder = rest === undefined ? 0 : Math.floor((seconds % unit) / rest.unit)
  return rest === undefined || remainder === 0 ? whole : `${whole}${remainder}${rest.char}`
}

/** Value of `now` for cached rows: ageOf then returns the timestamp between two lone surrogates, which no stored text has. */
export const deferAges = Number.NaN
const ageStart = '\ud800'
const ageEnd = '\udc00'

export function ageOf(timestamp: string | undefined, now: number): string {
  if (timestamp === undefined) return '<unknown>'
  return Number.isNaN(now) ? `${ageStart}${timestamp}${ageEnd}` : humanDuration(now - Date.parse(timestamp))
}

export const splitAtAges = (text: string): readonly string[] => (text.includes(ageStart) ? text.split(ageDelimiter) : [text])

const ageDelimiter = /\ud800(?![\udc00-\udfff])|(?<![\ud800-\udbff])\udc00/

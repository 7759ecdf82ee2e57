// Times and durations as texts: RFC 3339, what formats of schemas take, and durations such as `1h30m`.

export interface ReadTime {
  /** Since 1970. */
  readonly nanos: bigint
  readonly offsetMinutes: number
}

const second = 1_000_000_000n
/** The years 1 to 9999. */
export const minTime = -62_135_596_800n * second
export const maxTime = 253_402_300_800n * second - 1n

const time = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,40}))?(Z|[+-]\d\d:\d\d)?$/

const digits = (text: string | undefined): number => Number(text ?? 0)

function daysOf(year: number, month: number): number {
  return month === 2 ? (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
}

function secondsSince1970(year: number, month: number, day: number, seconds: number): bigint {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return BigInt(date.getTime() / 1000 + seconds)
}

const offsetOf = (zone: string): number => (zone[0] === '-' ? -1 : 1) * (digits(zone.slice(1, 3)) * 60 + digits(zone.slice(4)))

/** Undefined where it is none, or names no day or hour. */
function readTime(text: string, needsZone: boolean): ReadTime | undefined {
  const parts = time.exec(text)
  if (parts === null || (needsZone && parts[8] === undefined)) return undefined
  const [year, month, day, hour, minute, seconds] = parts.slice(1, 7).map(digits) as [number, number, number, number, number, number]
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month) || hour > 23 || minute > 59 || seconds > 59) return undefined
  const zone = parts[8] ?? 'Z'
  const offsetMinutes = zone === 'Z' ? 0 : offsetOf(zone)
  if (Math.abs(offsetMinutes) > 24 * 60) return undefined
  const whole = secondsSince1970(year, month, day, hour * 3600 + minute * 60 + seconds - offsetMinutes * 60)
  return { nanos: whole * second + BigInt((parts[7] ?? '').slice(0, 9).padEnd(9, '0')), offsetMinutes }
}

/** RFC 3339, strictly. */
export const parseTimestamp = (text: string): ReadTime | undefined => readTime(text, true)

/** What the format `date-time` takes; else the parser's complaint. */
export function parseDateTime(text: string): ReadTime | string {
  const read = readTime(text, false) ?? readTime(text.replace(/(Z|[+-]\d\d):?(\d\d)$/, '$1:$2'), false)
  if (read !== undefined) return read
  const date = /^\d{4}-\d\d-\d\d/.exec(text)?.[0]
  const rest = date === undefined ? text : text.slice(date.length)
  return `parsing time ${JSON.stringify(text)} as "2006-01-02T15:04:05": cannot parse ${JSON.stringify(rest)} as "${date === undefined ? '2006' : 'T'}"`
}

/** What the format `date` takes; else the parser's complaint. */
export function parseDate(text: string): bigint | string {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  const complaint = `parsing time ${JSON.stringify(text)} as "2006-01-02"`
  if (parts === null) return `${complaint}: cannot parse ${JSON.stringify(text)} as "2006"`
  const [year, month, day] = parts.slice(1).map(digits) as [number, number, number]
  if (month < 1 || month > 12) return `${complaint}: month out of range`
  if (day < 1 || day > daysOf(year, month)) return `${complaint}: day out of range`
  return secondsSince1970(year, month, day, 0) * second
}

const pad = (value: number, width = 2): string => String(value).padStart(width, '0')

/** RFC 3339 with as many decimals as it needs. */
export function formatTimestamp({ nanos, offsetMinutes }: ReadTime): string {
  const local = nanos + BigInt(offsetMinutes) * 60n * second
  const rest = ((local % second) + second) % second
  const date = new Date(Number((local - rest) / 1_000_000n))
  const day = `${pad(date.getUTCFullYear(), 4)}-${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())}`
  const clock = `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}:${pad(date.getUTCSeconds())}`
  const fraction = rest === 0n ? '' : `.${String(rest).padStart(9, '0').replace(/0+$/, '')}`
  const zone = `${offsetMinutes < 0 ? '-' : '+'}${pad(Math.floor(Math.abs(offsetMinutes) / 60))}:${pad(Math.abs(offsetMinutes) % 60)}`
  return `${day}T${clock}${fraction}${offsetMinutes === 0 ? 'Z' : zone}`
}

const units: { readonly [unit: string]: bigint } = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: second,
  m: 60n * second,
  h: 3600n * second,
}

const maxDuration = (1n << 63n) - 1n

/** `-1h30m5.25s`; undefined where it is none, or beyond 64 bits. */
export function parseDuration(text: string): bigint | undefined {
  const isNegative = text.startsWith('-')
  const rest = isNegative || text.startsWith('+') ? text.slice(1) : text
  if (rest === '0') return 0n
  if (rest === '' || rest.length > 1000) return undefined
  const part = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y
  let nanos = 0n
  while (part.lastIndex < rest.length) {
    const found = part.exec(rest)
    if (found === null || (found[1] === '' && (found[2] ?? '') === '')) return undefined
    const unit = units[found[3] as string] as bigint
    const decimals = found[2] ?? ''
    nanos += BigInt(found[1] || 0) * unit
    if (decimals !== '') nanos += (BigInt(decimals) * unit) / 10n ** BigInt(decimals.length)
    if (nanos > maxDuration) return undefined
  }
  return isNegative ? -nanos : nanos
}

const longUnits: { readonly [unit: string]: bigint } = {
  ...units,
  nano: 1n,
  nanosecond: 1n,
  micro: 1000n,
  microsecond: 1000n,
  milli: 1_000_000n,
  millisecond: 1_000_000n,
  sec: second,
  second,
  min: 60n * second,
  minute: 60n * second,
  hr: 3600n * second,
  hour: 3600n * second,
  d: 86_400n * second,
  day: 86_400n * second,
  w: 604_800n * second,
  week: 604_800n * second,
}

/** What the format `duration` takes: the above, and `3 days`. */
export function parseLooseDuration(text: string): bigint | undefined {
  const strict = parseDuration(text)
  if (strict !== undefined || text.length > 1000) return strict
  const part = /\s*(\d+)\s*([A-Za-zµμ]+)\s*/y
  let nanos = 0n
  while (part.lastIndex < text.length) {
    const found = part.exec(text)
    if (found === null) return undefined
    const name = (found[2] as string).toLowerCase()
    const unit = longUnits[name] ?? longUnits[name.replace(/s$/, '')]
    if (unit === undefined) return undefined
    nanos += BigInt(found[1] as string) * unit
    if (nanos > maxDuration) return undefined
  }
  return text === '' ? undefined : nanos
}

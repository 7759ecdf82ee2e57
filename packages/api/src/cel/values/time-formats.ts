// Times and durations as text: RFC 3339, and the schema formats `date`, `date-time` and `duration`.

import { maxDurationLength, parseDuration } from '../../base/duration.js'
import { shorten } from '../../base/shorten.js'
import { quoteBytes } from './quote-text.js'

interface ParsedTime {
  readonly nanos: bigint
  readonly offsetMinutes: number
}

const nanosPerSecond = 1_000_000_000n
/** Range of timestamps in nanoseconds since 1970: years 1 to 9999. */
export const minTime = -62_135_596_800n * nanosPerSecond
export const maxTime = 253_402_300_800n * nanosPerSecond - 1n

/** As in kube-apiserver, hours may have one digit, and a comma may replace the decimal point. */
const timePattern = /^(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d{1,40}))?(Z|[+-]\d\d:\d\d)?$/

/** Maximum characters of a time. */
const maxTimeLength = 128

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

function readTime(text: string, needsZone: boolean): ParsedTime | undefined {
  const parts = timePattern.exec(text)
  if (parts === null || (needsZone && parts[8] === undefined)) return undefined
  const [year, month, day, hour, minute, seconds] = parts.slice(1, 7).map(digits) as [number, number, number, number, number, number]
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month) || hour > 23 || minute > 59 || seconds > 59) return undefined
  const zone = parts[8] ?? 'Z'
  const offsetMinutes = zone === 'Z' ? 0 : offsetOf(zone)
  const wholeSeconds = secondsSince1970(year, month, day, hour * 3600 + minute * 60 + seconds - offsetMinutes * 60)
  return { nanos: wholeSeconds * nanosPerSecond + BigInt((parts[7] ?? '').slice(0, 9).padEnd(9, '0')), offsetMinutes }
}

export const parseTimestamp = (text: string): ParsedTime | undefined => readTime(text, true)

export function parseDateTime(text: string): ParsedTime | string {
  if (text === '') return { nanos: 0n, offsetMinutes: 0 }
  if (text.length > maxTimeLength) return timeError(shorten(text), '2006-01-02T15:04:05')
  // A zone without a colon is allowed only after milliseconds or microseconds.
  const parsed = readTime(text, false) ?? readTime(text.replace(/([.,](?:\d{3}|\d{6})[+-]\d\d)(\d\d)$/, '$1:$2'), true)
  return parsed ?? timeError(text, '2006-01-02T15:04:05')
}

export function parseDate(text: string): bigint | string {
  const parsed = /^\d{4}-\d\d-\d\d$/.test(text) ? readTime(`${text}T00:00:00Z`, true) : undefined
  return parsed?.nanos ?? timeError(shorten(text), '2006-01-02')
}

const timeParts: readonly {
  readonly element: string
  readonly pattern: RegExp
  readonly name?: string
  readonly min?: number
  readonly max?: number
}[] = [
  { element: '2006', pattern: /^\d{4}/ },
  { element: '-', pattern: /^-/ },
  { element: '01', pattern: /^\d\d/, name: 'month', min: 1, max: 12 },
  { element: '-', pattern: /^-/ },
  { element: '02', pattern: /^\d\d/ },
  { element: 'T', pattern: /^T/ },
  { element: '15', pattern: /^\d\d?/, name: 'hour', min: 0, max: 23 },
  { element: ':', pattern: /^:/ },
  { element: '04', pattern: /^\d\d/, name: 'minute', min: 0, max: 59 },
  { element: ':', pattern: /^:/ },
  { element: '05', pattern: /^\d\d(?:[.,]\d+)?/, name: 'second', min: 0, max: 59 },
]

function timeError(text: string, layout: string): string {
  const start = `parsing time ${quoteBytes(text)}`
  let remaining = text
  for (const { element, pattern, name, min = 0, max = 0 } of layout.length > 10 ? timeParts : timeParts.slice(0, 5)) {
    const found = pattern.exec(remaining)?.[0]
    // Go consumes four characters that begin with a digit as a year before it checks them.
    if (found === undefined && element === '2006' && /^\d.{3}/s.test(remaining)) remaining = remaining.slice(4)
    if (found === undefined) return `${start} as ${quoteBytes(layout)}: cannot parse ${quoteBytes(remaining)} as ${quoteBytes(element)}`
    const value = Number(found.slice(0, 2))
    remaining = remaining.slice(found.length)
    if (name !== undefined && (value < min || value > max)) return `${start}: ${name} out of range`
  }
  return remaining === '' ? `${start}: day out of range` : `${start}: extra text: ${quoteBytes(remaining)}`
}

const pad = (value: number, width = 2): string => String(value).padStart(width, '0')

export function formatTimestamp({ nanos, offsetMinutes }: ParsedTime): string {
  const local = nanos + BigInt(offsetMinutes) * 60n * nanosPerSecond
  const nanosOfSecond = ((local % nanosPerSecond) + nanosPerSecond) % nanosPerSecond
  const date = new Date(Number((local - nanosOfSecond) / 1_000_000n))
  const day = `${pad(date.getUTCFullYear(), 4)}-${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())}`
  const clock = `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}:${pad(date.getUTCSeconds())}`
  const fraction = nanosOfSecond === 0n ? '' : `.${String(nanosOfSecond).padStart(9, '0').replace(/0+$/, '')}`
  const zone = `${offsetMinutes < 0 ? '-' : '+'}${pad(Math.floor(Math.abs(offsetMinutes) / 60))}:${pad(Math.abs(offsetMinutes) % 60)}`
  return `${day}T${clock}${fraction}${offsetMinutes === 0 ? 'Z' : zone}`
}

/** Unit names, and the prefix of their long names. */
const longUnits: readonly { readonly names: readonly string[]; readonly start: string; readonly nanos: bigint }[] = [
  { names: ['ns'], start: 'nano', nanos: 1n },
  { names: ['us', 'µs'], start: 'micro', nanos: 1000n },
  { names: ['ms'], start: 'milli', nanos: 1_000_000n },
  { names: ['s'], start: 'sec', nanos: nanosPerSecond },
  { names: ['m'], start: 'min', nanos: 60n * nanosPerSecond },
  { names: ['h', 'hr'], start: 'hour', nanos: 3600n * nanosPerSecond },
  { names: ['d'], start: 'day', nanos: 86_400n * nanosPerSecond },
  { names: ['w', 'wk'], start: 'week', nanos: 604_800n * nanosPerSecond },
]

const numberWithUnit = /(?<!\d)(\d+)[\t\n\f\r ]*([A-Za-z\u00b5]+)/g

/** Accepts numbers with units anywhere in the text, such as `about 3 days`, as kube-apiserver does. */
export function parseLooseDuration(text: string): bigint | undefined {
  if (text.length > maxDurationLength) return undefined
  const strict = parseDuration(text)
  if (strict !== undefined) return strict
  let nanos: bigint | undefined
  for (const [, count = '', name = ''] of text.matchAll(numberWithUnit)) {
    if (BigInt(count) >= 1n << 63n) return undefined
    const unit = name.toLowerCase()
    const found = longUnits.find(({ names, start }) => names.includes(unit) || unit.startsWith(start))
    if (found !== undefined) nanos = BigInt.asIntN(64, (nanos ?? 0n) + BigInt(count) * found.nanos)
  }
  return nanos
}

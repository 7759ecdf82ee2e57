// Times and durations as texts: RFC 3339, what formats of schemas take, and durations such as `1h30m`.

import { shorten } from '../base/shorten.js'
import { quoteBytes } from './quote.js'

export interface ReadTime {
  /** Since 1970. */
  readonly nanos: bigint
  readonly offsetMinutes: number
}

const second = 1_000_000_000n
/** The years 1 to 9999. */
export const minTime = -62_135_596_800n * second
export const maxTime = 253_402_300_800n * second - 1n

/** An hour may have one digit, and a comma may stand for the point: as the reference reads times. */
const time = /^(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d{1,40}))?(Z|[+-]\d\d:\d\d)?$/

/** What is longer is no time, and is not read to its end. */
const mostTime = 128

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
  const whole = secondsSince1970(year, month, day, hour * 3600 + minute * 60 + seconds - offsetMinutes * 60)
  return { nanos: whole * second + BigInt((parts[7] ?? '').slice(0, 9).padEnd(9, '0')), offsetMinutes }
}

/** RFC 3339, strictly. */
export const parseTimestamp = (text: string): ReadTime | undefined => readTime(text, true)

/** What the format `date-time` takes; else the parser's complaint. Nothing is the beginning of 1970. */
export function parseDateTime(text: string): ReadTime | string {
  if (text === '') return { nanos: 0n, offsetMinutes: 0 }
  if (text.length > mostTime) return explainTime(shorten(text), '2006-01-02T15:04:05')
  // A zone without a colon may stand only behind milliseconds or microseconds.
  const read = readTime(text, false) ?? readTime(text.replace(/([.,](?:\d{3}|\d{6})[+-]\d\d)(\d\d)$/, '$1:$2'), true)
  return read ?? explainTime(text, '2006-01-02T15:04:05')
}

/** What the format `date` takes; else the parser's complaint. */
export function parseDate(text: string): bigint | string {
  const read = /^\d{4}-\d\d-\d\d$/.test(text) ? readTime(`${text}T00:00:00Z`, true) : undefined
  return read?.nanos ?? explainTime(shorten(text), '2006-01-02')
}

/** The parts of a time in their order: how each is called, what it looks like, and what it may be. */
const timeParts: readonly {
  readonly element: string
  readonly pattern: RegExp
  readonly name?: string
  readonly from?: number
  readonly to?: number
}[] = [
  { element: '2006', pattern: /^\d{4}/ },
  { element: '-', pattern: /^-/ },
  { element: '01', pattern: /^\d\d/, name: 'month', from: 1, to: 12 },
  { element: '-', pattern: /^-/ },
  { element: '02', pattern: /^\d\d/ },
  { element: 'T', pattern: /^T/ },
  { element: '15', pattern: /^\d\d?/, name: 'hour', from: 0, to: 23 },
  { element: ':', pattern: /^:/ },
  { element: '04', pattern: /^\d\d/, name: 'minute', from: 0, to: 59 },
  { element: ':', pattern: /^:/ },
  { element: '05', pattern: /^\d\d(?:[.,]\d+)?/, name: 'second', from: 0, to: 59 },
]

/** Why a text is no time of that layout. */
function explainTime(text: string, layout: string): string {
  const start = `parsing time ${quoteBytes(text)}`
  let rest = text
  for (const { element, pattern, name, from = 0, to = 0 } of layout.length > 10 ? timeParts : timeParts.slice(0, 5)) {
    const found = pattern.exec(rest)?.[0]
    // Four letters that begin as a year does are taken for one before they are looked at.
    if (found === undefined && element === '2006' && /^\d.{3}/s.test(rest)) rest = rest.slice(4)
    if (found === undefined) return `${start} as ${quoteBytes(layout)}: cannot parse ${quoteBytes(rest)} as ${quoteBytes(element)}`
    const value = Number(found.slice(0, 2))
    rest = rest.slice(found.length)
    if (name !== undefined && (value < from || value > to)) return `${start}: ${name} out of range`
  }
  return rest === '' ? `${start}: day out of range` : `${start}: extra text: ${quoteBytes(rest)}`
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
/** What is longer is no duration: whatever looks at a value of this format reads it anew. */
const mostDuration = 1000

/** `-1h30m5.25s`; undefined where it is none, or beyond 64 bits. */
export function parseDuration(text: string): bigint | undefined {
  const isNegative = text.startsWith('-')
  const rest = isNegative || text.startsWith('+') ? text.slice(1) : text
  if (rest === '0') return 0n
  if (rest === '' || rest.length > mostDuration) return undefined
  const part = /(\d*)(?:\.(\d*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y
  let nanos = 0n
  while (part.lastIndex < rest.length) {
    const found = part.exec(rest)
    if (found === null || (found[1] === '' && (found[2] ?? '') === '')) return undefined
    const unit = units[found[3] as string] as bigint
    const decimals = found[2] ?? ''
    nanos += BigInt(found[1] || 0) * unit
    if (decimals !== '') nanos += (BigInt(decimals) * unit) / 10n ** BigInt(decimals.length)
    if (nanos > maxDuration + (isNegative ? 1n : 0n)) return undefined
  }
  return isNegative ? -nanos : nanos
}

/** Names of units, each with how it may begin to be the longer form of it. */
const longUnits: readonly { readonly names: readonly string[]; readonly start: string; readonly nanos: bigint }[] = [
  { names: ['ns'], start: 'nano', nanos: 1n },
  { names: ['us', 'µs'], start: 'micro', nanos: 1000n },
  { names: ['ms'], start: 'milli', nanos: 1_000_000n },
  { names: ['s'], start: 'sec', nanos: second },
  { names: ['m'], start: 'min', nanos: 60n * second },
  { names: ['h', 'hr'], start: 'hour', nanos: 3600n * second },
  { names: ['d'], start: 'day', nanos: 86_400n * second },
  { names: ['w', 'wk'], start: 'week', nanos: 604_800n * second },
]

/**
 * What the format `duration` takes: the above, and any text in which a number stands before a unit, such as `3 days`. What else is there is passed
 * over, signs and points included, as in the reference.
 */
export function parseLooseDuration(text: string): bigint | undefined {
  if (text.length > mostDuration) return undefined
  const strict = parseDuration(text)
  if (strict !== undefined) return strict
  let nanos: bigint | undefined
  for (const [count, name] of numbersWithUnits(text)) {
    if (count.length > 400 || BigInt(count) > maxDuration) return undefined
    const unit = name.toLowerCase()
    const found = longUnits.find(({ names, start }) => names.includes(unit) || unit.startsWith(start))
    if (found !== undefined) nanos = BigInt.asIntN(64, (nanos ?? 0n) + BigInt(count) * found.nanos)
  }
  return nanos
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57
/** What `\s` is to the reference. */
const isSpace = (code: number): boolean => code === 32 || code === 9 || code === 10 || code === 12 || code === 13
const isUnitLetter = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 181

/** Digits, perhaps space, and letters. A regular expression would begin anew at every digit of a long number that has no unit. */
export function* numbersWithUnits(text: string): Generator<readonly [count: string, name: string]> {
  const endOf = (from: number, belongs: (code: number) => boolean): number => {
    let at = from
    while (at < text.length && belongs(text.charCodeAt(at))) at++
    return at
  }
  for (let at = 0; at < text.length; ) {
    const end = endOf(at, isDigit)
    if (end === at) {
      at++
      continue
    }
    const unit = endOf(end, isSpace)
    const unitEnd = endOf(unit, isUnitLetter)
    if (unitEnd > unit) yield [text.slice(at, end), text.slice(unit, unitEnd)]
    at = unitEnd
  }
}

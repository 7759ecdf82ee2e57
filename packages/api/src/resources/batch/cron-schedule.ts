// Cron schedule parser (five fields, descriptors such as `@hourly`) and time zone names.

import { parseDurationMs } from '../../base/duration.js'
import { own } from '../../base/own-property.js'

/** Caches whether a name is a time zone: Intl is slow. */
const zoneCache = new Map<string, boolean>()
const maxCachedZones = 1000

export function isTimeZone(name: string): boolean {
  const cached = zoneCache.get(name)
  if (cached !== undefined) return cached
  const isKnown = isZoneName(name)
  if (zoneCache.size < maxCachedZones) zoneCache.set(name, isKnown)
  return isKnown
}

function isZoneName(name: string): boolean {
  // Intl ignores case and knows aliases and offsets such as +01:00; kube-apiserver accepts file names of the zone database, and `Local`.
  if (name === '' || name === 'UTC' || name === 'Local') return true
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false
  try {
    const resolved = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
    return resolved === name || resolved.toLowerCase() !== name.toLowerCase()
  } catch {
    return false
  }
}

interface FieldRange {
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const ranges: readonly FieldRange[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: days },
]

/** Schedules that the descriptors stand for. */
const descriptors: { readonly [descriptor: string]: string } = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}
const everyPrefix = '@every '

/** Values of one field. */
interface CronField {
  readonly values: ReadonlySet<number>
  /** `*` or `?` is one of its parts: days of the month and of the week then restrict each other, instead of adding up. */
  readonly isStar: boolean
}

export interface CronFields {
  readonly minutes: CronField
  readonly hours: CronField
  readonly daysOfMonth: CronField
  readonly months: CronField
  readonly daysOfWeek: CronField
}

/** A parsed schedule: five fields or a fixed interval. `zone` is that of a prefix `TZ=`. */
export type CronSchedule = { readonly zone?: string } & ({ readonly fields: CronFields } | { readonly everyMs: number })

type Parsed<T> = { readonly problem: string } | { readonly parsed: T }

export function scheduleProblem(schedule: string): string | undefined {
  const result = parseSchedule(schedule)
  return 'problem' in result ? result.problem : undefined
}

export function parseSchedule(schedule: string): Parsed<CronSchedule> {
  const prefix = /^(?:CRON_)?TZ=(\S*)(.*)$/s.exec(schedule)
  if (prefix === null) return parseWithoutZone(schedule)
  const [, zone = '', rest = ''] = prefix
  if (!isTimeZone(zone)) return { problem: `provided bad location ${zone}: unknown time zone ${zone}` }
  const result = parseWithoutZone(rest.trim())
  return 'problem' in result ? result : { parsed: { ...result.parsed, zone } }
}

function parseWithoutZone(schedule: string): Parsed<CronSchedule> {
  if (schedule.startsWith('@')) return parseDescriptor(schedule)
  const texts = schedule.split(/\s+/).filter((field) => field !== '')
  if (texts.length !== ranges.length) {
    return {
      problem:
        texts.length === 0 && schedule === ''
          ? 'empty spec string'
          : `expected exactly ${ranges.length} fields, found ${texts.length}: [${texts.join(' ')}]`,
    }
  }
  const fields: CronField[] = []
  for (const [i, range] of ranges.entries()) {
    const result = parseField(texts[i] ?? '', range)
    if ('problem' in result) return result
    fields.push(result.parsed)
  }
  const [minutes, hours, daysOfMonth, months, daysOfWeek] = fields as [CronField, CronField, CronField, CronField, CronField]
  return { parsed: { fields: { minutes, hours, daysOfMonth, months, daysOfWeek } } }
}

function parseDescriptor(descriptor: string): Parsed<CronSchedule> {
  const schedule = own(descriptors, descriptor)
  if (schedule !== undefined) return parseWithoutZone(schedule)
  if (!descriptor.startsWith(everyPrefix)) return { problem: `unrecognized descriptor: ${descriptor}` }
  const ms = parseDurationMs(descriptor.slice(everyPrefix.length))
  if (ms === undefined) return { problem: `failed to parse duration ${descriptor}` }
  return { parsed: { everyMs: Math.max(1, Math.floor(ms / 1000)) * 1000 } }
}

function parseField(text: string, range: FieldRange): Parsed<CronField> {
  const values = new Set<number>()
  let isStar = false
  for (const part of text.split(',')) {
    if (part === '') continue
    const result = parsePart(part, range)
    if ('problem' in result) return result
    const { start, end, width } = result.parsed
    for (let value = start; value <= end; value += width) values.add(value)
    isStar ||= result.parsed.isStar
  }
  return { parsed: { values, isStar } }
}

interface Span {
  readonly start: number
  readonly end: number
  readonly width: number
  readonly isStar: boolean
}

function parsePart(part: string, range: FieldRange): Parsed<Span> {
  const [span = '', step, ...more] = part.split('/')
  const ends = span.split('-')
  const [first = '', second] = ends
  const isStar = first === '*' || first === '?'
  if (!isStar && ends.length > 2) return { problem: `too many hyphens: ${part}` }
  if (more.length > 0) return { problem: `too many slashes: ${part}` }
  const start = isStar ? range.min : numberOf(first, range)
  const last = isStar ? range.max : second === undefined ? start : numberOf(second, range)
  const width = step === undefined ? 1 : numberOf(step)
  if (start === undefined) return { problem: `failed to parse int from ${first}` }
  if (last === undefined) return { problem: `failed to parse int from ${second}` }
  if (width === undefined) return { problem: `failed to parse int from ${step}` }
  // A step from a single number runs to the end of the range.
  const end = step !== undefined && ends.length === 1 ? range.max : last
  const problem = spanProblem({ start, end, width, isStar }, range)
  return problem === undefined ? { parsed: { start, end, width, isStar: isStar && width === 1 } } : { problem: `${problem}: ${part}` }
}

function spanProblem({ start, end, width }: Span, { min, max }: FieldRange): string | undefined {
  if (start < min) return `beginning of range (${start}) below minimum (${min})`
  if (end > max) return `end of range (${end}) above maximum (${max})`
  if (start > end) return `beginning of range (${start}) beyond end of range (${end})`
  return width === 0 ? 'step of range should be a positive number' : undefined
}

function numberOf(text: string, range?: FieldRange): number | undefined {
  const name = range?.names?.indexOf(text.toLowerCase()) ?? -1
  if (name >= 0) return name + (range?.min ?? 0)
  return /^\+?[0-9]+$/.test(text) ? Number(text) : undefined
}

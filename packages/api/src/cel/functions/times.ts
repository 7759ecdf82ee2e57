// Parts of times and durations: `getHours()` and its like, in UTC or in a time zone.

import { getOrInsert } from '../../base/get-or-insert.js'
import { RecentMap } from '../../base/recent-map.js'
import { CelError, Duration, noSuchOverload, Timestamp, type Value } from '../values.js'

const second = 1_000_000_000n

/** East of UTC in seconds, or an error. */
function offsetOf(zone: string, nanos: bigint): number | CelError {
  const colon = zone.indexOf(':')
  if (colon === -1) return offsetOfPlace(zone, nanos)
  const hours = zone.slice(0, colon)
  const minutes = zone.slice(colon + 1)
  if (!/^[+-]?\d+$/.test(hours)) return new CelError(`strconv.Atoi: parsing ${JSON.stringify(hours)}: invalid syntax`)
  if (!/^[+-]?\d+$/.test(minutes)) return new CelError(`strconv.Atoi: parsing ${JSON.stringify(minutes)}: invalid syntax`)
  return (Number(hours) * 60 + (zone[0] === '-' ? -1 : 1) * Number(minutes)) * 60
}

/** By the platform's own names for zones, which are a few hundred. */
const formats = new Map<string, Intl.DateTimeFormat>()
/** By the names that were asked for: the platform takes other names of a zone in any case, so there is no end of them. */
const asked = new RecentMap<string, Intl.DateTimeFormat>(1000)

/** Formats are dear to make and large: names of one zone share one. */
export function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  const known = asked.get(zone)
  if (known !== undefined) return known
  if (!/^[A-Z][A-Za-z0-9_+-]{0,63}(?:\/[A-Z][A-Za-z0-9_+-]{0,63}){0,2}$/.test(zone)) return undefined
  try {
    const options = { timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric' } as const
    const made = new Intl.DateTimeFormat('en-US', { ...options, minute: 'numeric', second: 'numeric', era: 'short' })
    // The platform takes any case; files of zones have one.
    const { timeZone } = made.resolvedOptions()
    if (timeZone !== zone && timeZone.toLowerCase() === zone.toLowerCase()) return undefined
    const format = getOrInsert(formats, timeZone, () => made)
    asked.set(zone, format)
    return format
  } catch {
    return undefined
  }
}

function offsetOfPlace(zone: string, nanos: bigint): number | CelError {
  // Servers run in UTC.
  if (zone === '' || zone === 'UTC' || zone === 'Local') return 0
  const format = formatOf(zone)
  if (format === undefined) return new CelError(`unknown time zone ${zone}`)
  const millis = Number((nanos - (((nanos % second) + second) % second)) / 1_000_000n)
  const parts = Object.fromEntries(format.formatToParts(millis).map(({ type, value }) => [type, value]))
  const number = (name: string): number => Number(parts[name])
  const local = new Date(0)
  local.setUTCFullYear(number('year'), number('month') - 1, number('day'))
  local.setUTCHours(number('hour'), number('minute'), number('second'))
  return (local.getTime() - millis) / 1000
}

type Part = (date: Date, nanosOfSecond: bigint) => number

const parts: { readonly [name: string]: Part } = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDayOfYear: (date) => Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDate: (date) => date.getUTCDate(),
  getDayOfWeek: (date) => date.getUTCDay(),
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (_, nanos) => Number(nanos / 1_000_000n),
}

/** Durations count everything in one unit. */
const durationParts: { readonly [name: string]: bigint } = {
  getHours: 3600n * second,
  getMinutes: 60n * second,
  getSeconds: second,
  getMilliseconds: 1_000_000n,
}

export const timeFunctions: readonly string[] = Object.keys(parts)

export function partOf(name: string, value: Value, zone: Value | undefined): Value {
  if (value instanceof Duration) {
    const unit = durationParts[name]
    return unit === undefined || zone !== undefined ? noSuchOverload : value.nanos / unit
  }
  if (!(value instanceof Timestamp) || (zone !== undefined && typeof zone !== 'string')) return noSuchOverload
  const offset = zone === undefined ? 0 : offsetOf(zone, value.nanos)
  if (offset instanceof CelError) return offset
  const local = value.nanos + BigInt(offset) * second
  const rest = ((local % second) + second) % second
  const date = new Date(Number((local - rest) / 1_000_000n))
  return BigInt((parts[name] as Part)(date, rest))
}

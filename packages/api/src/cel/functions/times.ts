// CEL accessors of timestamps and durations, such as `getHours()`, in UTC or a time zone.

import { getOrInsert, RecentMap } from '../../base/recent-map.js'
import { quoteText } from '../values/quote-text.js'
import { CelError, Duration, noMethod, noSuchOverload, Timestamp, type Value } from '../values/values.js'

const nanosPerSecond = 1_000_000_000n

function offsetOf(zone: string, nanos: bigint): number | CelError {
  const colon = zone.indexOf(':')
  if (colon === -1) return offsetOfNamedZone(zone, nanos)
  const hours = readInt(zone.slice(0, colon))
  if (hours instanceof CelError) return hours
  const minutes = readInt(zone.slice(colon + 1))
  if (minutes instanceof CelError) return minutes
  const offset = hours * 60n + (zone[0] === '-' ? -minutes : minutes)
  // As in kube-apiserver, nanoseconds wrap around.
  return Number(BigInt.asIntN(64, offset * 60n * nanosPerSecond) / nanosPerSecond)
}

function readInt(text: string): bigint | CelError {
  const fail = (reason: string): CelError => new CelError(`strconv.Atoi: parsing ${quoteText(text)}: ${reason}`)
  if (!/^[+-]?\d{1,1000}$/.test(text)) return fail('invalid syntax')
  const value = BigInt(text.replace(/^\+/, ''))
  return BigInt.asIntN(64, value) === value ? value : fail('value out of range')
}

/** Formats by canonical zone name, of which there are a few hundred. */
const formatsByCanonicalName = new Map<string, Intl.DateTimeFormat>()
/** Formats by requested name. Bounded, because Intl ignores case and clients choose the spelling. */
const formatsByRequestedName = new RecentMap<string, Intl.DateTimeFormat>(1000)

/** Aliases of a zone share one format, because formats are expensive. */
export function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  const cached = formatsByRequestedName.get(zone)
  if (cached !== undefined) return cached
  if (!/^[A-Z][A-Za-z0-9_+-]{0,63}(?:\/[A-Z][A-Za-z0-9_+-]{0,63}){0,2}$/.test(zone)) return undefined
  try {
    const options = { timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric' } as const
    const created = new Intl.DateTimeFormat('en-US', { ...options, minute: 'numeric', second: 'numeric', era: 'short' })
    // Intl ignores case; kube-apiserver does not.
    const { timeZone } = created.resolvedOptions()
    if (timeZone !== zone && timeZone.toLowerCase() === zone.toLowerCase()) return undefined
    const format = getOrInsert(formatsByCanonicalName, timeZone, () => created)
    formatsByRequestedName.set(zone, format)
    return format
  } catch {
    return undefined
  }
}

function offsetOfNamedZone(zone: string, nanos: bigint): number | CelError {
  if (zone === '' || zone === 'UTC' || zone === 'Local') return 0
  if (/^[/\\]|\.\./.test(zone)) return new CelError('time: invalid location name')
  const format = formatOf(zone)
  if (format === undefined) return new CelError(`unknown time zone ${zone}`)
  const millis = Number((nanos - (((nanos % nanosPerSecond) + nanosPerSecond) % nanosPerSecond)) / 1_000_000n)
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

const durationParts: { readonly [name: string]: bigint } = {
  getHours: 3600n * nanosPerSecond,
  getMinutes: 60n * nanosPerSecond,
  getSeconds: nanosPerSecond,
  getMilliseconds: 1_000_000n,
}

export const timeFunctions: readonly string[] = Object.keys(parts)

export function partOf(name: string, value: Value, zone: Value | undefined): Value {
  if (value instanceof Duration) {
    const unit = durationParts[name]
    return unit === undefined || zone !== undefined ? noSuchOverload : value.nanos / unit
  }
  if (!(value instanceof Timestamp)) return noMethod(value, name)
  if (zone !== undefined && typeof zone !== 'string') return noSuchOverload
  const offset = zone === undefined ? 0 : offsetOf(zone, value.nanos)
  if (offset instanceof CelError) return offset
  const local = value.nanos + BigInt(offset) * nanosPerSecond
  const nanosOfSecond = ((local % nanosPerSecond) + nanosPerSecond) % nanosPerSecond
  const date = new Date(Number((local - nanosOfSecond) / 1_000_000n))
  return BigInt((parts[name] as Part)(date, nanosOfSecond))
}

// CEL type conversions: `int(x)`, `string(x)`, `timestamp(x)` and so on.

import { parseDuration } from '../../base/duration.js'
import { floatText } from '../../base/text/float-text.js'
import { formatTimestamp, maxTime, minTime, parseTimestamp } from '../values/time-formats.js'
import { Uint } from '../values/uint.js'
import { CelError, Duration, Timestamp, TypeValue, typeName, type Value } from '../values/values.js'
import { intOf, timestampOf, uintOf } from './arithmetic.js'

const nanosPerSecond = 1_000_000_000n

const conversionError = (value: Value, to: string): CelError =>
  value instanceof CelError ? value : new CelError(`type conversion error from '${typeName(value)}' to '${to}'`)

export function toInt(value: Value): Value {
  if (typeof value === 'bigint') return value
  if (value instanceof Uint) return intOf(value.value)
  if (typeof value === 'number') {
    return Number.isFinite(value) && Math.abs(value) < 2 ** 63 ? intOf(BigInt(Math.trunc(value))) : new CelError('integer overflow')
  }
  if (typeof value === 'string' && /^[+-]?\d{1,400}$/.test(value)) {
    const parsed = intOf(BigInt(value.replace(/^\+/, '')))
    return parsed instanceof CelError ? conversionError(value, 'int') : parsed
  }
  if (value instanceof Timestamp) return floorDivide(value.nanos, nanosPerSecond)
  return value instanceof Duration ? value.nanos : conversionError(value, 'int')
}

const floorDivide = (a: bigint, b: bigint): bigint => (a >= 0n || a % b === 0n ? a / b : a / b - 1n)

export function toUint(value: Value): Value {
  if (value instanceof Uint) return value
  if (typeof value === 'bigint') return uintOf(value)
  if (typeof value === 'number') {
    return Number.isFinite(value) && value >= 0 && value < 2 ** 64
      ? uintOf(BigInt(Math.trunc(value)))
      : new CelError('unsigned integer overflow')
  }
  if (typeof value === 'string' && /^\d{1,400}$/.test(value)) {
    const parsed = uintOf(BigInt(value))
    return parsed instanceof CelError ? conversionError(value, 'uint') : parsed
  }
  return conversionError(value, 'uint')
}

const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const hexadecimal = /^([+-]?)0x([0-9a-f]*)(?:\.([0-9a-f]*))?p([+-]?\d{1,5})$/i
const infinity = /^([+-]?)inf(?:inity)?$/i

export function toDouble(value: Value): Value {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof Uint) return Number(value.value)
  if (typeof value !== 'string') return conversionError(value, 'double')
  if (/^nan$/i.test(value)) return Number.NaN
  const sign = infinity.exec(value)?.[1]
  if (sign !== undefined) return sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  const number = parseNumber(value)
  return Number.isFinite(number) ? number : conversionError(value, 'double')
}

/** Parses like Go: hexadecimal floats and underscores between digits. Returns NaN if invalid. */
function parseNumber(text: string): number {
  if (/(?:^|[^0-9a-fx])_|_(?![0-9a-f])/i.test(text)) return Number.NaN
  const withoutUnderscores = text.replaceAll('_', '')
  if (decimal.test(withoutUnderscores)) return Number(withoutUnderscores)
  const [, sign, whole = '', fraction = '', exponent] = hexadecimal.exec(withoutUnderscores) ?? []
  const digits = `${whole}${fraction}`
  if (exponent === undefined || digits === '' || digits.length > 200) return Number.NaN
  return (sign === '-' ? -1 : 1) * Number(`0x${digits}`) * 2 ** (Number(exponent) - 4 * fraction.length)
}

const trueTexts = ['1', 't', 'T', 'true', 'TRUE', 'True']
const falseTexts = ['0', 'f', 'F', 'false', 'FALSE', 'False']

export function toBool(value: Value): Value {
  if (typeof value === 'boolean') return value
  if (typeof value === 'string' && trueTexts.includes(value)) return true
  return typeof value === 'string' && falseTexts.includes(value) ? false : conversionError(value, 'bool')
}

const encoder = new TextEncoder()
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function toBytes(value: Value): Value {
  if (value instanceof Uint8Array) return value
  return typeof value === 'string' ? encoder.encode(value) : conversionError(value, 'bytes')
}

export function toText(value: Value): Value {
  switch (typeof value) {
    case 'string':
      return value
    case 'boolean':
    case 'bigint':
      return String(value)
    case 'number':
      return floatText(value)
    default:
      if (value === null) return 'null'
      if (value instanceof TypeValue) return value.name
      if (value instanceof Uint) return String(value.value)
      if (value instanceof Timestamp) return formatTimestamp(value)
      if (value instanceof Duration) return `${secondsText(value.nanos)}s`
      return value instanceof Uint8Array ? decodeText(value) : conversionError(value, 'string')
  }
}

function decodeText(bytes: Uint8Array): Value {
  try {
    return strictDecoder.decode(bytes)
  } catch {
    return new CelError('invalid UTF-8 in bytes, cannot convert to string')
  }
}

/** Seconds as a double, so that long durations lose nanoseconds; without an exponent. */
function secondsText(nanos: bigint): string {
  const seconds = Number(nanos / nanosPerSecond) + Number(nanos % nanosPerSecond) / 1e9
  const text = String(seconds)
  const [, sign = '', digits = '', fraction = '', exponent = ''] = /^(-?)(\d)(?:\.(\d+))?e-(\d+)$/.exec(text) ?? []
  return exponent === '' ? text : `${sign}0.${'0'.repeat(Number(exponent) - 1)}${digits}${fraction}`
}

export function toTimestamp(value: Value): Value {
  if (value instanceof Timestamp) return value
  if (typeof value === 'bigint')
    return value * nanosPerSecond < minTime || value * nanosPerSecond > maxTime
      ? timestampOf(maxTime + 1n)
      : timestampOf(value * nanosPerSecond)
  const parsed = typeof value === 'string' ? parseTimestamp(value) : undefined
  return parsed === undefined ? conversionError(value, 'google.protobuf.Timestamp') : timestampOf(parsed.nanos, parsed.offsetMinutes)
}

export function toDuration(value: Value): Value {
  if (value instanceof Duration) return value
  const nanos = typeof value === 'string' ? parseDuration(value) : undefined
  return nanos === undefined ? conversionError(value, 'google.protobuf.Duration') : new Duration(nanos)
}

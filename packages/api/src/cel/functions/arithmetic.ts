// CEL arithmetic and comparison: 64-bit integers with overflow errors, timestamps and durations.

import { maxTime, minTime } from '../values/time-formats.js'
import { Uint } from '../values/uint.js'
import {
  CelError,
  CelList,
  compare,
  Duration,
  maxChars,
  noMethod,
  noSuchOverload,
  Timestamp,
  tooLong,
  type Value,
} from '../values/values.js'

const maxInt = (1n << 63n) - 1n
const minInt = -(1n << 63n)
const maxUint = (1n << 64n) - 1n

const integerOverflow = new CelError('integer overflow')
const unsignedOverflow = new CelError('unsigned integer overflow')
const timestampOverflow = new CelError('timestamp overflow')
const divisionByZero = new CelError('division by zero')
const modulusByZero = new CelError('modulus by zero')

export const intOf = (value: bigint): Value => (value > maxInt || value < minInt ? integerOverflow : value)
export const uintOf = (value: bigint): Value => (value > maxUint || value < 0n ? unsignedOverflow : new Uint(value))
export const timestampOf = (nanos: bigint, offsetMinutes = 0): Value =>
  nanos < minTime || nanos > maxTime ? timestampOverflow : new Timestamp(nanos, offsetMinutes)
export const durationOf = (nanos: bigint): Value => (nanos > maxInt || nanos < minInt ? integerOverflow : new Duration(nanos))

/** Error of kube-apiserver, which depends on whether the type of `a` has the operator. */
const overloadError = (a: Value, name: string, hasOperator: boolean): CelError => {
  if (a instanceof CelError) return a
  return hasOperator ? noSuchOverload : noMethod(a, name)
}

const isNumeric = (a: Value): boolean => typeof a === 'bigint' || typeof a === 'number' || a instanceof Uint

export function add(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return intOf(a + b)
  if (typeof a === 'string' && typeof b === 'string') return a.length + b.length > maxChars ? tooLong : a + b
  if (typeof a === 'number' && typeof b === 'number') return a + b
  if (a instanceof Uint && b instanceof Uint) return uintOf(a.value + b.value)
  if (a instanceof CelList && b instanceof CelList) return a.add(b)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return concatenate(a, b)
  if (a instanceof Timestamp && b instanceof Duration) return timestampOf(a.nanos + b.nanos, a.offsetMinutes)
  if (a instanceof Duration && b instanceof Timestamp) return timestampOf(a.nanos + b.nanos, b.offsetMinutes)
  if (a instanceof Duration && b instanceof Duration) return durationOf(a.nanos + b.nanos)
  const hasOperator = isNumeric(a) || typeof a === 'string' || a instanceof Uint8Array || a instanceof CelList
  return overloadError(a, '_+_', hasOperator || a instanceof Timestamp || a instanceof Duration)
}

function concatenate(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length)
  joined.set(a)
  joined.set(b, a.length)
  return joined
}

export function subtract(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return intOf(a - b)
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (a instanceof Uint && b instanceof Uint) return uintOf(a.value - b.value)
  if (a instanceof Timestamp && b instanceof Timestamp) return durationOf(a.nanos - b.nanos)
  if (a instanceof Timestamp && b instanceof Duration) return timestampOf(a.nanos - b.nanos, a.offsetMinutes)
  if (a instanceof Duration && b instanceof Duration) return durationOf(a.nanos - b.nanos)
  return overloadError(a, '_-_', isNumeric(a) || a instanceof Timestamp || a instanceof Duration)
}

export function multiply(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return intOf(a * b)
  if (typeof a === 'number' && typeof b === 'number') return a * b
  if (a instanceof Uint && b instanceof Uint) return uintOf(a.value * b.value)
  return overloadError(a, '_*_', isNumeric(a))
}

export function divide(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return b === 0n ? divisionByZero : intOf(a / b)
  if (typeof a === 'number' && typeof b === 'number') return a / b
  if (a instanceof Uint && b instanceof Uint) return b.value === 0n ? divisionByZero : uintOf(a.value / b.value)
  return overloadError(a, '_/_', isNumeric(a))
}

export function modulo(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    if (b === 0n) return modulusByZero
    return a === minInt && b === -1n ? integerOverflow : a % b
  }
  if (a instanceof Uint && b instanceof Uint) return b.value === 0n ? modulusByZero : new Uint(a.value % b.value)
  return overloadError(a, '_%_', typeof a === 'bigint' || a instanceof Uint)
}

export function negate(a: Value): Value {
  if (typeof a === 'bigint') return intOf(-a)
  if (typeof a === 'number') return -a
  if (a instanceof Duration) return durationOf(-a.nanos)
  return overloadError(a, '-_', typeof a === 'boolean')
}

export function not(a: Value): Value {
  if (typeof a === 'boolean') return !a
  return overloadError(a, '!_', typeof a === 'bigint' || typeof a === 'number' || a instanceof Duration)
}

const isOrdered = (a: Value): boolean =>
  isNumeric(a) ||
  typeof a === 'string' ||
  typeof a === 'boolean' ||
  a instanceof Uint8Array ||
  a instanceof Timestamp ||
  a instanceof Duration

export const comparison =
  (name: string, isTrueFor: (order: number) => boolean) =>
  (a: Value, b: Value): Value => {
    const order = compare(a, b)
    if (order === undefined) return overloadError(a, name, isOrdered(a))
    return Number.isNaN(order) ? new CelError('NaN values cannot be ordered') : isTrueFor(order)
  }

// The values of expressions. Integers are bigints, doubles are numbers, and an error is a value, too: `true || 1/0 > 0` is true.

import { compareText } from '../base/text-order.js'
import { Uint } from './uint.js'
import type { CelUrl } from './url.js'

/** What went wrong while evaluating. */
export class CelError {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

/** Longer texts than a request may have are made by nobody. */
export const mostLetters = 3 << 20
export const tooLong = new CelError('the text would be too long')

export const noSuchOverload = new CelError('no such overload')
export const noOverloadOf = (name: string): CelError => new CelError(`no such overload: ${name}`)

export class Timestamp {
  /** Since 1970. */
  readonly nanos: bigint
  /** East of UTC, as it was written; only for showing it. */
  readonly offsetMinutes: number

  constructor(nanos: bigint, offsetMinutes = 0) {
    this.nanos = nanos
    this.offsetMinutes = offsetMinutes
  }
}

export class Duration {
  readonly nanos: bigint

  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

/** A type as a value: `type(1) == int`. */
export class TypeValue {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

export abstract class CelList {
  abstract readonly size: number
  abstract at(index: number): Value
  abstract add(other: CelList): CelList

  /** How many parts it has to the bottom, or `most`, where that is known without making values of them. */
  rawParts(_most: number): number | undefined {
    return undefined
  }

  /** True, false or an error. */
  equals(other: CelList): boolean | CelError {
    if (this.size !== other.size) return false
    for (let i = 0; i < this.size; i++) {
      const same = isEqual(this.at(i), other.at(i))
      if (same !== true) return same
    }
    return true
  }

  contains(value: Value): boolean | CelError {
    let problem: CelError | undefined
    for (let i = 0; i < this.size; i++) {
      const same = isEqual(this.at(i), value)
      if (same === true) return true
      if (same instanceof CelError) problem ??= same
    }
    return problem ?? false
  }
}

export abstract class CelMap {
  abstract readonly size: number
  abstract keys(): Iterable<Value>
  /** Undefined where there is none. */
  abstract find(key: Value): Value | undefined

  /** How many parts it has to the bottom, or `most`, where that is known without making values of them. */
  rawParts(_most: number): number | undefined {
    return undefined
  }

  equals(other: CelMap): boolean | CelError {
    if (this.size !== other.size) return false
    for (const key of this.keys()) {
      const theirs = other.find(key)
      if (theirs === undefined) return false
      const same = isEqual(this.find(key) as Value, theirs)
      if (same !== true) return same
    }
    return true
  }
}

export type Value =
  | null
  | boolean
  | bigint
  | Uint
  | number
  | string
  | Uint8Array
  | Timestamp
  | Duration
  | TypeValue
  | CelUrl
  | CelList
  | CelMap
  | CelError

/** A list of values. Appending shares what is there, so that a macro which collects n items takes n steps. */
export class ValueList extends CelList {
  private readonly items: Value[]
  readonly size: number

  constructor(items: Value[], size = items.length) {
    super()
    this.items = items
    this.size = size
  }

  override at(index: number): Value {
    return this.items[index] as Value
  }

  override add(other: CelList): CelList {
    // Whoever is the first to append may do so in place: lists before it do not look beyond their size.
    const items = this.items.length === this.size ? this.items : this.items.slice(0, this.size)
    const added = other.size
    for (let i = 0; i < added; i++) items.push(other.at(i))
    return new ValueList(items)
  }
}

/** A map of values that an expression has made. */
export class ValueMap extends CelMap {
  private readonly entries: ReadonlyMap<string, readonly [Value, Value]>

  constructor(entries: ReadonlyMap<string, readonly [Value, Value]>) {
    super()
    this.entries = entries
  }

  override get size(): number {
    return this.entries.size
  }

  override *keys(): Iterable<Value> {
    for (const [key] of this.entries.values()) yield key
  }

  override find(key: Value): Value | undefined {
    const text = keyText(key)
    if (text !== undefined) return this.entries.get(text)?.[1]
    // A key of another type is found by itself only.
    for (const [own, value] of this.entries.values()) if (own === key) return value
    return noSuchOverload
  }
}

/** The same text for keys that are equal, numbers of all types included. */
export function keyText(key: Value): string | undefined {
  switch (typeof key) {
    case 'string':
      return `"${key}`
    case 'bigint':
    case 'boolean':
      return String(key)
    case 'number':
      return Number.isInteger(key) ? String(BigInt(key)) : String(key)
    default:
      return key instanceof Uint ? String(key.value) : undefined
  }
}

export function typeName(value: Value): string {
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int'
    case 'number':
      return 'double'
    case 'string':
      return 'string'
    default:
      if (value === null) return 'null_type'
      if (value instanceof Uint) return 'uint'
      if (value instanceof Uint8Array) return 'bytes'
      if (value instanceof CelList) return 'list'
      if (value instanceof CelMap) return 'map'
      if (value instanceof Timestamp) return 'google.protobuf.Timestamp'
      if (value instanceof Duration) return 'google.protobuf.Duration'
      if (value instanceof TypeValue) return 'type'
      if (value instanceof CelError) return 'error'
      return 'kubernetes.URL'
  }
}

/** How many letters, bytes, items or members; undefined for what has no size. */
export function sizeOf(value: Value): number | undefined {
  if (typeof value === 'string') return countLetters(value)
  if (value instanceof Uint8Array) return value.length
  if (value instanceof CelList || value instanceof CelMap) return value.size
  return undefined
}

export function countLetters(text: string): number {
  let pairs = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xd800 && unit < 0xdc00) pairs++
  }
  return text.length - pairs
}

export const isNumber = (value: Value): value is bigint | number | Uint =>
  typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint

const plain = (value: bigint | number | Uint): bigint | number => (value instanceof Uint ? value.value : value)

/** Negative, zero, positive or NaN. An integer beside a double is compared as a double. */
function compareNumbers(a: bigint | number | Uint, b: bigint | number | Uint): number {
  const left = plain(a)
  const right = plain(b)
  if (typeof left === 'bigint' && typeof right === 'bigint') return sign(left, right)
  const x = Number(left)
  const y = Number(right)
  return x === y ? 0 : Math.sign(x - y)
}

export function isEqual(a: Value, b: Value): boolean | CelError {
  if (a === null || b === null) return a === b
  if (isNumber(a)) return isNumber(b) && compareNumbers(a, b) === 0
  if (typeof a !== 'object') return a === b
  if (a instanceof CelError) return a
  if (b instanceof CelError) return b
  if (a instanceof CelList) return b instanceof CelList && a.equals(b)
  if (a instanceof CelMap) return b instanceof CelMap && a.equals(b)
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name
  return !isNumber(b) && typeof b === 'object' && 'href' in b && 'href' in a && a.href === b.href
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const difference = (a[i] as number) - (b[i] as number)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

const sign = (a: bigint, b: bigint): number => Number(a > b) - Number(a < b)

/** Negative, zero, positive; NaN where they have no order; undefined where their types have none. */
export function compare(a: Value, b: Value): number | undefined {
  if (isNumber(a)) return isNumber(b) ? compareNumbers(a, b) : undefined
  if (typeof a === 'string') return typeof b === 'string' ? compareText(a, b) : undefined
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : undefined
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? compareBytes(a, b) : undefined
  if (a instanceof Timestamp) return b instanceof Timestamp ? sign(a.nanos, b.nanos) : undefined
  if (a instanceof Duration) return b instanceof Duration ? sign(a.nanos, b.nanos) : undefined
  return undefined
}

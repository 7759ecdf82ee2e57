// CEL values. Integers are bigints, doubles are numbers. Errors are values, because `true || 1/0 > 0` is true.

import { floatText } from '../../base/text/float-text.js'
import { compareText } from '../../base/text-order.js'
import { Uint } from './uint.js'
import type { CelUrl } from './url.js'

export class CelError {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

/** Maximum length of a string in UTF-16 units, the limit of a request body. */
export const maxChars = 3 << 20
export const tooLong = new CelError('the text would be too long')

export const noSuchOverload = new CelError('no such overload')
export const noOverloadOf = (name: string): CelError => new CelError(`no such overload: ${name}`)

/** Error of a method that the type of `target` does not have. The message differs for types with methods: strings and times. */
export const noMethod = (target: Value, name: string): CelError =>
  typeof target === 'string' || target instanceof Timestamp || target instanceof Duration ? noSuchOverload : noOverloadOf(name)

export class Timestamp {
  readonly nanos: bigint
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

  /** Number of nodes, counted up to `limit`, if known without decoding. */
  jsonNodes(_limit: number): number | undefined {
    return undefined
  }

  /** Result of a comparison with a value that is not a list. */
  get equalsOtherType(): false | CelError {
    return false
  }

  /** Value of `list[key]`. `isNative`: false if the list comes from a macro variable or a computed value, which have other index rules. */
  get(key: Value, _isNative: boolean): Value {
    const index = indexOf(key)
    if (index instanceof CelError) return index
    return index < 0n || index >= BigInt(this.size) ? this.outOfRange(index) : this.at(Number(index))
  }

  protected outOfRange(index: bigint): CelError {
    return new CelError(`index '${index}' out of range in list size '${this.size}'`)
  }

  equals(other: CelList): boolean | CelError {
    if (this.size !== other.size) return false
    for (let i = 0; i < this.size; i++) {
      const equality = isEqual(this.at(i), other.at(i))
      if (equality !== true) return equality
    }
    return true
  }

  /** The searched value is the left operand, whose list type decides. */
  contains(value: Value): boolean | CelError {
    for (let i = 0; i < this.size; i++) if (equalsByLeft(value, this.at(i)) === true) return true
    return false
  }
}

/** Whole numbers of any type are indexes. */
function indexOf(key: Value): bigint | CelError {
  if (typeof key === 'bigint') return key
  if (typeof key !== 'number' && !(key instanceof Uint)) return new CelError(`unsupported index type '${typeName(key)}' in list`)
  const integer = key instanceof Uint ? key.value : Number.isInteger(key) ? BigInt(key) : undefined
  if (integer !== undefined && BigInt.asIntN(64, integer) === integer) return integer
  return new CelError(`unsupported index value ${key instanceof Uint ? key.value : floatText(key)} in list`)
}

export abstract class CelMap {
  abstract readonly size: number
  /** Result of a comparison with a value that is no map. */
  get equalsOtherType(): false | CelError {
    return false
  }

  abstract keys(): Iterable<Value>
  abstract find(key: Value): Value | undefined

  jsonNodes(_limit: number): number | undefined {
    return undefined
  }

  equals(other: CelMap): boolean | CelError {
    if (this.size !== other.size) return false
    for (const key of this.keys()) {
      const otherValue = other.find(key)
      if (otherValue === undefined) return false
      const equality = isEqual(this.find(key) as Value, otherValue)
      if (equality !== true) return equality
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

/** List whose appends share the items, so that `map` and `filter` take linear time. */
export class ValueList extends CelList {
  private readonly items: Value[]
  readonly size: number
  /** First and last list of a sum of lists: errors for an index out of range come from these. */
  private readonly ends: readonly [first: CelList, last: CelList] | undefined
  /** Items of the left operand that were copied, because another append shares them. */
  readonly copied: number

  constructor(items: Value[], size = items.length, ends?: readonly [first: CelList, last: CelList], copied = 0) {
    super()
    this.items = items
    this.size = size
    this.ends = ends
    this.copied = copied
  }

  override at(index: number): Value {
    return this.items[index] as Value
  }

  override add(other: CelList): CelList {
    const added = other.size
    if (this.size === 0) return other
    if (added === 0) return this
    // The first append is in place: shorter lists that share the items do not read beyond their size.
    const isShared = this.items.length !== this.size
    const items = isShared ? this.items.slice(0, this.size) : this.items
    for (let i = 0; i < added; i++) items.push(other.at(i))
    const last = other instanceof ValueList ? (other.ends?.[1] ?? other) : other
    return new ValueList(items, items.length, [this.ends?.[0] ?? this, last], isShared ? this.size : 0)
  }

  /** The same items as one list, without the lists that were added. */
  joined(): ValueList {
    return this.ends === undefined ? this : new ValueList(this.items, this.size)
  }

  /** In a sum of lists, the error of the first list for negative indexes, else of the last list, with the index in that list. */
  protected override outOfRange(index: bigint): CelError {
    const { ends } = this
    if (ends === undefined) return super.outOfRange(index)
    const [first, last] = ends
    return (index < 0n ? first.get(index, false) : last.get(index - BigInt(this.size - last.size), false)) as CelError
  }
}

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
    if (keyText(key) !== undefined) {
      for (const text of keyTexts(key)) {
        const entry = this.entries.get(text)
        if (entry !== undefined) return entry[1]
      }
      return undefined
    }
    // Keys of other types match by identity only.
    for (const [mapKey, value] of this.entries.values()) if (mapKey === key) return value
    return noSuchOverload
  }
}

/** Map key as text: equal for equal numbers of any type; undefined for types that cannot be keys. */
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

/** Key of an entry of a {@link ValueMap}: unlike {@link keyText}, numbers of different types differ. */
export const entryKey = (key: Value): string | undefined => {
  const text = keyText(key)
  return text === undefined || typeof key === 'string' ? text : `${typeof key}${text}`
}

/** Map entries that a key finds. A double key also finds int and uint keys of its value; int and uint keys find each other. */
function keyTexts(key: Value): readonly string[] {
  const text = keyText(key) as string
  if (typeof key === 'number') return [`number${text}`, `bigint${text}`, `object${text}`]
  if (typeof key === 'bigint') return [`bigint${text}`, `object${text}`]
  return typeof key === 'object' ? [`object${text}`, `bigint${text}`] : [entryKey(key) as string]
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

export function sizeOf(value: Value): number | undefined {
  if (typeof value === 'string') return countChars(value)
  if (value instanceof Uint8Array) return value.length
  if (value instanceof CelList || value instanceof CelMap) return value.size
  return undefined
}

export function countChars(text: string): number {
  let pairs = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xd800 && unit < 0xdc00) pairs++
  }
  return text.length - pairs
}

export function utf8Length(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2
  }
  return bytes
}

const isNumber = (value: Value): value is bigint | number | Uint =>
  typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint

const numericValue = (value: bigint | number | Uint): bigint | number => (value instanceof Uint ? value.value : value)

function compareNumbers(a: bigint | number | Uint, b: bigint | number | Uint): number {
  const left = numericValue(a)
  const right = numericValue(b)
  if (typeof left === 'bigint' && typeof right === 'bigint') return sign(left, right)
  const x = Number(left)
  const y = Number(right)
  return x === y ? 0 : Math.sign(x - y)
}

export const isEqual = (a: Value, b: Value): boolean | CelError => (a === null || b === null ? a === b : equalsByLeft(a, b))

/** Equality as `a` defines it: values of a schema cannot be compared with null. */
export function equalsByLeft(a: Value, b: Value): boolean | CelError {
  if (a === null) return b === null
  if (isNumber(a)) return isNumber(b) && compareNumbers(a, b) === 0
  if (typeof a !== 'object') return a === b
  if (a instanceof CelError) return a
  if (b instanceof CelError) return b
  if (a instanceof CelList) return b instanceof CelList ? a.equals(b) : a.equalsOtherType
  if (a instanceof CelMap) return b instanceof CelMap ? a.equals(b) : a.equalsOtherType
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name
  return b !== null && typeof b === 'object' && 'href' in b && 'href' in a ? a.href === b.href : noSuchOverload
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

export function compare(a: Value, b: Value): number | undefined {
  if (isNumber(a)) return isNumber(b) ? compareNumbers(a, b) : undefined
  if (typeof a === 'string') return typeof b === 'string' ? compareText(a, b) : undefined
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : undefined
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? compareBytes(a, b) : undefined
  if (a instanceof Timestamp) return b instanceof Timestamp ? sign(a.nanos, b.nanos) : undefined
  if (a instanceof Duration) return b instanceof Duration ? sign(a.nanos, b.nanos) : undefined
  return undefined
}

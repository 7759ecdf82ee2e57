// JSON as values: what a schema describes as its types say, and what none describes as it looks.

import { shorten } from '../base/shorten.js'
import { readBase64 } from './base64.js'
import { unescapeName } from './escape.js'
import { likeness } from './likeness.js'
import { partsOfJson } from './parts.js'
import { type ValueSchema, valuesOf, withTypeAndMetadata } from './schema-type.js'
import { parseDate, parseDateTime, parseLooseDuration } from './time-text.js'
import { CelError, CelList, CelMap, Duration, isEqual, keyText, noSuchOverload, Timestamp, type Value } from './values.js'

type Members = { readonly [name: string]: unknown }

/** What JSON parsers of typed languages would call it. */
function describe(data: unknown): string {
  if (data === null) return 'nil'
  if (Array.isArray(data)) return '[]interface {}'
  if (typeof data === 'object') return 'map[string]interface {}'
  if (typeof data === 'boolean') return 'bool'
  if (typeof data === 'string') return 'string'
  return typeof data === 'bigint' || Number.isInteger(data) ? 'int64' : 'float64'
}

const wrong = (expected: string, data: unknown): CelError => new CelError(`invalid data, expected ${expected}, got ${describe(data)}`)
const isMembers = (data: unknown): data is Members => typeof data === 'object' && data !== null && !Array.isArray(data)
const isWhole = (data: unknown): data is number | bigint => typeof data === 'bigint' || Number.isInteger(data)

/** Data that no schema describes. */
export function valueOfJson(data: unknown): Value {
  if (data === null || data === undefined) return null
  if (Array.isArray(data)) return new DataList(data, undefined)
  switch (typeof data) {
    case 'boolean':
    case 'string':
    case 'bigint':
      return data
    case 'number':
      return Number.isInteger(data) ? BigInt(data) : data
    default:
      return isMembers(data) ? new DataMap(data, undefined) : new CelError('unsupported value')
  }
}

/** The data that {@link valueOfJson} made a value of. */
export const dataOf = (value: Value): unknown =>
  value instanceof DataList ? value.items : value instanceof DataMap ? value.members : value

/** Data as its schema describes it. */
export function valueOfData(data: unknown, schema: ValueSchema): Value {
  if (data === null || data === undefined) {
    return schema.nullable === true ? null : new CelError('invalid data, got null for schema with nullable=false')
  }
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (typeof data === 'string') return data
    return isWhole(data) ? BigInt(data) : new CelError('invalid data, expected XIntOrString value to be either a string or integer')
  }
  switch (schema.type) {
    case 'object':
      return objectOf(data, schema)
    case 'array':
      return listOf(data, schema)
    case 'string':
      return typeof data === 'string' ? textOf(data, schema.format) : wrong('string', data)
    case 'number':
      return typeof data === 'number' || typeof data === 'bigint' ? Number(data) : wrong('float', data)
    case 'integer':
      return isWhole(data) ? BigInt(data) : wrong('int', data)
    case 'boolean':
      return typeof data === 'boolean' ? data : wrong('bool', data)
    default:
      return schema['x-kubernetes-preserve-unknown-fields'] === true ? valueOfJson(data) : new CelError('invalid type in the schema')
  }
}

function objectOf(data: unknown, schema: ValueSchema): Value {
  if (!isMembers(data)) return new CelError('invalid data, expected a map for the provided schema with type=object')
  const isResource = schema['x-kubernetes-embedded-resource'] === true
  const whole = isResource ? withTypeAndMetadata(schema) : schema
  const isDescribed = whole.properties !== undefined || valuesOf(whole) !== undefined
  if (isDescribed || whole['x-kubernetes-preserve-unknown-fields'] === true) return new DataMap(data, whole)
  return new CelError('invalid object type, expected either Properties or AdditionalProperties with Allows=true and non-empty Schema')
}

function listOf(data: unknown, schema: ValueSchema): Value {
  if (!Array.isArray(data)) return new CelError('invalid data, expected an array for the provided schema with type=array')
  const { items } = schema
  if (items === undefined) return new CelError('invalid array type, expected Items with a non-empty Schema')
  const type = schema['x-kubernetes-list-type']
  if (type === 'set') return new SetList(data, items)
  return type === 'map' ? new KeyedList(data, items, schema['x-kubernetes-list-map-keys'] ?? []) : new DataList(data, items)
}

const unreadable = (what: string, text: string, why: string): CelError => new CelError(`Invalid ${what} ${shorten(text)}: ${why}`)

function textOf(text: string, format: string | undefined): Value {
  switch (format) {
    case 'duration': {
      const nanos = parseLooseDuration(text)
      return nanos === undefined ? unreadable('duration', text, `unable to parse ${shorten(text)} as duration`) : new Duration(nanos)
    }
    case 'date': {
      const parsed = parseDate(text)
      return typeof parsed === 'bigint' ? new Timestamp(parsed) : unreadable('date formatted string', text, parsed)
    }
    case 'date-time': {
      const parsed = parseDateTime(text)
      if (typeof parsed === 'string') return unreadable('date-time formatted string', text, parsed)
      return new Timestamp(parsed.nanos, parsed.offsetMinutes)
    }
    case 'byte': {
      const read = readBase64(text)
      return typeof read === 'number' ? unreadable('byte formatted string', text, `illegal base64 data at input byte ${read}`) : read
    }
    default:
      return text
  }
}

/** An item that was added to a list of data: it is a value already. */
class Added {
  readonly value: Value

  constructor(value: Value) {
    this.value = value
  }
}

class DataList extends CelList {
  readonly items: unknown[]
  protected readonly schema: ValueSchema | undefined

  constructor(items: unknown[], schema: ValueSchema | undefined) {
    super()
    this.items = items
    this.schema = schema
  }

  override get size(): number {
    return this.items.length
  }

  override at(index: number): Value {
    const item = this.items[index]
    if (item instanceof Added) return item.value
    return this.schema === undefined ? valueOfJson(item) : valueOfData(item, this.schema)
  }

  override rawParts(most: number): number | undefined {
    return this.items.some((item) => item instanceof Added) ? undefined : partsOfJson(this.items, most)
  }

  protected itemsWith(other: CelList): unknown[] {
    const items = [...this.items]
    for (let i = 0; i < other.size; i++) items.push(new Added(other.at(i)))
    return items
  }

  override add(other: CelList): CelList {
    return new DataList(this.itemsWith(other), this.schema)
  }
}

/** The order of items means nothing, and each is there once. */
class SetList extends DataList {
  private known: Map<string, number[]> | undefined

  private insert(value: Value): void {
    if (this.contains(value) === true) return
    const text = likeness(value)
    const places = this.known?.get(text)
    if (places === undefined) this.known?.set(text, [this.items.length])
    else places.push(this.items.length)
    this.items.push(new Added(value))
  }

  /** Where items may be that are equal to this one. */
  private candidates(value: Value): readonly number[] {
    if (this.known === undefined) {
      this.known = new Map()
      for (let i = 0; i < this.size; i++) {
        const text = likeness(this.at(i))
        const places = this.known.get(text)
        if (places === undefined) this.known.set(text, [i])
        else places.push(i)
      }
    }
    return this.known.get(likeness(value)) ?? []
  }

  override contains(value: Value): boolean | CelError {
    return this.candidates(value).some((index) => isEqual(this.at(index), value) === true)
  }

  override equals(other: CelList): boolean | CelError {
    if (this.size !== other.size) return false
    for (let i = 0; i < other.size; i++) if (this.contains(other.at(i)) !== true) return false
    return true
  }

  override add(other: CelList): CelList {
    const union = new SetList([...this.items], this.schema as ValueSchema)
    for (let i = 0; i < other.size; i++) union.insert(other.at(i))
    return union
  }
}

/** Items are told apart by some of their members. */
class KeyedList extends DataList {
  private readonly keys: readonly string[]
  private known: Map<string, number> | undefined

  constructor(items: unknown[], schema: ValueSchema, keys: readonly string[]) {
    super(items, schema)
    this.keys = keys
  }

  private textOf(value: Value): string | undefined {
    if (!(value instanceof CelMap)) return undefined
    const parts = this.keys.map((key) => {
      const member = value instanceof DataMap ? value.member(key) : value.find(key)
      return member === undefined ? null : (keyText(member) ?? null)
    })
    return JSON.stringify(parts)
  }

  private placeOf(value: Value): number | undefined {
    if (this.known === undefined) {
      this.known = new Map()
      for (let i = 0; i < this.size; i++) {
        const text = this.textOf(this.at(i))
        if (text !== undefined) this.known.set(text, i)
      }
    }
    const text = this.textOf(value)
    return text === undefined ? undefined : this.known.get(text)
  }

  override equals(other: CelList): boolean | CelError {
    if (this.size !== other.size) return false
    for (let i = 0; i < other.size; i++) {
      const theirs = other.at(i)
      const place = this.placeOf(theirs)
      if (place === undefined) return false
      const same = isEqual(this.at(place), theirs)
      if (same !== true) return same
    }
    return true
  }

  override contains(value: Value): boolean | CelError {
    const place = this.placeOf(value)
    return (place !== undefined && isEqual(this.at(place), value) === true) || super.contains(value)
  }

  /** What has the same key is replaced where it stands; what is new is appended, as often as it comes. */
  override add(other: CelList): CelList {
    const items = [...this.items]
    for (let i = 0; i < other.size; i++) {
      const value = other.at(i)
      const place = this.placeOf(value)
      if (place !== undefined) items[place] = new Added(value)
      else items.push(new Added(value))
    }
    return new KeyedList(items, this.schema as ValueSchema, this.keys)
  }
}

export class DataMap extends CelMap {
  readonly members: Members
  private readonly schema: ValueSchema | undefined
  /** Names are escaped, and null is absent, where properties are declared. */
  private readonly isObject: boolean

  constructor(members: Members, schema: ValueSchema | undefined) {
    super()
    this.members = members
    this.schema = schema
    this.isObject = schema?.properties !== undefined
  }

  override get size(): number {
    return Object.keys(this.members).length
  }

  override keys(): Iterable<Value> {
    return Object.keys(this.members)
  }

  override rawParts(most: number): number {
    return partsOfJson(this.members, most)
  }

  /** By the name that it has in the data. */
  member(name: string): Value | undefined {
    if (!Object.hasOwn(this.members, name)) return undefined
    const data = this.members[name]
    if (this.schema === undefined) return valueOfJson(data)
    if (this.isObject && data === null) return undefined
    const schema = this.schemaOf(name)
    return schema === undefined ? undefined : valueOfData(data, schema)
  }

  private schemaOf(name: string): ValueSchema | undefined {
    const { schema } = this
    if (schema?.properties === undefined) return schema === undefined ? undefined : valuesOf(schema)
    return Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
  }

  override find(key: Value): Value | undefined {
    if (typeof key !== 'string') return noSuchOverload
    const name = this.isObject ? unescapeName(key) : key
    return name === undefined ? undefined : this.member(name)
  }

  override equals(other: CelMap): boolean | CelError {
    if (this.schema === undefined || !(other instanceof DataMap)) return super.equals(other)
    if (this.size !== other.size) return false
    for (const name of Object.keys(this.members)) {
      const schema = this.schemaOf(name)
      if (schema === undefined) {
        if (Object.hasOwn(other.members, name) && !isSameJson(this.members[name], other.members[name])) return false
        continue
      }
      const theirs = other.find(name)
      if (theirs === undefined) return false
      const same = isEqual(valueOfData(this.members[name], schema), theirs)
      if (same !== true) return same
    }
    return true
  }
}

function isSameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => isSameJson(item, b[i]))
  if (!isMembers(a)) return a === b
  if (!isMembers(b)) return false
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && isSameJson(a[name], b[name]))
}

// CEL values of JSON: typed by a structural schema, or by the JSON types if there is none.

import { isSameJson } from '../../base/create-merge-patch.js'
import { shorten } from '../../base/shorten.js'
import { decodeBase64, urlAlphabet } from '../../base/text/base64.js'
import { floatText } from '../../base/text/float-text.js'
import { sortTexts } from '../../base/text-order.js'
import { nodesOfJson } from '../cost/count-nodes.js'
import { type ValueSchema, valuesOf, withTypeAndMetadata } from '../types/structural-schema-types.js'
import { escapeName, unescapeName } from './escape-property-name.js'
import { parseDate, parseDateTime, parseLooseDuration } from './time-formats.js'
import { Uint } from './uint.js'
import {
  CelError,
  CelList,
  CelMap,
  Duration,
  equalsByLeft,
  isEqual,
  keyText,
  noSuchOverload,
  Timestamp,
  typeName,
  type Value,
} from './values.js'

type JsonObject = { readonly [name: string]: unknown }

/** Go type name, as in messages of kube-apiserver. */
function goTypeName(data: unknown): string {
  if (data === null) return 'nil'
  if (Array.isArray(data)) return '[]interface {}'
  if (typeof data === 'object') return 'map[string]interface {}'
  if (typeof data === 'boolean') return 'bool'
  if (typeof data === 'string') return 'string'
  return typeof data === 'bigint' || Number.isInteger(data) ? 'int64' : 'float64'
}

const typeError = (expected: string, data: unknown): CelError => new CelError(`invalid data, expected ${expected}, got ${goTypeName(data)}`)
const isJsonObject = (data: unknown): data is JsonObject => typeof data === 'object' && data !== null && !Array.isArray(data)
const isInteger = (data: unknown): data is number | bigint => typeof data === 'bigint' || Number.isSafeInteger(data)

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
      return isJsonObject(data) ? new DataMap(data, undefined) : new CelError('unsupported value')
  }
}

/** JSON of a list or map that came from JSON; other values as they are. */
export const dataOf = (value: Value): unknown =>
  value instanceof DataList ? value.items : value instanceof DataMap ? value.members : value

export function valueBySchema(data: unknown, schema: ValueSchema): Value {
  if (data === null || data === undefined) {
    return schema.nullable === true ? null : new CelError('invalid data, got null for schema with nullable=false')
  }
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (typeof data === 'string') return data
    return isInteger(data) ? BigInt(data) : new CelError('invalid data, expected XIntOrString value to be either a string or integer')
  }
  switch (schema.type) {
    case 'object':
      return objectOf(data, schema)
    case 'array':
      return listOf(data, schema)
    case 'string':
      return typeof data === 'string' ? textOf(data, schema.format) : typeError('string', data)
    case 'number':
      return typeof data === 'number' || typeof data === 'bigint' ? Number(data) : typeError('float', data)
    case 'integer':
      return isInteger(data) ? BigInt(data) : typeError('int', data)
    case 'boolean':
      return typeof data === 'boolean' ? data : typeError('bool', data)
    default:
      return schema['x-kubernetes-preserve-unknown-fields'] === true ? valueOfJson(data) : new CelError('invalid type in the schema')
  }
}

function objectOf(data: unknown, schema: ValueSchema): Value {
  if (!isJsonObject(data)) return new CelError('invalid data, expected a map for the provided schema with type=object')
  const isResource = schema['x-kubernetes-embedded-resource'] === true
  const completeSchema = isResource ? withTypeAndMetadata(schema) : schema
  const hasMemberSchemas = completeSchema.properties !== undefined || valuesOf(completeSchema) !== undefined
  if (hasMemberSchemas || completeSchema['x-kubernetes-preserve-unknown-fields'] === true) return new DataMap(data, completeSchema)
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

const parseError = (format: string, text: string, reason: string): CelError => new CelError(`Invalid ${format} ${shorten(text)}: ${reason}`)

function textOf(text: string, format: string | undefined): Value {
  switch (format) {
    case 'duration': {
      const nanos = parseLooseDuration(text)
      return nanos === undefined ? parseError('duration', text, `unable to parse ${shorten(text)} as duration`) : new Duration(nanos)
    }
    case 'date': {
      const parsed = parseDate(text)
      return typeof parsed === 'bigint' ? new Timestamp(parsed) : parseError('date formatted string', text, parsed)
    }
    case 'date-time': {
      const parsed = parseDateTime(text)
      if (typeof parsed === 'string') return parseError('date-time formatted string', text, parsed)
      return new Timestamp(parsed.nanos, parsed.offsetMinutes)
    }
    case 'byte': {
      const bytes = decodeBase64(text, urlAlphabet)
      return typeof bytes === 'number' ? parseError('byte formatted string', text, `illegal base64 data at input byte ${bytes}`) : bytes
    }
    default:
      return text
  }
}

function textOfKey(key: Value): string {
  if (typeof key === 'number') return floatText(key)
  if (key instanceof Uint) return String(key.value)
  return typeof key === 'object' ? typeName(key) : String(key)
}

/** Item that an expression appended, already a CEL value. */
class AppendedItem {
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

  override get equalsOtherType(): false | CelError {
    return this.schema === undefined ? false : noSuchOverload
  }

  override get(key: Value, isNative: boolean): Value {
    if (this.schema === undefined && !(isNative && typeof key === 'bigint')) return super.get(key, isNative)
    if (typeof key !== 'bigint') return new CelError(`unsupported index: ${textOfKey(key)}`)
    return key < 0n || key >= BigInt(this.size) ? new CelError(`index out of bounds: ${key}`) : this.at(Number(key))
  }

  override equals(other: CelList): boolean | CelError {
    if (this.schema === undefined) return super.equals(other)
    if (this.size !== other.size) return false
    for (let i = 0; i < this.size; i++) {
      const equality = equalsByLeft(this.at(i), other.at(i))
      if (equality !== true) return equality
    }
    return true
  }

  override contains(value: Value): boolean | CelError {
    if (this.schema === undefined) return super.contains(value)
    let firstError: CelError | undefined
    for (let i = 0; i < this.size; i++) {
      const equality = equalsByLeft(this.at(i), value)
      if (equality === true) return true
      if (equality instanceof CelError) firstError ??= equality
    }
    return firstError ?? false
  }

  override at(index: number): Value {
    const item = this.items[index]
    if (item instanceof AppendedItem) return item.value
    return this.schema === undefined ? valueOfJson(item) : valueBySchema(item, this.schema)
  }

  override jsonNodes(limit: number): number | undefined {
    return this.items.some((item) => item instanceof AppendedItem) ? undefined : nodesOfJson(this.items, limit)
  }

  protected itemsWith(other: CelList): unknown[] {
    const items = [...this.items]
    for (let i = 0; i < other.size; i++) items.push(new AppendedItem(other.at(i)))
    return items
  }

  override add(other: CelList): CelList {
    return new DataList(this.itemsWith(other), this.schema)
  }
}

class SetList extends DataList {
  private indexesByHash: Map<string, number[]> | undefined

  private insert(value: Value): void {
    if (this.contains(value) === true) return
    const text = hashOf(value)
    const indexes = this.indexesByHash?.get(text)
    if (indexes === undefined) this.indexesByHash?.set(text, [this.items.length])
    else indexes.push(this.items.length)
    this.items.push(new AppendedItem(value))
  }

  private candidates(value: Value): readonly number[] {
    if (this.indexesByHash === undefined) {
      this.indexesByHash = new Map()
      for (let i = 0; i < this.size; i++) {
        const text = hashOf(this.at(i))
        const indexes = this.indexesByHash.get(text)
        if (indexes === undefined) this.indexesByHash.set(text, [i])
        else indexes.push(i)
      }
    }
    return this.indexesByHash.get(hashOf(value)) ?? []
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

class KeyedList extends DataList {
  private readonly keys: readonly string[]
  private indexByKeys: Map<string, number> | undefined

  constructor(items: unknown[], schema: ValueSchema, keys: readonly string[]) {
    super(items, schema)
    this.keys = keys
  }

  private keysTextOf(value: Value): string | undefined {
    if (!(value instanceof CelMap)) return undefined
    const parts = this.keys.map((key) => {
      const member = value instanceof DataMap ? value.member(key) : value.find(key)
      return member === undefined ? null : (keyText(member) ?? null)
    })
    return JSON.stringify(parts)
  }

  private indexOf(value: Value): number | undefined {
    if (this.indexByKeys === undefined) {
      this.indexByKeys = new Map()
      for (let i = 0; i < this.size; i++) {
        const text = this.keysTextOf(this.at(i))
        if (text !== undefined) this.indexByKeys.set(text, i)
      }
    }
    const text = this.keysTextOf(value)
    return text === undefined ? undefined : this.indexByKeys.get(text)
  }

  override equals(other: CelList): boolean | CelError {
    if (this.size !== other.size) return false
    for (let i = 0; i < other.size; i++) {
      const otherValue = other.at(i)
      const index = this.indexOf(otherValue)
      if (index === undefined) return false
      const equality = equalsByLeft(this.at(index), otherValue)
      if (equality !== true) return equality
    }
    return true
  }

  override contains(value: Value): boolean | CelError {
    const index = this.indexOf(value)
    return (index !== undefined && isEqual(this.at(index), value) === true) || super.contains(value)
  }

  /** Replaces items with the same key in place, and appends all other items. */
  override add(other: CelList): CelList {
    const items = [...this.items]
    for (let i = 0; i < other.size; i++) {
      const value = other.at(i)
      const index = this.indexOf(value)
      if (index !== undefined) items[index] = new AppendedItem(value)
      else items.push(new AppendedItem(value))
    }
    return new KeyedList(items, this.schema as ValueSchema, this.keys)
  }
}

class DataMap extends CelMap {
  readonly members: JsonObject
  private readonly schema: ValueSchema | undefined
  /** True if the schema declares properties: their names are escaped, and null counts as absent. */
  private readonly isObject: boolean

  constructor(members: JsonObject, schema: ValueSchema | undefined) {
    super()
    this.members = members
    this.schema = schema
    this.isObject = schema?.properties !== undefined
  }

  override get size(): number {
    return Object.keys(this.members).length
  }

  override get equalsOtherType(): false | CelError {
    return this.schema === undefined ? false : noSuchOverload
  }

  override keys(): Iterable<Value> {
    const names = Object.keys(this.members)
    return this.isObject ? names.filter((name) => this.schemaOf(name) !== undefined).map((name) => escapeName(name) ?? name) : names
  }

  override jsonNodes(limit: number): number {
    return nodesOfJson(this.members, limit)
  }

  member(name: string): Value | undefined {
    if (!Object.hasOwn(this.members, name)) return undefined
    const data = this.members[name]
    if (this.schema === undefined) return valueOfJson(data)
    if (this.isObject && data === null) return undefined
    const schema = this.schemaOf(name)
    return schema === undefined ? undefined : valueBySchema(data, schema)
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
    if (this.schema === undefined) return super.equals(other)
    if (this.size !== other.size) return false
    for (const name of Object.keys(this.members)) {
      const schema = this.schemaOf(name)
      if (schema === undefined) {
        if (!(other instanceof DataMap)) return noSuchOverload
        if (Object.hasOwn(other.members, name) && !isSameJson(this.members[name], other.members[name])) return false
        continue
      }
      // Names of properties are escaped in expressions only.
      const otherValue = other instanceof DataMap ? other.member(name) : other.find(name)
      if (otherValue === undefined) return false
      const equality = equalsByLeft(valueBySchema(this.members[name], schema), otherValue)
      if (equality !== true) return equality
    }
    return true
  }
}

/** Hash that equal values share. Ignores the order of items, because sets do. */
function hashOf(value: Value): string {
  const text = keyText(value)
  if (text !== undefined) return text
  if (value instanceof CelList) return `[${sortTexts(Array.from({ length: value.size }, (_, i) => hashOf(value.at(i)))).join()}]`
  if (value instanceof CelMap) {
    const members = Array.from(value.keys(), (key) => {
      const member = value.find(key)
      return `${hashOf(key)}:${member === undefined ? '' : hashOf(member)}`
    })
    return `{${sortTexts(members).join()}}`
  }
  return value instanceof Timestamp || value instanceof Duration ? String(value.nanos) : ''
}

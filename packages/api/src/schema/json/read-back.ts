// Computes what parsing the stored JSON of a value would give, without the text. Parsing 50 KB took a tenth of an update.
// Lists and maps are shared with the value unless an item, a key or the key order changes; structs are copied unless their text is cached.

import { overOwn } from '../../base/own-property.js'
import { compareText, sortTexts } from '../../base/text-order.js'
import { type AnyNode, type Field, isLoose, isNullable, type LazyNode, resolve, type SchemaNode, type StructNode } from '../node.js'
import { isRecord, setMember } from './read.js'
import { sentEmptyNames } from './sent-empty.js'
import { cachedStructTexts, hasCachedText } from './struct-text-cache.js'
import { absentText, omitsStored, writeAny } from './write.js'

type ReadBack = (value: unknown) => unknown

const valueReadBacks = new WeakMap<SchemaNode, ReadBack>()
const fieldReadBacks = new WeakMap<StructNode, ReadBack>()

/** Requires a value without integers beyond 2^53. */
export function readBackFields(node: StructNode, value: unknown): unknown {
  let readBack = fieldReadBacks.get(node)
  if (readBack === undefined) {
    readBack = compileFields(node)
    fieldReadBacks.set(node, readBack)
  }
  return readBack(value)
}

function readBackOf(node: SchemaNode): ReadBack {
  const cached = valueReadBacks.get(node)
  if (cached !== undefined) return cached
  let readBack: ReadBack = (value) => readBack(value)
  valueReadBacks.set(node, (value) => readBack(value))
  readBack = compile(node)
  valueReadBacks.set(node, readBack)
  return readBack
}

function compile(node: SchemaNode): ReadBack {
  if (isLoose(node)) return readBackAny
  switch (node.type) {
    case 'string':
    case 'bytes':
    case 'time':
    case 'duration':
    case 'quantity':
      return (value) => (typeof value === 'string' ? wellFormed(value) : null)
    case 'boolean':
      return (value) => value
    case 'integer':
    case 'number':
      return normalizeZero
    case 'intOrString':
      return (value) => (typeof value === 'string' ? wellFormed(value) : normalizeZero(value))
    case 'any':
      return node.schema === undefined ? readBackAny : compileUnion(node.form, node.schema)
    case 'list':
      return compileList(readBackOf(node.item))
    case 'map':
      return compileMap(readBackOf(node.value))
    case 'struct':
      return compileStruct(node)
    case 'lazy':
      return (value) => readBackOf(resolve(node))(value)
  }
}

const wellFormed = (text: string): string => (text.isWellFormed() ? text : text.toWellFormed())

const normalizeZero: ReadBack = (value) => (value === 0 ? 0 : value)

const readBackAny: ReadBack = (value) => (isAsParsed(value) ? value : JSON.parse(writeAny(value)))

function isAsParsed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (Array.isArray(value)) return value.every(isAsParsed)
  if (typeof value !== 'object' || value === null) return value !== undefined && !Object.is(value, -0)
  // The bytes have no marks of members sent empty.
  if (sentEmptyNames(value).length > 0) return false
  const members = value as Record<string, unknown>
  for (const key of Object.keys(members)) if (!key.isWellFormed() || !isAsParsed(members[key])) return false
  return true
}

function compileUnion(form: AnyNode['form'], schema: LazyNode): ReadBack {
  const readSchema: ReadBack = (value) => readBackOf(schema)(value)
  const readList = compileList(form === 'schemaOrArray' ? readSchema : readBackAny)
  return (value) => (Array.isArray(value) ? readList(value) : isRecord(value) ? readSchema(value) : readBackAny(value))
}

/** Accepts null, which lists in lists and maps may be. */
const compileList =
  (item: ReadBack): ReadBack =>
  (value) => {
    if (value === null) return value
    const items = value as readonly unknown[]
    let out: unknown[] | undefined
    for (let i = 0; i < items.length; i++) {
      const read = item(items[i])
      if (Object.is(read, items[i])) continue
      out ??= [...items]
      out[i] = read
    }
    return out ?? value
  }

function compileMap(item: ReadBack): ReadBack {
  return (value) => {
    if (value === null) return value
    const members = value as Record<string, unknown>
    const keys = Object.keys(members)
    // Reads each member once: reading it twice per level would take exponential time.
    let changes: Map<string, unknown> | undefined
    let previousKey = ''
    let isInOrder = true
    for (const key of keys) {
      const member = members[key]
      const read = item(member)
      if (!Object.is(read, member)) {
        changes ??= new Map()
        changes.set(key, read)
      }
      isInOrder &&= key.isWellFormed() && compareText(previousKey, key) <= 0
      previousKey = key
    }
    if (isInOrder && changes === undefined) return members
    const out: Record<string, unknown> = {}
    for (const key of sortTexts(keys)) setMember(out, wellFormed(key), changes?.has(key) ? changes.get(key) : members[key])
    return out
  }
}

function compileStruct(node: StructNode): ReadBack {
  const inner = (value: unknown): unknown => readBackFields(node, value)
  if (hasCachedText(node)) return (value) => (cachedStructTexts.has(value as object) ? value : markCached(inner(value) as object))
  if (!node.typeMeta) return inner
  return (value) => {
    const { kind, apiVersion } = value as { kind?: string; apiVersion?: string }
    return Object.assign({}, kind ? { kind } : undefined, apiVersion ? { apiVersion } : undefined, inner(value))
  }
}

function markCached(struct: object): object {
  cachedStructTexts.set(struct, { text: undefined })
  return struct
}

interface FieldReadBack {
  readonly name: string
  readonly read: ReadBack
  readonly omits: (value: unknown) => boolean
  /** JSON of an absent member; undefined if nothing is written. */
  readonly absent: string | undefined
  /** JSON of a null member; undefined if nothing is written. */
  readonly null: string | undefined
  /** JSON of an empty member; undefined if nothing is written. */
  readonly empty: string | undefined
}

const fieldReadBack = (name: string, field: Field, keepsNulls: boolean): FieldReadBack => ({
  name,
  read: readBackOf(field.node),
  omits: omitsStored(field),
  absent: absentText(field),
  null: keepsNulls && isNullable(resolve(field.node)) ? 'null' : absentText(field),
  empty: field.pointer ? undefined : absentText(field),
})

function compileFields(node: StructNode): ReadBack {
  const knownFields = Object.entries(node.fields).map(([name, field]) => fieldReadBack(name, field, node.rest === undefined))
  if (node.rest !== undefined) return openStructReadBack(knownFields, readBackOf(node.rest), node.typeMeta === true)
  return overOwn(Object.keys(node.fields), (value) => {
    const members = value as Record<string, unknown>
    const out: Record<string, unknown> = {}
    for (const field of knownFields) setField(out, field, members[field.name])
    return out
  })
}

function setField(out: Record<string, unknown>, field: FieldReadBack, member: unknown): void {
  const { name, read, omits, absent, empty } = field
  if (member !== undefined && member !== null && !omits(member)) {
    setMember(out, name, read(member))
    return
  }
  const text = member === undefined ? absent : member === null ? field.null : empty
  if (text !== undefined) setMember(out, name, JSON.parse(text))
}

function openStructReadBack(knownFields: readonly FieldReadBack[], rest: ReadBack, hasTypeMeta: boolean): ReadBack {
  const byName = new Map(knownFields.map((field) => [field.name, field]))
  return (value) => {
    const members = value as Record<string, unknown>
    const names = new Set(byName.keys())
    for (const name of Object.keys(members)) if (!hasTypeMeta || (name !== 'kind' && name !== 'apiVersion')) names.add(name)
    const out: Record<string, unknown> = {}
    const hasMetadata = names.delete('metadata')
    for (const name of [...(hasMetadata ? ['metadata'] : []), ...sortTexts([...names])]) {
      const field = byName.get(name)
      const member = Object.hasOwn(members, name) ? members[name] : undefined
      if (field !== undefined) setField(out, field, member)
      else if (member !== undefined) setMember(out, wellFormed(name), rest(member))
    }
    return out
  }
}

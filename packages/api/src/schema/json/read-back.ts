// The reading that gives what the store would give back of a value: the same as writing it for the store and parsing that text, without the
// text. Whoever changes an object again and again has it at hand from the last write; to parse 50 KB anew was a tenth of an update.
//
// Long parts (maps of texts, free JSON, lists) are shared with the value where they are as they would be parsed; structs are new, but for those
// that are kept (kept-struct).

import { compareText, sortTexts } from '../base/text-order.js'
import { isKeptStruct, keptStructs } from './kept-struct.js'
import { type AnyNode, type Field, isLoose, type LazyNode, resolve, type SchemaNode, type StructNode } from './node.js'
import { isRecord, setMember } from './read.js'
import { absentText, omitsStored, writeAny } from './write.js'

type Reading = (value: unknown) => unknown

const values = new WeakMap<SchemaNode, Reading>()
const fields = new WeakMap<StructNode, Reading>()

/** What would be parsed of `writeStoredFields` in braces, for values that are written without nulls in members and without big numbers. */
export function readBackFields(node: StructNode, value: unknown): unknown {
  let reading = fields.get(node)
  if (reading === undefined) {
    reading = compileFields(node)
    fields.set(node, reading)
  }
  return reading(value)
}

function readingOf(node: SchemaNode): Reading {
  const known = values.get(node)
  if (known !== undefined) return known
  let reading: Reading = (value) => reading(value)
  values.set(node, (value) => reading(value))
  reading = compile(node)
  values.set(node, reading)
  return reading
}

function compile(node: SchemaNode): Reading {
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
      return withoutSignOfZero
    case 'intOrString':
      return (value) => (typeof value === 'string' ? wellFormed(value) : withoutSignOfZero(value))
    case 'any':
      return node.schema === undefined ? readBackAny : compileUnion(node.form, node.schema)
    case 'list':
      return compileList(readingOf(node.item))
    case 'map':
      return compileMap(readingOf(node.value))
    case 'struct':
      return compileStruct(node)
    case 'lazy':
      return (value) => readingOf(resolve(node))(value)
  }
}

const wellFormed = (text: string): string => (text.isWellFormed() ? text : text.toWellFormed())

const withoutSignOfZero: Reading = (value) => (value === 0 ? 0 : value)

const readBackAny: Reading = (value) => (isAsParsed(value) ? value : JSON.parse(writeAny(value)))

function isAsParsed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (Array.isArray(value)) return value.every(isAsParsed)
  if (typeof value !== 'object' || value === null) return value !== undefined && !Object.is(value, -0)
  const members = value as Record<string, unknown>
  for (const key of Object.keys(members)) if (!key.isWellFormed() || !isAsParsed(members[key])) return false
  return true
}

function compileUnion(form: AnyNode['form'], schema: LazyNode): Reading {
  const one: Reading = (value) => readingOf(schema)(value)
  const many = compileList(form === 'schemaOrArray' ? one : readBackAny)
  return (value) => (Array.isArray(value) ? many(value) : isRecord(value) ? one(value) : readBackAny(value))
}

/** Shared where each item is. */
const compileList =
  (item: Reading): Reading =>
  (value) => {
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

/** Shared where it has its members in the order of the text, each as it would be parsed. */
function compileMap(item: Reading): Reading {
  return (value) => {
    const members = value as Record<string, unknown>
    const keys = Object.keys(members)
    // Each member is read once: maps lie in maps, and twice on each level would be twice for each level.
    let changes: Map<string, unknown> | undefined
    let before = ''
    let isInOrder = true
    for (const key of keys) {
      const member = members[key]
      const read = item(member)
      if (!Object.is(read, member)) {
        changes ??= new Map()
        changes.set(key, read)
      }
      isInOrder &&= key.isWellFormed() && compareText(before, key) <= 0
      before = key
    }
    if (isInOrder && changes === undefined) return members
    const out: Record<string, unknown> = {}
    for (const key of sortTexts(keys)) setMember(out, wellFormed(key), changes?.has(key) ? changes.get(key) : members[key])
    return out
  }
}

function compileStruct(node: StructNode): Reading {
  const inner = (value: unknown): unknown => readBackFields(node, value)
  if (isKeptStruct(node)) return (value) => (keptStructs.has(value as object) ? value : keep(inner(value) as object))
  if (!node.typeMeta) return inner
  return (value) => {
    const { kind, apiVersion } = value as { kind?: string; apiVersion?: string }
    return Object.assign({}, kind ? { kind } : undefined, apiVersion ? { apiVersion } : undefined, inner(value))
  }
}

function keep(struct: object): object {
  keptStructs.set(struct, { text: undefined })
  return struct
}

interface FieldReading {
  readonly name: string
  readonly read: Reading
  readonly omits: (value: unknown) => boolean
  /** The texts that stand for what is absent or omitted; undefined: nothing does. */
  readonly absent: string | undefined
  readonly empty: string | undefined
}

const fieldReading = (name: string, field: Field): FieldReading => ({
  name,
  read: readingOf(field.node),
  omits: omitsStored(field),
  absent: absentText(field),
  empty: field.pointer ? undefined : absentText(field),
})

function compileFields(node: StructNode): Reading {
  const known = Object.entries(node.fields).map(([name, field]) => fieldReading(name, field))
  if (node.rest !== undefined) return openReading(known, readingOf(node.rest), node.typeMeta === true)
  return (value) => {
    const members = value as Record<string, unknown>
    const out: Record<string, unknown> = {}
    for (const field of known) setField(out, field, members[field.name])
    return out
  }
}

function setField(out: Record<string, unknown>, { name, read, omits, absent, empty }: FieldReading, member: unknown): void {
  if (member !== undefined && member !== null && !omits(member)) {
    out[name] = read(member)
    return
  }
  const text = member === undefined || member === null ? absent : empty
  if (text !== undefined) out[name] = JSON.parse(text)
}

/** Of a struct with members beyond its fields, in the order in which they are written. */
function openReading(known: readonly FieldReading[], rest: Reading, hasTypeMeta: boolean): Reading {
  const byName = new Map(known.map((field) => [field.name, field]))
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

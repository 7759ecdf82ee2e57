// The reading that turns a value into its one canonical JSON text: fields in the schema's order, map keys sorted,
// zero values left out where the kind says so, and the characters escaped that the reference escapes.

import { sortTexts } from '../base/text-order.js'
import { isKeptStruct, keptStructs } from './kept-struct.js'
import { type AnyNode, type Field, isLoose, isNullable, type LazyNode, resolve, type SchemaNode, type StructNode } from './node.js'
import { isMarkedPlain, isOfTexts, isPlainText } from './plain-maps.js'

type Writer = (value: unknown) => string

/**
 * What is stored is read again, and the reference's store does not tell a list without items from one that is absent; so what is written
 * for it shows both as absent. In an answer that was never stored, they differ.
 */
class Writers {
  readonly #showsEmptyLists: boolean
  readonly #values = new WeakMap<SchemaNode, Writer>()
  readonly #fields = new WeakMap<StructNode, Writer>()

  constructor({ showsEmptyLists }: { readonly showsEmptyLists: boolean }) {
    this.#showsEmptyLists = showsEmptyLists
  }

  value(node: SchemaNode): Writer {
    const known = this.#values.get(node)
    if (known !== undefined) return known
    let writer: Writer = (value) => writer(value)
    this.#values.set(node, (value) => writer(value))
    writer = this.#compile(node)
    this.#values.set(node, writer)
    return writer
  }

  fields(node: StructNode): Writer {
    let writer = this.#fields.get(node)
    if (writer === undefined) {
      writer = this.#compileFields(node)
      this.#fields.set(node, writer)
    }
    return writer
  }

  #compile(node: SchemaNode): Writer {
    if (isLoose(node)) return this.#compileLoose(node)
    switch (node.type) {
      case 'string':
      case 'bytes':
      case 'time':
      case 'duration':
      case 'quantity':
        return (value) => (typeof value === 'string' ? writeText(value) : 'null')
      case 'boolean':
        return String
      case 'integer':
        return writeInteger
      case 'number':
        return (value) => JSON.stringify(value)
      case 'intOrString':
        return (value) => (typeof value === 'string' ? writeText(value) : writeInteger(value))
      case 'any':
        return node.schema === undefined ? writeAny : this.#compileUnion(node.form, node.schema)
      case 'list':
        return compileList(this.value(node.item))
      case 'map':
        return compileMap(this.value(node.value), isOfTexts(node))
      case 'struct':
        return this.#compileStruct(node)
      case 'lazy':
        return (value) => this.value(resolve(node))(value)
    }
  }

  #compileLoose(node: SchemaNode): Writer {
    if (node.type === 'list') {
      const write = compileList(this.value(node.item))
      return (value) => (Array.isArray(value) ? write(value) : writeAny(value))
    }
    if (node.type !== 'map' && node.type !== 'struct') return writeAny
    const write = node.type === 'map' ? compileMap(this.value(node.value)) : this.#compileStruct(node)
    return (value) => (isPlainObject(value) && !Array.isArray(value) ? write(value) : writeAny(value))
  }

  /** A JSON schema, or what may stand in its place. */
  #compileUnion(form: AnyNode['form'], schema: LazyNode): Writer {
    const one: Writer = (value) => this.value(schema)(value)
    const many = compileList(form === 'schemaOrArray' ? one : writeAny)
    return (value) => (Array.isArray(value) ? many(value) : isPlainObject(value) ? one(value) : writeAny(value))
  }

  #compileStruct(node: StructNode): Writer {
    const fields = this.fields(node)
    if (isKeptStruct(node) && !this.#showsEmptyLists) return keepingText((value) => `{${fields(value)}}`)
    if (!node.typeMeta) return (value) => `{${fields(value)}}`
    return (value) => {
      const { kind, apiVersion } = value as { kind?: string; apiVersion?: string }
      const head = [kind ? `"kind":${writeText(kind)}` : '', apiVersion ? `"apiVersion":${writeText(apiVersion)}` : ''].filter(
        (part) => part !== '',
      )
      const body = fields(value)
      return `{${[...head, ...(body === '' ? [] : [body])].join(',')}}`
    }
  }

  #compileFields(node: StructNode): Writer {
    const fields: FieldWriter[] = Object.entries(node.fields).map(([name, field]) => ({
      name,
      label: `${writeText(name)}:`,
      nextLabel: `,${writeText(name)}:`,
      write: this.value(field.node),
      absent: absentText(field),
      omits: omits(field, this.#showsEmptyLists),
      empty: field.pointer ? undefined : absentText(field),
      isNullable: isNullable(resolve(field.node)),
    }))
    if (isLoose(node)) return looseWriter(fields, node.rest === undefined ? writeAny : this.value(node.rest))
    if (node.rest !== undefined) return openWriter(fields, this.value(node.rest), node.typeMeta === true)
    return (value) => {
      const members = value as Record<string, unknown>
      let out = ''
      for (let i = 0; i < fields.length; i++) {
        const field = fields[i] as FieldWriter
        const member = members[field.name]
        const text =
          member === undefined || member === null ? textOfNothing(field, member) : field.omits(member) ? field.empty : field.write(member)
        if (text !== undefined) out += out === '' ? field.label + text : field.nextLabel + text
      }
      return out
    }
  }
}

/** Writes what is kept at most once. */
const keepingText =
  (write: Writer): Writer =>
  (value) => {
    const kept = keptStructs.get(value as object)
    if (kept === undefined) return write(value)
    kept.text ??= write(value)
    return kept.text
  }

/**
 * Of a struct with members beyond its fields: all of them in the order of their names, as the reference writes such objects; but metadata
 * first, because whoever stores it looks for the uid, and a member before it could hold the same text.
 */
function openWriter(fields: readonly FieldWriter[], writeRest: Writer, hasTypeMeta: boolean): Writer {
  const known = new Map(fields.map((field) => [field.name, field]))
  return (value) => {
    const members = value as Record<string, unknown>
    const names = new Set(known.keys())
    for (const name of Object.keys(members)) if (!hasTypeMeta || (name !== 'kind' && name !== 'apiVersion')) names.add(name)
    const hasMetadata = names.delete('metadata')
    let out = ''
    for (const name of [...(hasMetadata ? ['metadata'] : []), ...sortTexts([...names])]) {
      const field = known.get(name)
      const member = Object.hasOwn(members, name) ? members[name] : undefined
      const isAbsent = member === undefined || (member === null && field !== undefined)
      const text = isAbsent
        ? field?.absent
        : field === undefined
          ? writeRest(member)
          : field.omits(member)
            ? field.empty
            : field.write(member)
      if (text !== undefined) out += `${out === '' ? '' : ','}${writeText(name)}:${text}`
    }
    return out
  }
}

/** All members that are there, null included, in the order of their names. */
function looseWriter(fields: readonly FieldWriter[], writeRest: Writer): Writer {
  const known = new Map(fields.map(({ name, write }) => [name, write]))
  return (value) => {
    const members = value as Record<string, unknown>
    let out = ''
    for (const name of sortTexts(Object.keys(members))) {
      const member = members[name]
      if (member !== undefined) out += `${out === '' ? '' : ','}${writeText(name)}:${(known.get(name) ?? writeRest)(member)}`
    }
    return out
  }
}

const shown = new Writers({ showsEmptyLists: true })
const stored = new Writers({ showsEmptyLists: false })

/** The JSON of a value. */
export const writeValue = (node: SchemaNode, value: unknown): string => shown.value(node)(value)

/** The JSON of a value as it would be read back from the store: the same for all that are stored alike. */
export const writeStored = (node: SchemaNode, value: unknown): string => stored.value(node)(value)

/** What is stored of a struct: its fields without braces and without `kind` and `apiVersion`. */
export const writeStoredFields = (node: StructNode, value: unknown): string => stored.fields(node)(value)

const escaped: { readonly [character: string]: string } = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
  '\\b': '\\u0008',
  '\\f': '\\u000c',
}

/** Whether the platform's own writer may have left something to escape, or escaped it in another way. */
const isToEscape = (written: string): boolean =>
  written.includes('<') ||
  written.includes('>') ||
  written.includes('&') ||
  written.includes('\u2028') ||
  written.includes('\u2029') ||
  written.includes('\\b') ||
  written.includes('\\f')

/** A text in quotes. Angle brackets and ampersands are escaped, so that the JSON is safe inside HTML. */
export function writeText(text: string): string {
  if (isPlainText(text)) return `"${text}"`
  const written = JSON.stringify(text.isWellFormed === undefined || text.isWellFormed() ? text : text.toWellFormed())
  return isToEscape(written) ? written.replace(/\\\\|[<>&\u2028\u2029]|\\[bf]/g, (found) => escaped[found] ?? found) : written
}

let bigNumbers = 0

/**
 * How many numbers beyond 2^53 were written so far. Whoever stores what was written compares the counts before and after, to know whether
 * a plain parse will give back the same.
 */
export const countBigNumbers = (): number => bigNumbers

function writeInteger(value: unknown): string {
  if (typeof value === 'bigint') bigNumbers += 1
  return String(value)
}

/** Plain JSON of any shape, with the same escapes. */
export function writeAny(value: unknown): string {
  if (typeof value === 'string') return writeText(value)
  if (Array.isArray(value)) return `[${value.map(writeAny).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    let out = ''
    for (const key of Object.keys(value)) {
      const member = (value as Record<string, unknown>)[key]
      if (member !== undefined) out += `${out === '' ? '' : ','}${writeText(key)}:${writeAny(member)}`
    }
    return `{${out}}`
  }
  return typeof value === 'number' ? JSON.stringify(value) : writeInteger(value ?? null)
}

const isPlainObject = (value: unknown): boolean => typeof value === 'object' && value !== null

/** Inside of a map or list a list may be null, which is one that was never made. */
function compileList(item: Writer): Writer {
  return (value) => {
    if (value === null) return 'null'
    const items = value as readonly unknown[]
    let out = '['
    for (let i = 0; i < items.length; i++) out += i === 0 ? item(items[i]) : `,${item(items[i])}`
    return `${out}]`
  }
}

function compileMap(item: Writer, hasTexts = false): Writer {
  return (value) => {
    if (value === null) return 'null'
    const members = value as Record<string, unknown>
    const keys = Object.keys(members)
    sortTexts(keys)
    if (hasTexts && isMarkedPlain(members)) return writePlainMap(members as Record<string, string>, keys)
    let out = '{'
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string
      out += `${i === 0 ? '' : ','}${writeText(key)}:${item(members[key])}`
    }
    return `${out}}`
  }
}

function writePlainMap(members: Readonly<Record<string, string>>, keys: readonly string[]): string {
  let out = '{'
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    out += `${i === 0 ? '"' : ',"'}${key}":"${members[key]}"`
  }
  return `${out}}`
}

interface FieldWriter {
  readonly name: string
  readonly label: string
  /** The same behind another field. */
  readonly nextLabel: string
  readonly write: Writer
  /** What is written when the field is absent; undefined: nothing. */
  readonly absent: string | undefined
  readonly omits: (value: unknown) => boolean
  /** What is written instead of a value that is omitted: a list without items that is always written looks like one that is absent. */
  readonly empty: string | undefined
  /** Null is a value of it. */
  readonly isNullable: boolean
}

const textOfNothing = ({ absent, isNullable }: FieldWriter, member: undefined | null): string | undefined =>
  isNullable && member === null ? 'null' : absent

const never = (): boolean => false

/** Whether what is stored of a field leaves a value out, as if it were absent. */
export const omitsStored = (field: Field): ((value: unknown) => boolean) => omits(field, false)

function omits(field: Field, showsEmptyLists: boolean): (value: unknown) => boolean {
  const node = resolve(field.node)
  if (isLoose(node) || field.pointer || (field.always && (showsEmptyLists || node.type !== 'list'))) return never
  switch (node.type) {
    case 'string':
    case 'bytes':
      return (value) => value === ''
    case 'boolean':
      return (value) => value === false
    case 'integer':
    case 'number':
      return (value) => value === 0
    case 'list':
      return (value) => (value as unknown[]).length === 0
    case 'map':
      return isEmptyMap
    default:
      return never
  }
}

function isEmptyMap(value: unknown): boolean {
  for (const _ in value as object) return false
  return true
}

/**
 * A plain struct is always there, and so is whatever the reference has a struct for: times, quantities, embedded objects. Other absent
 * fields are written only where the kind says always.
 */
export function absentText(field: Field): string | undefined {
  if (field.pointer) return field.always ? 'null' : undefined
  const node = resolve(field.node)
  switch (node.type) {
    case 'struct':
      return writeValue(node, {})
    case 'quantity':
      return '"0"'
    case 'duration':
      return '"0s"'
    case 'intOrString':
      return '0'
    case 'time':
      return 'null'
    case 'any':
      if (node.form === 'raw') return 'null'
  }
  if (!field.always) return undefined
  switch (node.type) {
    case 'string':
      return '""'
    case 'boolean':
      return 'false'
    case 'integer':
    case 'number':
      return '0'
    default:
      return 'null'
  }
}

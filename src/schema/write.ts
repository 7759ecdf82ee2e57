// The reading that turns a value into its one canonical JSON text: fields in the schema's order, map keys sorted,
// zero values left out where the kind says so, and the characters escaped that the reference escapes.

import { type AnyNode, type Field, type LazyNode, resolve, type SchemaNode, type StructNode } from './node.js'

type Writer = (value: unknown) => string

const compiled = new WeakMap<SchemaNode, Writer>()

/** The JSON of a value. */
export const writeValue = (node: SchemaNode, value: unknown): string => writerOf(node)(value)

/** The JSON of a struct's fields without braces and without `kind` and `apiVersion`. */
export function writeFields(node: StructNode, value: unknown): string {
  let writer = fieldWriters.get(node)
  if (writer === undefined) {
    writer = compileFields(node)
    fieldWriters.set(node, writer)
  }
  return writer(value)
}

const fieldWriters = new WeakMap<StructNode, Writer>()

function writerOf(node: SchemaNode): Writer {
  const known = compiled.get(node)
  if (known !== undefined) return known
  let writer: Writer = (value) => writer(value)
  compiled.set(node, (value) => writer(value))
  writer = compile(node)
  compiled.set(node, writer)
  return writer
}

function compile(node: SchemaNode): Writer {
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
      return node.schema === undefined ? writeAny : compileUnion(node.form, node.schema)
    case 'list':
      return compileList(writerOf(node.item))
    case 'map':
      return compileMap(writerOf(node.value))
    case 'struct':
      return compileStruct(node)
    case 'lazy':
      return (value) => writerOf(resolve(node))(value)
  }
}

const special = /["\\<>&\u0000-\u001f\u2028\u2029\ud800-\udfff]/
const escaped: { readonly [character: string]: string } = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
  '\\b': '\\u0008',
  '\\f': '\\u000c',
}

/** Beyond this length the platform's own writer is quicker than a look at each character. */
const longText = 128

const needsEscape = (written: string): boolean =>
  written.includes('<') || written.includes('>') || written.includes('&') || written.includes('\u2028') || written.includes('\u2029')

/** A text in quotes. Angle brackets and ampersands are escaped, so that the JSON is safe inside HTML. */
export function writeText(text: string): string {
  if (text.length > longText) {
    const written = JSON.stringify(text)
    if (written.length === text.length + 2 && !needsEscape(written)) return written
  } else if (!special.test(text)) return `"${text}"`
  return JSON.stringify(text.isWellFormed === undefined || text.isWellFormed() ? text : text.toWellFormed()).replace(
    /\\\\|[<>&\u2028\u2029]|\\[bf]/g,
    (found) => escaped[found] ?? found,
  )
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

/** A JSON schema, or what may stand in its place. */
function compileUnion(form: AnyNode['form'], schema: LazyNode): Writer {
  const one: Writer = (value) => writerOf(schema)(value)
  const many = compileList(form === 'schemaOrArray' ? one : writeAny)
  return (value) => (Array.isArray(value) ? many(value) : isPlainObject(value) ? one(value) : writeAny(value))
}

const isPlainObject = (value: unknown): boolean => typeof value === 'object' && value !== null

function compileList(item: Writer): Writer {
  return (value) => {
    const items = value as readonly unknown[]
    let out = '['
    for (let i = 0; i < items.length; i++) out += i === 0 ? item(items[i]) : `,${item(items[i])}`
    return `${out}]`
  }
}

function compileMap(item: Writer): Writer {
  return (value) => {
    const members = value as Record<string, unknown>
    const keys = Object.keys(members)
    if (keys.length > 1) keys.sort()
    let out = '{'
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string
      out += `${i === 0 ? '' : ','}${writeText(key)}:${item(members[key])}`
    }
    return `${out}}`
  }
}

function compileStruct(node: StructNode): Writer {
  const fields = compileFields(node)
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

interface FieldWriter {
  readonly name: string
  readonly label: string
  readonly write: Writer
  /** What is written when the field is absent; undefined: nothing. */
  readonly absent: string | undefined
  readonly omits: (value: unknown) => boolean
  /** What is written instead of a value that is omitted: a list without items that is always written looks like one that is absent. */
  readonly empty: string | undefined
}

function compileFields(node: StructNode): Writer {
  const fields: FieldWriter[] = Object.entries(node.fields).map(([name, field]) => ({
    name,
    label: `${writeText(name)}:`,
    write: writerOf(field.node),
    absent: absentText(field),
    omits: omits(field),
    empty: field.pointer ? undefined : absentText(field),
  }))
  return (value) => {
    const members = value as Record<string, unknown>
    let out = ''
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i] as FieldWriter
      const member = members[field.name]
      const text = member === undefined || member === null ? field.absent : field.omits(member) ? field.empty : field.write(member)
      if (text !== undefined) out += out === '' ? field.label + text : `,${field.label}${text}`
    }
    return out
  }
}

const never = (): boolean => false

function omits(field: Field): (value: unknown) => boolean {
  const node = resolve(field.node)
  if (field.pointer || (field.always && node.type !== 'list')) return never
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
      return writerOf(node)({})
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

// Encodes values as canonical JSON by schema: fields in schema order, sorted map keys, omitted zero values, kube-apiserver's escapes.

import { overOwn } from '../../base/own-property.js'
import { sortTexts } from '../../base/text-order.js'
import { type AnyNode, type Field, isLoose, isNullable, type LazyNode, resolve, type SchemaNode, type StructNode } from '../node.js'
import { isEscapeFreeText, isMarkedEscapeFree, isStringMap } from './escape-free-maps.js'
import { cachedStructTexts, hasCachedText } from './struct-text-cache.js'

type Writer = (value: unknown) => string

/** Compiled encoders. Empty lists of fields without `omitempty` are null in stored JSON, as in kube-apiserver, and `[]` in other JSON. */
class Writers {
  readonly #showsEmptyLists: boolean
  readonly #values = new WeakMap<SchemaNode, Writer>()
  readonly #fields = new WeakMap<StructNode, Writer>()

  constructor({ showsEmptyLists }: { readonly showsEmptyLists: boolean }) {
    this.#showsEmptyLists = showsEmptyLists
  }

  value(node: SchemaNode): Writer {
    const cached = this.#values.get(node)
    if (cached !== undefined) return cached
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
        return compileMap(this.value(node.value), isStringMap(node))
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
    return (value) => (isObjectOrArray(value) && !Array.isArray(value) ? write(value) : writeAny(value))
  }

  #compileUnion(form: AnyNode['form'], schema: LazyNode): Writer {
    const writeSchema: Writer = (value) => this.value(schema)(value)
    const writeList = compileList(form === 'schemaOrArray' ? writeSchema : writeAny)
    return (value) => (Array.isArray(value) ? writeList(value) : isObjectOrArray(value) ? writeSchema(value) : writeAny(value))
  }

  #compileStruct(node: StructNode): Writer {
    const fields = this.fields(node)
    if (hasCachedText(node) && !this.#showsEmptyLists) return cachingText((value) => `{${fields(value)}}`)
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
    return overOwn(Object.keys(node.fields), (value) => {
      const members = value as Record<string, unknown>
      let out = ''
      for (let i = 0; i < fields.length; i++) {
        const field = fields[i] as FieldWriter
        const member = members[field.name]
        const text =
          member === undefined || member === null ? textOfAbsent(field, member) : field.omits(member) ? field.empty : field.write(member)
        if (text !== undefined) out += out === '' ? field.label + text : field.nextLabel + text
      }
      return out
    })
  }
}

const cachingText =
  (write: Writer): Writer =>
  (value) => {
    const cached = cachedStructTexts.get(value as object)
    if (cached === undefined) return write(value)
    cached.text ??= write(value)
    return cached.text
  }

/** Encoder of structs with `rest`: metadata first, because the store looks for the first `uid`, then sorted members. */
function openWriter(fields: readonly FieldWriter[], writeRest: Writer, hasTypeMeta: boolean): Writer {
  const fieldsByName = new Map(fields.map((field) => [field.name, field]))
  return (value) => {
    const members = value as Record<string, unknown>
    const names = new Set(fieldsByName.keys())
    for (const name of Object.keys(members)) if (!hasTypeMeta || (name !== 'kind' && name !== 'apiVersion')) names.add(name)
    const hasMetadata = names.delete('metadata')
    let out = ''
    for (const name of [...(hasMetadata ? ['metadata'] : []), ...sortTexts([...names])]) {
      const field = fieldsByName.get(name)
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

/** Encoder of custom resources, whose fields may have the wrong type. */
function looseWriter(fields: readonly FieldWriter[], writeRest: Writer): Writer {
  const fieldsByName = new Map(fields.map(({ name, write }) => [name, write]))
  return (value) => {
    const members = value as Record<string, unknown>
    let out = ''
    for (const name of sortTexts(Object.keys(members))) {
      const member = members[name]
      if (member !== undefined) out += `${out === '' ? '' : ','}${writeText(name)}:${(fieldsByName.get(name) ?? writeRest)(member)}`
    }
    return out
  }
}

const responseWriters = new Writers({ showsEmptyLists: true })
const storedWriters = new Writers({ showsEmptyLists: false })

export const writeValue = (node: SchemaNode, value: unknown): string => responseWriters.value(node)(value)

export const writeStored = (node: SchemaNode, value: unknown): string => storedWriters.value(node)(value)

/** Encodes the members without braces, `kind` and `apiVersion`. */
export const writeStoredFields = (node: StructNode, value: unknown): string => storedWriters.fields(node)(value)

const goEscapes: { readonly [character: string]: string } = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
  '\\b': '\\u0008',
  '\\f': '\\u000c',
}

/** True if the JSON contains characters or escapes that Go writes differently, such as `<` and `\b`. */
const needsHtmlEscape = (json: string): boolean =>
  json.includes('<') ||
  json.includes('>') ||
  json.includes('&') ||
  json.includes('\u2028') ||
  json.includes('\u2029') ||
  json.includes('\\b') ||
  json.includes('\\f')

/** Encodes a string with the escapes of Go's encoding/json, such as `\u003c` for `<`. */
export function writeText(text: string): string {
  if (isEscapeFreeText(text)) return `"${text}"`
  const json = JSON.stringify(text.isWellFormed === undefined || text.isWellFormed() ? text : text.toWellFormed())
  return needsHtmlEscape(json) ? json.replace(/\\\\|[<>&\u2028\u2029]|\\[bf]/g, (found) => goEscapes[found] ?? found) : json
}

let bigNumbers = 0

/** Counter of encoded bigints. If a write does not change it, JSON.parse reads the text exactly. */
export const countBigNumbers = (): number => bigNumbers

function writeInteger(value: unknown): string {
  if (typeof value === 'bigint') bigNumbers += 1
  return String(value)
}

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

/** JSON without HTML escapes. JSON.stringify throws for bigints: values with bigints are written by {@link writeAny}, with HTML escapes. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return writeAny(value)
  }
}

const isObjectOrArray = (value: unknown): boolean => typeof value === 'object' && value !== null

/** Accepts null, which lists in lists and maps may be. */
function compileList(item: Writer): Writer {
  return (value) => {
    if (value === null) return 'null'
    const items = value as readonly unknown[]
    let out = '['
    for (let i = 0; i < items.length; i++) out += i === 0 ? item(items[i]) : `,${item(items[i])}`
    return `${out}]`
  }
}

function compileMap(item: Writer, isOfStrings = false): Writer {
  return (value) => {
    if (value === null) return 'null'
    const members = value as Record<string, unknown>
    const keys = Object.keys(members)
    sortTexts(keys)
    if (isOfStrings && isMarkedEscapeFree(members)) return writeEscapeFreeMap(members as Record<string, string>, keys)
    let out = '{'
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string
      out += `${i === 0 ? '' : ','}${writeText(key)}:${item(members[key])}`
    }
    return `${out}}`
  }
}

function writeEscapeFreeMap(members: Readonly<Record<string, string>>, keys: readonly string[]): string {
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
  readonly nextLabel: string
  readonly write: Writer
  readonly absent: string | undefined
  readonly omits: (value: unknown) => boolean
  /** JSON of an empty value that `omits` is true for; undefined if nothing is written. */
  readonly empty: string | undefined
  readonly isNullable: boolean
}

const textOfAbsent = ({ absent, isNullable }: FieldWriter, member: undefined | null): string | undefined =>
  isNullable && member === null ? 'null' : absent

const never = (): boolean => false

/** Returns a predicate that is true for values that stored JSON omits. */
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

/** JSON of an absent field; undefined if it is omitted. Go always encodes structs, times, quantities and RawExtension. */
export function absentText(field: Field): string | undefined {
  if (field.pointer) return field.always ? 'null' : undefined
  const node = resolve(field.node)
  if (node.type === 'struct') return writeValue(node, {})
  if (node.type === 'any' && node.form === 'raw') return 'null'
  return writtenWhenAbsent[node.type] ?? (field.always ? (zeroTexts[node.type] ?? 'null') : undefined)
}

type TextByType = { readonly [type in SchemaNode['type']]?: string }
const writtenWhenAbsent: TextByType = { quantity: '"0"', duration: '"0s"', intOrString: '0', time: 'null' }
const zeroTexts: TextByType = { string: '""', boolean: 'false', integer: '0', number: '0' }

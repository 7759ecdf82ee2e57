// The reading that turns parsed JSON into a normalised value: types are checked, unknown members are dropped and reported,
// times and bytes take their one form, and what the kind would not write (nulls, zero values) is left out.

import { shorten } from '../base/shorten.js'
import { type AnyNode, type Field, isLoose, isNullable, type LazyNode, resolve, type SchemaNode, type StructNode } from './node.js'
import { type PathElement, printPath } from './path.js'
import { isOfTexts, markPlain } from './plain-maps.js'
import { parseQuantity, printQuantity, QuantityError } from './quantity.js'
import { base64Fault, readBytes, readDuration, readTime } from './scalars.js'
import { markSentEmpty } from './sent-empty.js'

/** What a reader tells besides the value. */
export interface ReadReport {
  /** Paths of members that the schema does not know, in the order of the document; the reference, too, tells of a hundred. */
  readonly unknown: (readonly PathElement[])[]
}

const maxUnknown = 100

/** A value does not fit its schema. */
export class SchemaReadError extends Error {
  override readonly name = 'SchemaReadError'
  readonly path: string
  /** Whether the message is about the text of a value, and not about its type. */
  readonly isSyntax: boolean
  /** Of a value of another type: which one was expected, and which one was found. */
  readonly mismatch: TypeMismatch | undefined
  constructor(path: string, problem: string, { isSyntax = false, mismatch }: { isSyntax?: boolean; mismatch?: TypeMismatch } = {}) {
    super(path === '' || isSyntax ? problem : `${path}: ${problem}`)
    this.path = path
    this.isSyntax = isSyntax
    this.mismatch = mismatch
  }
}

export interface TypeMismatch {
  /** A type of the schema language, or the name of a struct. */
  readonly expected: string
  /** A type of JSON. */
  readonly found: string
}

export class ReadState implements ReadReport {
  readonly unknown: (readonly PathElement[])[] = []
  readonly path: PathElement[] = []
  /** Whether no text in the value needs an escape in JSON. */
  readonly isPlain: boolean
  constructor(isPlain = false) {
    this.isPlain = isPlain
  }
  /** Back to where the members of a value began: at most the last of them is left. To set the length of a list takes the platform ten times as long. */
  leave(depth: number): void {
    if (this.path.length > depth) this.path.pop()
  }
  meetUnknown(): void {
    if (this.unknown.length < maxUnknown) this.unknown.push([...this.path])
  }
  fail(expected: string, value: unknown): never {
    const found = describe(value)
    throw new SchemaReadError(printPath(this.path), `cannot read ${found} as ${expected}`, { mismatch: { expected, found } })
  }
  /** What the decoder of a text says of it, without the place. */
  syntax(text: string): never {
    throw new SchemaReadError(printPath(this.path), text, { isSyntax: true })
  }
  problem(text: string): never {
    throw new SchemaReadError(printPath(this.path), text)
  }
}

type Reader = (value: unknown, state: ReadState) => unknown

const compiled = new WeakMap<SchemaNode, Reader>()

/** Reads a value by a schema. Throws {@link SchemaReadError} where a type is wrong. `isPlain`: no text in it needs an escape in JSON. */
export function readValue(node: SchemaNode, value: unknown, isPlain = false): { readonly value: unknown; readonly report: ReadReport } {
  const state = new ReadState(isPlain)
  return { value: readerOf(node)(value, state), report: state }
}

/** Reads a part of a value, at the path that the state has come to. */
export const readPart = (node: SchemaNode, value: unknown, state: ReadState): unknown => readerOf(node)(value, state)

function readerOf(node: SchemaNode): Reader {
  const known = compiled.get(node)
  if (known !== undefined) return known
  // Registered before recursing, so that a schema may contain itself.
  let reader: Reader = (value, state) => reader(value, state)
  compiled.set(node, (value, state) => reader(value, state))
  reader = compile(node)
  compiled.set(node, reader)
  return reader
}

function compile(node: SchemaNode): Reader {
  if (isLoose(node)) return compileLoose(node)
  switch (node.type) {
    case 'string':
      return (value, state) => (typeof value === 'string' ? value : state.fail('string', value))
    case 'boolean':
      return (value, state) => (typeof value === 'boolean' ? value : state.fail('boolean', value))
    case 'integer':
      return node.bits === 32 ? readInt32 : readInt64
    case 'number':
      return (value, state) => (typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : state.fail('number', value))
    case 'bytes':
      return (value, state) =>
        typeof value === 'string'
          ? (readBytes(value) ?? state.syntax(`illegal base64 data at input byte ${base64Fault(value)}`))
          : state.fail('base64 text', value)
    case 'time':
      return (value, state) => readTimeOf(value, node.micro, state)
    case 'duration':
      return (value, state) =>
        typeof value === 'string'
          ? (readDuration(value) ?? state.problem(`invalid duration ${JSON.stringify(shorten(value))}`))
          : state.fail('duration', value)
    case 'quantity':
      return readQuantity
    case 'intOrString':
      return (value, state) => (typeof value === 'string' ? value : readInt32(value, state))
    case 'any':
      return node.schema === undefined ? (value) => value : compileUnion(node.form, node.schema)
    case 'list':
      return compileList(readerOf(node.item), zeroOf(node.item))
    case 'map':
      return compileMap(readerOf(node.value), zeroOf(node.value), isOfTexts(node))
    case 'struct':
      return compileStruct(node)
    case 'lazy':
      return (value, state) => readerOf(resolve(node))(value, state)
  }
}

/** Members that are not known are dropped and reported; everything else stays as it is. */
function compileLoose(node: SchemaNode): Reader {
  if (node.type === 'list') {
    const read = compileList(readerOf(node.item), null)
    return (value, state) => (Array.isArray(value) ? read(value, state) : withoutMembers(value, state))
  }
  if (node.type !== 'map' && node.type !== 'struct') return withoutMembers
  const read = node.type === 'map' ? compileMap(readerOf(node.value), isNullable(node.value) ? null : undefined) : compileStruct(node)
  return (value, state) => (isRecord(value) ? read(value, state) : withoutMembers(value, state))
}

/** A value that the schema does not describe as an object: members of objects in it are not known. */
function withoutMembers(value: unknown, state: ReadState): unknown {
  if (Array.isArray(value)) {
    const depth = state.path.length
    const items = value.map((item, i) => {
      state.path[depth] = i
      return withoutMembers(item, state)
    })
    state.leave(depth)
    return items
  }
  if (!isRecord(value)) return value
  const depth = state.path.length
  for (const name of Object.keys(value)) {
    state.path[depth] = name
    state.meetUnknown()
  }
  state.leave(depth)
  return {}
}

function readInt32(value: unknown, state: ReadState): number {
  if (typeof value !== 'number' || !Number.isInteger(value)) return state.fail('int32', value)
  if (value > 2147483647 || value < -2147483648) return state.problem(`the number ${value} does not fit into int32`)
  return value
}

function readInt64(value: unknown, state: ReadState): number | bigint {
  if (typeof value === 'bigint')
    return BigInt.asIntN(64, value) === value ? value : state.problem(`the number ${value} does not fit into int64`)
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : state.fail('int64', value)
}

const timeForm = '2006-01-02T15:04:05Z'
const microForm = '2006-01-02T15:04:05.000000Z'

function readTimeOf(value: unknown, micro: boolean, state: ReadState): string {
  if (typeof value !== 'string') return state.fail('time', value)
  return (
    readTime(value, micro) ?? state.problem(`the time ${JSON.stringify(shorten(value))} is not of the form ${micro ? microForm : timeForm}`)
  )
}

/** Numbers are quantities too, and all of them take their one spelling. */
function readQuantity(value: unknown, state: ReadState): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') return state.fail('quantity', value)
  try {
    return printQuantity(parseQuantity(String(value).trim()))
  } catch (thrown) {
    if (thrown instanceof QuantityError) return state.syntax(thrown.message)
    throw thrown
  }
}

/** A JSON schema, or what may stand in its place. The reference does not look for unknown members in there, it only drops them. */
function compileUnion(form: AnyNode['form'], schema: LazyNode): Reader {
  const one: Reader = (value, state) => readerOf(schema)(value, state)
  const many = compileList(form === 'schemaOrArray' ? one : readerOf({ type: 'string' }), form === 'schemaOrArray' ? {} : '')
  return (value, state) => {
    if (form === 'schemaOrBool' && typeof value === 'boolean') return value
    const known = state.unknown.length
    const read = form !== 'schemaOrBool' && Array.isArray(value) ? many(value, state) : one(value, state)
    state.unknown.length = known
    return read
  }
}

function compileList(item: Reader, zero: unknown): Reader {
  return (value, state) => {
    if (!Array.isArray(value)) return state.fail('list', value)
    const depth = state.path.length
    const out = new Array<unknown>(value.length)
    for (let i = 0; i < value.length; i++) {
      const member: unknown = value[i]
      state.path[depth] = i
      out[i] = member === null ? zero : item(member, state)
    }
    state.leave(depth)
    return out
  }
}

/**
 * A map whose members are read as they stand is the result itself: one that the platform parsed has its members in fixed places, while a copy that is
 * made member by member becomes a table of hashes, and whoever walks it takes three times as long.
 */
function compileMap(item: Reader, zero: unknown, hasTexts = false): Reader {
  return (value, state) => {
    if (!isRecord(value)) return state.fail('map', value)
    const depth = state.path.length
    let changes: Map<string, unknown> | undefined
    for (const key of Object.keys(value)) {
      const member = value[key]
      state.path[depth] = key
      const read = member === null ? zero : item(member, state)
      if (read === member) continue
      changes ??= new Map()
      changes.set(key, read)
    }
    state.leave(depth)
    const out = changes === undefined ? value : withMembersRead(value, changes)
    if (hasTexts && state.isPlain) markPlain(out)
    return out
  }
}

/** A map with the members that were read in place of those that were sent; one that was read as undefined is left out. */
function withMembersRead(value: Record<string, unknown>, changes: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const member = changes.has(key) ? changes.get(key) : value[key]
    if (member !== undefined) setMember(out, key, member)
  }
  return out
}

interface FieldReader {
  readonly read: Reader
  readonly keeps: (value: unknown) => boolean
  readonly keepsNull: boolean
}

function compileStruct(node: StructNode): Reader {
  const fields = new Map<string, FieldReader>()
  if (node.typeMeta) {
    const text: FieldReader = { read: readerOf({ type: 'string' }), keeps: (value) => value !== '', keepsNull: false }
    fields.set('kind', text).set('apiVersion', text)
  }
  for (const [name, field] of Object.entries(node.fields))
    fields.set(name, { read: readerOf(field.node), keeps: keeps(field), keepsNull: isNullable(resolve(field.node)) })
  const rest = node.rest === undefined ? undefined : { read: readerOf(node.rest), zero: zeroOf(node.rest) }
  return (value, state) => {
    if (!isRecord(value)) return state.fail(node.name, value)
    const depth = state.path.length
    const out: Record<string, unknown> = {}
    for (const key of Object.keys(value)) {
      state.path[depth] = key
      const field = fields.get(key)
      const member = value[key]
      if (field === undefined) {
        if (rest === undefined) state.meetUnknown()
        else setMember(out, key, member === null ? rest.zero : rest.read(member, state))
      } else if (member !== null) {
        const read = field.read(member, state)
        if (field.keeps(read)) setMember(out, key, read)
        else if (typeof read === 'object') markSentEmpty(out, key)
      } else if (field.keepsNull) {
        setMember(out, key, null)
      }
    }
    state.leave(depth)
    return out
  }
}

const always = (): boolean => true

function hasMembers(value: unknown): boolean {
  for (const _ in value as object) return true
  return false
}

/** The first moment of the year 1 stands for no time at all. */
const noTime = '0001-01-01T00:00:00'

/** Whether a value that was sent is kept: zero values of plain fields are the same as nothing. */
export function keeps(field: Field): (value: unknown) => boolean {
  const node = resolve(field.node)
  if (isLoose(node)) return always
  // One that is always written is kept even when empty: whoever sent it owns it, though it is written like one that nobody sent.
  if (node.type === 'list') return field.always === true ? always : (value) => (value as unknown[]).length > 0
  if (node.type === 'map') return hasMembers
  if (node.type === 'time') return (value) => !(value as string).startsWith(noTime)
  if (field.pointer) return always
  if (node.type === 'string' || node.type === 'bytes') return (value) => value !== ''
  if (node.type === 'boolean') return (value) => value !== false
  if (node.type === 'integer' || node.type === 'number') return (value) => value !== 0
  return always
}

/** What a null stands for inside a list or map. */
export function zeroOf(node: SchemaNode): unknown {
  const target = resolve(node)
  if (isLoose(target)) return null
  switch (target.type) {
    case 'string':
    case 'duration':
    case 'bytes':
      return ''
    case 'boolean':
      return false
    case 'integer':
    case 'number':
    case 'intOrString':
      return 0
    case 'quantity':
      return '0'
    case 'struct':
      return {}
    default:
      return null
  }
}

/** Sets a member whatever its name is: `__proto__` is a key like any other. */
export function setMember(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  else target[key] = value
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'bigint' ? 'number' : typeof value
}

// JSON patch (RFC 6902): operations one after the other, all or none. Containers are copied when first written to, so that neither
// the document nor the patch is changed, and ten thousand operations on a great map do not copy it ten thousand times.

import { shorten } from '../base/shorten.js'
import { maxJsonDepth } from '../schema/json-parse.js'
import { writeText } from '../schema/write.js'
import { positionOf, readPointer } from './json-pointer.js'
import { LongList, longLength } from './long-list.js'
import { PatchError } from './patch-error.js'
import { cloneJson, isEqual, isRecord, own, setOwn } from './plain.js'

export type Json = string | number | bigint | boolean | null | readonly Json[] | { readonly [key: string]: Json }

const maxOperations = 10_000
// What all copies of one patch may add.
const maxCopiedLength = 3 * 1024 * 1024
// A million empty lists are within that length, and take a second to copy: so what a copy costs is bounded, too. A plain item of a list
// costs the least; containers and members are made one by one.
const maxCopyCost = 160_000
const makingCost = 8

type Container = unknown[] | LongList | { [name: string]: unknown }

/** Throws a PatchError; its kind says whether the patch is none or could not be carried out. */
export function jsonPatch(document: Json, patch: unknown): Json {
  const operations = readOperations(patch)
  const state: State = { root: document, owned: new Set(), copied: 0, copyCost: 0, hasLong: false }
  for (const operation of operations) perform(state, operation)
  requireDepth(state.root)
  return plain(state, state.root) as Json
}

interface State {
  root: unknown
  /** The containers that were made here, and so may be changed. */
  readonly owned: Set<unknown>
  /** The length of all copies as JSON. */
  copied: number
  copyCost: number
  /** Whether a list was taken into chunks. */
  hasLong: boolean
}

interface Operation {
  readonly op: unknown
  readonly path: readonly string[]
  readonly source: { readonly [name: string]: unknown }
}

function readOperations(patch: unknown): readonly Operation[] {
  if (!Array.isArray(patch)) throw new PatchError('malformed', 'error decoding patch: a JSON patch must be a list of operations')
  requireFewOperations(patch.length)
  return patch.map((source: unknown) => {
    if (!isRecord(source)) throw new PatchError('malformed', 'error decoding patch: an operation must be an object')
    return { op: own(source, 'op'), path: pointerIn(source, 'path'), source }
  })
}

/** Throws a PatchError. For whoever can count the operations of a patch before it is parsed. */
export function requireFewOperations(count: number): void {
  if (count > maxOperations)
    throw new PatchError('too-many-operations', `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${count}`)
}

function pointerIn(source: { readonly [name: string]: unknown }, name: string): readonly string[] {
  const text = own(source, name)
  const pointer = typeof text === 'string' ? readPointer(text) : undefined
  if (pointer === undefined) throw new PatchError('bad-operation', `an operation has no valid "${name}"`)
  return pointer
}

/** What an operation does. */
type Perform = (state: State, operation: Operation) => void

const performers: ReadonlyMap<unknown, Perform> = new Map<unknown, Perform>([
  ['add', (state, { path, source }) => add(state, path, valueIn(source))],
  ['remove', (state, { path }) => remove(state, path)],
  ['replace', (state, { path, source }) => replace(state, path, valueIn(source))],
  ['move', (state, { path, source }) => move(state, pointerIn(source, 'from'), path)],
  ['copy', (state, { path, source }) => copy(state, pointerIn(source, 'from'), path)],
  ['test', (state, { path, source }) => test(state, path, own(source, 'value'))],
])

function perform(state: State, operation: Operation): void {
  const performer = performers.get(operation.op)
  if (performer === undefined)
    throw new PatchError('bad-operation', `Unexpected kind: ${typeof operation.op === 'string' ? shorten(operation.op) : 'unknown'}`)
  performer(state, operation)
}

/** A member that is not there is null, as the reference has it. */
function test(state: State, path: readonly string[], value: unknown): void {
  const found = findMember(state, path, 'test') ?? null
  if (typeof value === 'object') requireDepth(found)
  if (!isEqual(plain(state, found), value)) throw new PatchError('test-failed', `testing value ${print(path)} failed: test failed`)
}

/** An operation that says no value sets null. */
const valueIn = (source: { readonly [name: string]: unknown }): unknown => own(source, 'value') ?? null

/** The whole document can be replaced, and nothing can be added in its place. */
function add(state: State, path: readonly string[], value: unknown): void {
  const last = path.at(-1)
  if (last === undefined) throw missing('add', path)
  const parent = containerAt(state, path, 'add')
  if (!isList(parent)) {
    setOwn(parent, last, value)
    return
  }
  const position = last === '-' ? parent.length : positionOf(last, parent.length + 1)
  if (position === undefined) throw missing('add', path)
  if (parent instanceof LongList) parent.insert(position, value)
  else parent.splice(position, 0, value)
}

const isList = (value: unknown): value is unknown[] | LongList => Array.isArray(value) || value instanceof LongList

/** The value with its lists as they shall be; what has none in chunks is the same value. */
function plain(state: State, value: unknown): unknown {
  if (!state.hasLong || typeof value !== 'object' || value === null) return value
  if (value instanceof LongList) return plainItems(state, value.items())
  if (Array.isArray(value)) return plainItems(state, value)
  let out: { [name: string]: unknown } | undefined
  for (const name in value) {
    const member = (value as { readonly [name: string]: unknown })[name]
    const made = plain(state, member)
    if (made === member) continue
    out ??= { ...value }
    setOwn(out, name, made)
  }
  return out ?? value
}

function plainItems(state: State, items: unknown[]): unknown[] {
  let out: unknown[] | undefined
  for (let i = 0; i < items.length; i++) {
    const made = plain(state, items[i])
    if (made === items[i]) continue
    out ??= [...items]
    out[i] = made
  }
  return out ?? items
}

/** Throws for a value that nests deeper than a document can: each `move` can put all that is there one level deeper. */
function requireDepth(value: unknown): void {
  if (isDeeper(value, maxJsonDepth)) throw tooDeep()
}

const tooDeep = (): PatchError => new PatchError('unprocessable', 'the patched object exceeds max depth')

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depth === 0) return true
  if (isList(value)) return (value instanceof LongList ? value.items() : value).some((item) => isDeeper(item, depth - 1))
  for (const name in value) if (isDeeper((value as { readonly [name: string]: unknown })[name], depth - 1)) return true
  return false
}

/** Replacing what is not there adds it, as the reference does it; in a list the position must exist. */
function replace(state: State, path: readonly string[], value: unknown): void {
  const last = path.at(-1)
  if (last === undefined) {
    state.root = value
    return
  }
  const parent = containerAt(state, path, 'replace')
  if (!isList(parent)) {
    setOwn(parent, last, value)
    return
  }
  const position = positionOf(last, parent.length)
  if (position === undefined) throw missing('replace', path)
  setItem(parent, position, value)
}

function remove(state: State, path: readonly string[]): void {
  const last = path.at(-1)
  if (last === undefined) throw missing('remove', path)
  if (findMember(state, path, 'remove') === undefined) {
    const why = `Unable to remove nonexistent key: ${shorten(last)}: missing value`
    throw new PatchError('missing-path', `error in remove for path: '${print(path)}': ${why}`)
  }
  const parent = containerAt(state, path, 'remove')
  if (!isList(parent)) delete parent[last]
  else if (parent instanceof LongList) parent.remove(positionOf(last, parent.length) ?? 0)
  else parent.splice(positionOf(last, parent.length) ?? 0, 1)
}

function move(state: State, from: readonly string[], path: readonly string[]): void {
  const value = findFor(state, from, 'move')
  if (from.length === path.length && from.every((step, i) => step === path[i])) return
  if (from.length < path.length && from.every((step, i) => step === path[i]))
    throw new PatchError('bad-operation', `${print(from)} cannot move into itself`)
  remove(state, from)
  add(state, path, value)
}

function copy(state: State, from: readonly string[], path: readonly string[]): void {
  const found = findMember(state, from, 'copy') ?? null
  measureCopy(state, found, maxJsonDepth)
  if (state.copied > maxCopiedLength)
    throw new PatchError(
      'copy-too-large',
      `the copies of the patch amount to ${state.copied} bytes, exceeding the limit of ${maxCopiedLength}`,
    )
  // What was written to here could otherwise be changed in both places at once.
  add(state, path, cloneJson(plain(state, found)))
}

/** Counts what a copy will add, as it would be written. Throws as soon as it costs or nests too much. */
function measureCopy(state: State, value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) {
    spendOnCopy(state, 1)
    state.copied += typeof value === 'string' ? writeText(value).length : String(value).length
    return
  }
  spendOnCopy(state, makingCost)
  if (depth === 0) throw tooDeep()
  // The brackets, and commas between: one less than there are items.
  state.copied += 2
  let count = 0
  if (isList(value)) {
    // Before the items of a great list are brought together.
    if (state.copyCost + value.length > maxCopyCost) throw tooCostly()
    count = value.length
    for (const item of value instanceof LongList ? value.items() : value) measureCopy(state, item, depth - 1)
  } else
    for (const name in value) {
      count++
      spendOnCopy(state, makingCost)
      state.copied += writeText(name).length + 1
      measureCopy(state, (value as { readonly [name: string]: unknown })[name], depth - 1)
    }
  if (count > 1) state.copied += count - 1
}

function spendOnCopy(state: State, cost: number): void {
  state.copyCost += cost
  if (state.copyCost > maxCopyCost) throw tooCostly()
}

const tooCostly = (): PatchError => new PatchError('copy-too-large', 'the copies of the patch hold too many values')

/** The value at a path; undefined where an object lacks that member. Throws where the object itself is not there, or an item of a list. */
function findMember(state: State, path: readonly string[], op: string): unknown {
  const last = path.at(-1)
  if (last === undefined) return state.root
  const parent = findFor(state, path.slice(0, -1), op)
  const value = childOf(parent, last)
  if (value === undefined && !isRecord(parent)) throw missing(op, path)
  return value
}

/** The value at a path; throws where there is none. */
function findFor(state: State, path: readonly string[], op: string): unknown {
  let value: unknown = state.root
  for (const step of path) {
    value = childOf(value, step)
    if (value === undefined) throw missing(op, path)
  }
  return value
}

function childOf(value: unknown, step: string): unknown {
  if (isList(value)) {
    const position = positionOf(step, value.length)
    if (position === undefined) return undefined
    return value instanceof LongList ? value.get(position) : value[position]
  }
  return isRecord(value) ? own(value, step) : undefined
}

/** The container that holds the last step of a path, free to be changed. */
function containerAt(state: State, path: readonly string[], op: string): Container {
  let container = owned(state, state.root)
  if (container === undefined) throw missing(op, path)
  state.root = container
  for (let i = 0; i < path.length - 1; i++) {
    const step = path[i] as string
    const child: Container | undefined = owned(state, childOf(container, step))
    if (child === undefined) throw missing(op, path)
    if (isList(container)) setItem(container, positionOf(step, container.length) ?? 0, child)
    else setOwn(container, step, child)
    container = child
  }
  return container
}

/** The container itself if it was made here, else a copy; undefined for what is no container. */
function owned(state: State, value: unknown): Container | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (state.owned.has(value)) return value as Container
  const isLong = Array.isArray(value) && value.length > longLength
  if (isLong) state.hasLong = true
  const made: Container = isLong ? new LongList(value) : Array.isArray(value) ? [...(value as unknown[])] : { ...value }
  state.owned.add(made)
  return made
}

function setItem(list: unknown[] | LongList, position: number, value: unknown): void {
  if (list instanceof LongList) list.set(position, value)
  else list[position] = value
}

/** More steps than a message shows. */
const mostPrinted = 600

const print = (path: readonly string[]): string =>
  shorten(
    path
      .slice(0, mostPrinted)
      .map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`)
      .join(''),
  )

const missing = (op: string, path: readonly string[]): PatchError =>
  new PatchError('missing-path', `${op} operation does not apply: doc is missing path: "${print(path)}": missing value`)

// JSON patch (RFC 6902). Containers are copied on first write, so that 10,000 operations on a large map copy it once.

import { shorten } from '../../base/shorten.js'
import { maxJsonDepth } from '../../schema/json/parse-json.js'
import { writeText } from '../../schema/json/write.js'
import { cloneJson, isEqual, isRecord, own, setOwn } from '../json-value.js'
import { PatchError } from '../patch-error.js'
import { ChunkedList, minChunkedLength } from './chunked-list.js'

export type Json = string | number | bigint | boolean | null | readonly Json[] | { readonly [key: string]: Json }

const maxOperations = 10_000
const maxCopiedLength = 3 * 1024 * 1024
/** Maximum cost of all copies: 1 per scalar, 8 per container and member name. Copying a million empty lists takes a second. */
const maxCopyCost = 160_000
const containerCost = 8

type Container = unknown[] | ChunkedList | { [name: string]: unknown }

/** Throws a PatchError. */
export function jsonPatch(document: Json, patch: unknown): Json {
  const operations = readOperations(patch)
  const state: State = { root: document, owned: new Set(), copied: 0, copyCost: 0, hasChunkedLists: false }
  for (const operation of operations) perform(state, operation)
  requireDepth(state.root)
  return withArrays(state, state.root) as Json
}

interface State {
  root: unknown
  /** Containers that this patch has copied and may change. */
  readonly owned: Set<unknown>
  copied: number
  copyCost: number
  hasChunkedLists: boolean
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

/** Throws a PatchError. Callers can count the operations before they parse the patch. */
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

/** A missing member equals null, as in kube-apiserver. */
function test(state: State, path: readonly string[], value: unknown): void {
  const found = findMember(state, path, 'test') ?? null
  if (typeof value === 'object') requireDepth(found)
  if (!isEqual(withArrays(state, found), value)) throw new PatchError('test-failed', `testing value ${printPath(path)} failed: test failed`)
}

const valueIn = (source: { readonly [name: string]: unknown }): unknown => own(source, 'value') ?? null

/** Adding the whole document is an error, as in kube-apiserver; replacing it is not. */
function add(state: State, path: readonly string[], value: unknown): void {
  const last = path.at(-1)
  if (last === undefined) throw missingPathError('add', path)
  const parent = containerAt(state, path, 'add')
  if (!isList(parent)) {
    setOwn(parent, last, value)
    return
  }
  const position = last === '-' ? parent.length : positionOf(last, parent.length + 1)
  if (position === undefined) throw missingPathError('add', path)
  if (parent instanceof ChunkedList) parent.insert(position, value)
  else parent.splice(position, 0, value)
}

const isList = (value: unknown): value is unknown[] | ChunkedList => Array.isArray(value) || value instanceof ChunkedList

/** Converts chunked lists back to arrays. */
function withArrays(state: State, value: unknown): unknown {
  if (!state.hasChunkedLists || typeof value !== 'object' || value === null) return value
  if (value instanceof ChunkedList) return withArraysInItems(state, value.items())
  if (Array.isArray(value)) return withArraysInItems(state, value)
  let out: { [name: string]: unknown } | undefined
  for (const name in value) {
    const member = (value as { readonly [name: string]: unknown })[name]
    const converted = withArrays(state, member)
    if (converted === member) continue
    out ??= { ...value }
    setOwn(out, name, converted)
  }
  return out ?? value
}

function withArraysInItems(state: State, items: unknown[]): unknown[] {
  let out: unknown[] | undefined
  for (let i = 0; i < items.length; i++) {
    const converted = withArrays(state, items[i])
    if (converted === items[i]) continue
    out ??= [...items]
    out[i] = converted
  }
  return out ?? items
}

/** Operations such as `move` can nest the document deeper than the request. */
function requireDepth(value: unknown): void {
  if (isDeeper(value, maxJsonDepth)) throw tooDeep()
}

const tooDeep = (): PatchError => new PatchError('unprocessable', 'the patched object exceeds max depth')

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depth === 0) return true
  if (isList(value)) return (value instanceof ChunkedList ? value.items() : value).some((item) => isDeeper(item, depth - 1))
  for (const name in value) if (isDeeper((value as { readonly [name: string]: unknown })[name], depth - 1)) return true
  return false
}

/** Adds a missing member, as in kube-apiserver; a list index must exist. */
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
  if (position === undefined) throw missingPathError('replace', path)
  setItem(parent, position, value)
}

function remove(state: State, path: readonly string[]): void {
  const last = path.at(-1)
  if (last === undefined) throw missingPathError('remove', path)
  if (findMember(state, path, 'remove') === undefined) {
    const reason = `Unable to remove nonexistent key: ${shorten(last)}: missing value`
    throw new PatchError('missing-path', `error in remove for path: '${printPath(path)}': ${reason}`)
  }
  const parent = containerAt(state, path, 'remove')
  if (!isList(parent)) delete parent[last]
  else if (parent instanceof ChunkedList) parent.remove(positionOf(last, parent.length) ?? 0)
  else parent.splice(positionOf(last, parent.length) ?? 0, 1)
}

function move(state: State, from: readonly string[], path: readonly string[]): void {
  const value = findValue(state, from, 'move')
  if (from.length === path.length && from.every((segment, i) => segment === path[i])) return
  if (from.length < path.length && from.every((segment, i) => segment === path[i]))
    throw new PatchError('bad-operation', `${printPath(from)} cannot move into itself`)
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
  // Without a copy, later operations would change both values.
  add(state, path, cloneJson(withArrays(state, found)))
}

/** Throws as soon as the copy is too costly or too deep. */
function measureCopy(state: State, value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) {
    spendOnCopy(state, 1)
    state.copied += typeof value === 'string' ? writeText(value).length : String(value).length
    return
  }
  spendOnCopy(state, containerCost)
  if (depth === 0) throw tooDeep()
  state.copied += 2
  let count = 0
  if (isList(value)) {
    // Checked before items() joins the chunks of a large list.
    if (state.copyCost + value.length > maxCopyCost) throw tooCostly()
    count = value.length
    for (const item of value instanceof ChunkedList ? value.items() : value) measureCopy(state, item, depth - 1)
  } else
    for (const name in value) {
      count++
      spendOnCopy(state, containerCost)
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

/** Returns undefined for a missing member. Throws if the parent or a list item is missing. */
function findMember(state: State, path: readonly string[], op: string): unknown {
  const last = path.at(-1)
  if (last === undefined) return state.root
  const parent = findValue(state, path.slice(0, -1), op)
  const value = childOf(parent, last)
  if (value === undefined && !isRecord(parent)) throw missingPathError(op, path)
  return value
}

function findValue(state: State, path: readonly string[], op: string): unknown {
  let value: unknown = state.root
  for (const segment of path) {
    value = childOf(value, segment)
    if (value === undefined) throw missingPathError(op, path)
  }
  return value
}

function childOf(value: unknown, segment: string): unknown {
  if (isList(value)) {
    const position = positionOf(segment, value.length)
    if (position === undefined) return undefined
    return value instanceof ChunkedList ? value.get(position) : value[position]
  }
  return isRecord(value) ? own(value, segment) : undefined
}

function containerAt(state: State, path: readonly string[], op: string): Container {
  let container = copyOnWrite(state, state.root)
  if (container === undefined) throw missingPathError(op, path)
  state.root = container
  for (let i = 0; i < path.length - 1; i++) {
    const segment = path[i] as string
    const child: Container | undefined = copyOnWrite(state, childOf(container, segment))
    if (child === undefined) throw missingPathError(op, path)
    if (isList(container)) setItem(container, positionOf(segment, container.length) ?? 0, child)
    else setOwn(container, segment, child)
    container = child
  }
  return container
}

/** Copies a container on first write; returns undefined for scalars. */
function copyOnWrite(state: State, value: unknown): Container | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (state.owned.has(value)) return value as Container
  const isLong = Array.isArray(value) && value.length > minChunkedLength
  if (isLong) state.hasChunkedLists = true
  const copied: Container = isLong ? new ChunkedList(value) : Array.isArray(value) ? [...(value as unknown[])] : { ...value }
  state.owned.add(copied)
  return copied
}

function setItem(list: unknown[] | ChunkedList, position: number, value: unknown): void {
  if (list instanceof ChunkedList) list.set(position, value)
  else list[position] = value
}

const maxPrinted = 600

const printPath = (path: readonly string[]): string =>
  shorten(
    path
      .slice(0, maxPrinted)
      .map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`)
      .join(''),
  )

const missingPathError = (op: string, path: readonly string[]): PatchError =>
  new PatchError('missing-path', `${op} operation does not apply: doc is missing path: "${printPath(path)}": missing value`)

/** Longer pointers cannot match, because documents are not deeper. */
const maxSegments = maxJsonDepth + 2

/** Returns undefined for a text without a slash, unless empty. Ignores text before the first slash, as kube-apiserver does. */
export function readPointer(text: string): readonly string[] | undefined {
  if (text === '') return []
  const segments = text.split('/', maxSegments + 1)
  if (segments.length < 2) return undefined
  segments.shift()
  return text.includes('~') ? segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~')) : segments
}

/** Negative indexes count from the end, as in kube-apiserver. */
function positionOf(segment: string, length: number): number | undefined {
  if (!/^[+-]?\d{1,10}$/.test(segment)) return undefined
  const position = Number(segment) < 0 ? Number(segment) + length : Number(segment)
  return position >= 0 && position < length ? position : undefined
}

// The merge reading of a schema: which values are one thing and which are owned part by part, and which fields exist even when
// nobody wrote them. Field sets, comparison and apply walk this instead of the schema.

import { compareText, sortTexts } from '../base/text-order.js'
import { type Field, type ListNode, resolve, type SchemaNode, type StructNode } from './node.js'

export type Topology = ScalarTopology | StructTopology | MapTopology | ListTopology | AnyTopology

interface AnyKindOfTopology {
  /** The value is owned as one, whatever it holds. */
  readonly isOne: boolean
}

export interface ScalarTopology extends AnyKindOfTopology {
  readonly kind: 'scalar'
  /** What a client may write: texts of many forms may also be numbers. */
  readonly accepts: 'string' | 'number' | 'boolean' | 'scalar'
}

export interface StructTopology extends AnyKindOfTopology {
  readonly kind: 'struct'
  readonly fields: ReadonlyMap<string, FieldTopology>
  /** The same fields by the name that field sets use: `f:spec`. */
  readonly elements: ReadonlyMap<string, FieldTopology>
  /** The same fields in the order of their names. */
  readonly ordered: readonly FieldTopology[]
  /** The fields that are there even when nobody wrote them. */
  readonly implied: readonly FieldTopology[]
  /** What members beyond the fields are; undefined where there can be none. */
  readonly rest: Topology | undefined
}

export interface FieldTopology {
  readonly name: string
  /** The name that field sets use: `f:spec`. */
  readonly element: string
  readonly node: Topology
  /** What the field is when it was left out: undefined (absent), null, a zero value, or an empty struct. */
  readonly implied: unknown
  /** A zero value is the same as nothing. */
  readonly omitsZero: boolean
  /** Its place among the fields in the order of their names. */
  readonly position: number
}

export interface MapTopology extends AnyKindOfTopology {
  readonly kind: 'map'
  readonly value: Topology
}

export interface ListTopology extends AnyKindOfTopology {
  readonly kind: 'list'
  /** The fields that identify an item, in the order of their names; without any the items identify themselves. */
  readonly keys: readonly ListKey[]
  readonly item: Topology
}

export interface ListKey {
  readonly name: string
  /** What the key is in an item that leaves it out; undefined where it must be given. */
  readonly fallback: string | number | boolean | undefined
}

/** JSON of no known shape: if it is not one, its objects are owned member by member, and its lists are still one. */
export interface AnyTopology extends AnyKindOfTopology {
  readonly kind: 'any'
}

/** An empty struct: the value of a struct field that was left out. */
export const emptyStruct: { readonly [name: string]: never } = Object.freeze({})

const compiled = new WeakMap<SchemaNode, Topology>()

export function topologyOf(node: SchemaNode): Topology {
  const known = compiled.get(node)
  if (known !== undefined) return known
  switch (node.type) {
    case 'struct':
      return structTopology(node)
    case 'list':
      return compileList(node)
    case 'map': {
      const made: Draft<MapTopology> = { kind: 'map', isOne: node.mapType === 'atomic', value: text }
      compiled.set(node, made)
      made.value = topologyOf(node.value)
      return made
    }
    case 'lazy':
      return topologyOf(resolve(node))
    case 'any':
      return node.granular === true ? granularAny : atomicAny
    case 'string':
    case 'bytes':
      return text
    case 'boolean':
      return truth
    case 'integer':
    case 'number':
      return numeric
    case 'time':
    case 'duration':
    case 'quantity':
    case 'intOrString':
      return scalar
  }
}

export function structTopology(node: StructNode): StructTopology {
  const known = compiled.get(node)
  if (known?.kind === 'struct') return known
  const draft = draftStruct(node.mapType)
  // Registered before recursing, so that a schema may contain itself.
  compiled.set(node, draft)
  fillStruct(draft, node)
  return draft
}

/** A struct like another one, with other fields. */
export function structOf(fields: readonly FieldTopology[], like: StructTopology): StructTopology {
  const draft = { ...draftStruct(undefined), isOne: like.isOne, rest: like.rest }
  for (const field of fields) addField(draft, field)
  return draft
}

type Draft<T> = { -readonly [K in keyof T]: T[K] }

interface StructDraft extends StructTopology {
  readonly fields: Map<string, FieldTopology>
  readonly elements: Map<string, FieldTopology>
  readonly ordered: FieldTopology[]
  readonly implied: FieldTopology[]
  rest: Topology | undefined
}

const text: ScalarTopology = { kind: 'scalar', isOne: true, accepts: 'string' }
const truth: ScalarTopology = { kind: 'scalar', isOne: true, accepts: 'boolean' }
const numeric: ScalarTopology = { kind: 'scalar', isOne: true, accepts: 'number' }
const scalar: ScalarTopology = { kind: 'scalar', isOne: true, accepts: 'scalar' }
const granularAny: AnyTopology = { kind: 'any', isOne: false }
const atomicAny: AnyTopology = { kind: 'any', isOne: true }

const draftStruct = (mapType: 'atomic' | 'granular' | undefined): StructDraft => ({
  kind: 'struct',
  isOne: mapType === 'atomic',
  fields: new Map(),
  elements: new Map(),
  ordered: [],
  implied: [],
  rest: undefined,
})

function fillStruct(draft: StructDraft, node: StructNode): void {
  const typeMeta: [string, Field][] =
    node.typeMeta === true ? ['apiVersion', 'kind'].map((name) => [name, { node: { type: 'string' } }]) : []
  const fields = [...typeMeta, ...Object.entries(node.fields)].sort(([a], [b]) => compareText(a, b))
  for (const [name, field] of fields) addField(draft, fieldTopology(name, field))
  if (node.rest !== undefined) draft.rest = topologyOf(node.rest)
}

/** Fields are added in the order of their names. */
function addField(draft: StructDraft, field: FieldTopology): void {
  const placed = { ...field, position: draft.ordered.length }
  draft.fields.set(field.name, placed)
  draft.elements.set(field.element, placed)
  draft.ordered.push(placed)
  if (field.implied !== undefined) draft.implied.push(placed)
}

function fieldTopology(name: string, field: Field): FieldTopology {
  const node = resolve(field.node)
  return {
    name,
    element: `f:${name}`,
    node: node.type === 'struct' && field.mapType !== undefined ? overridden(node, field.mapType) : topologyOf(node),
    implied: impliedOf(field, node),
    omitsZero: field.pointer !== true && field.always !== true && omitted.has(node.type),
    position: 0,
  }
}

/** The types whose zero value can be left out: the others are there whatever they hold. */
const omitted: ReadonlySet<SchemaNode['type']> = new Set(['string', 'boolean', 'integer', 'number', 'bytes', 'list', 'map'])

/** A use of a struct that merges unlike the struct itself. */
function overridden(node: StructNode, mapType: 'atomic' | 'granular'): StructTopology {
  const draft = draftStruct(mapType)
  fillStruct(draft, node)
  return draft
}

/** Plain structs are always there; fields that are always written have their zero value; all others are absent. */
function impliedOf(field: Field, node: SchemaNode): unknown {
  if (field.pointer === true) return field.always === true ? null : undefined
  switch (node.type) {
    case 'struct':
      return emptyStruct
    case 'time':
    case 'any':
      return null
    case 'quantity':
      return '0'
    case 'intOrString':
      return 0
    case 'duration':
      return '0s'
    default:
      return field.always === true ? zeroOf(node) : undefined
  }
}

function zeroOf(node: SchemaNode): unknown {
  switch (node.type) {
    case 'string':
      return ''
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return 0
    default:
      return null
  }
}

function compileList(node: ListNode): ListTopology {
  const { isOne, keys } = listShape(node)
  const made: Draft<ListTopology> = { kind: 'list', isOne, keys: [], item: text }
  compiled.set(node, made)
  made.item = topologyOf(node.item)
  made.keys = sortTexts([...keys]).map((name) => ({ name, fallback: keyFallback(node.item, name) }))
  return made
}

/** Without a list type of its own, a list that merges in patches merges in apply as well. */
function listShape(node: ListNode): { readonly isOne: boolean; readonly keys: readonly string[] } {
  if (node.listType !== undefined) return { isOne: node.listType === 'atomic', keys: node.listType === 'map' ? (node.keys ?? []) : [] }
  const merges = node.patchStrategy === 'merge' || node.patchStrategy === 'merge,retainKeys'
  return { isOne: !merges, keys: merges && node.patchMergeKey !== undefined ? [node.patchMergeKey] : [] }
}

function keyFallback(item: SchemaNode, name: string): ListKey['fallback'] {
  const target = resolve(item)
  const field = target.type === 'struct' && Object.hasOwn(target.fields, name) ? target.fields[name] : undefined
  if (field === undefined) return undefined
  const value = field.default ?? (field.always === true ? zeroOf(resolve(field.node)) : undefined)
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined
}

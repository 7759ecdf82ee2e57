// Merge topology of a schema, for managedFields and server-side apply: which values are atomic, how list items are keyed, which absent
// fields have implied values.

import { compareText, sortTexts } from '../base/text-order.js'
import { type Field, type ListNode, resolve, type SchemaNode, type StructNode } from './node.js'

export type Topology = ScalarTopology | StructTopology | MapTopology | ListTopology | AnyTopology

interface TopologyBase {
  readonly isAtomic: boolean
}

export interface ScalarTopology extends TopologyBase {
  readonly kind: 'scalar'
  /** `scalar`: any type, such as IntOrString. */
  readonly accepts: 'string' | 'number' | 'boolean' | 'scalar'
}

export interface StructTopology extends TopologyBase {
  readonly kind: 'struct'
  readonly fields: ReadonlyMap<string, FieldTopology>
  /** Fields by path element, such as `f:spec`. */
  readonly elements: ReadonlyMap<string, FieldTopology>
  /** In name order. */
  readonly ordered: readonly FieldTopology[]
  /** Fields with an implied value. */
  readonly implied: readonly FieldTopology[]
  readonly rest: Topology | undefined
}

export interface FieldTopology {
  readonly name: string
  readonly element: string
  readonly node: Topology
  /** Value of an absent field: undefined, null, zero, or an empty struct. */
  readonly implied: unknown
  /** `omitempty`: zero equals absent. */
  readonly omitsZero: boolean
  readonly position: number
}

interface MapTopology extends TopologyBase {
  readonly kind: 'map'
  readonly value: Topology
}

export interface ListTopology extends TopologyBase {
  readonly kind: 'list'
  /** In name order. Empty for sets, whose items are their own keys. */
  readonly keys: readonly ListKey[]
  readonly item: Topology
}

export interface ListKey {
  readonly name: string
  /** Value of an absent key; undefined if the key is required. */
  readonly fallback: string | number | bigint | boolean | undefined
}

/** Unstructured JSON. Unless atomic, members of objects are owned separately; lists are atomic. */
interface AnyTopology extends TopologyBase {
  readonly kind: 'any'
}

export const emptyStruct: { readonly [name: string]: never } = Object.freeze({})

const compiled = new WeakMap<SchemaNode, Topology>()

export function topologyOf(node: SchemaNode): Topology {
  const cached = compiled.get(node)
  if (cached !== undefined) return cached
  switch (node.type) {
    case 'struct':
      return structTopology(node)
    case 'list':
      return compileList(node)
    case 'map': {
      const topology: Draft<MapTopology> = { kind: 'map', isAtomic: node.mapType === 'atomic', value: text }
      compiled.set(node, topology)
      topology.value = topologyOf(node.value)
      return topology
    }
    case 'lazy':
      return topologyOf(resolve(node))
    case 'any':
      return node.granular === true ? granularAny : atomicAny
    case 'string':
    case 'bytes':
      return text
    case 'boolean':
      return boolean
    case 'integer':
    case 'number':
      return numeric
    case 'intOrString':
      // A value of any type is valid in a custom resource until its schema is checked.
      return node.loose ? granularAny : scalar
    case 'time':
    case 'duration':
    case 'quantity':
      return scalar
  }
}

export function structTopology(node: StructNode): StructTopology {
  const cached = compiled.get(node)
  if (cached?.kind === 'struct') return cached
  const draft = draftStruct(node.mapType)
  // Registered before compiling: schemas may be recursive.
  compiled.set(node, draft)
  fillStruct(draft, node)
  return draft
}

export function structOf(fields: readonly FieldTopology[], template: StructTopology): StructTopology {
  const draft = { ...draftStruct(undefined), isAtomic: template.isAtomic, rest: template.rest }
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

const text: ScalarTopology = { kind: 'scalar', isAtomic: true, accepts: 'string' }
const boolean: ScalarTopology = { kind: 'scalar', isAtomic: true, accepts: 'boolean' }
const numeric: ScalarTopology = { kind: 'scalar', isAtomic: true, accepts: 'number' }
const scalar: ScalarTopology = { kind: 'scalar', isAtomic: true, accepts: 'scalar' }
const granularAny: AnyTopology = { kind: 'any', isAtomic: false }
const atomicAny: AnyTopology = { kind: 'any', isAtomic: true }

const draftStruct = (mapType: 'atomic' | 'granular' | undefined): StructDraft => ({
  kind: 'struct',
  isAtomic: mapType === 'atomic',
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
  // Custom resources (loose nodes) have no Go types, so absent fields have no value.
  for (const [name, field] of fields) addField(draft, { ...fieldTopology(name, field), ...(node.loose ? { implied: undefined } : {}) })
  if (node.rest !== undefined) draft.rest = topologyOf(node.rest)
}

/** Must be called in name order. */
function addField(draft: StructDraft, field: FieldTopology): void {
  const positioned = { ...field, position: draft.ordered.length }
  draft.fields.set(field.name, positioned)
  draft.elements.set(field.element, positioned)
  draft.ordered.push(positioned)
  if (field.implied !== undefined) draft.implied.push(positioned)
}

function fieldTopology(name: string, field: Field): FieldTopology {
  const node = resolve(field.node)
  return {
    name,
    element: `f:${name}`,
    node: node.type === 'struct' && field.mapType !== undefined ? withMapType(node, field.mapType) : topologyOf(node),
    implied: impliedOf(field, node),
    omitsZero: field.pointer !== true && field.always !== true && omittableTypes.has(node.type),
    position: 0,
  }
}

/** Types whose zero value Go's `omitempty` omits. */
const omittableTypes: ReadonlySet<SchemaNode['type']> = new Set(['string', 'boolean', 'integer', 'number', 'bytes', 'list', 'map'])

function withMapType(node: StructNode, mapType: 'atomic' | 'granular'): StructTopology {
  const draft = draftStruct(mapType)
  fillStruct(draft, node)
  return draft
}

/** Value that Go encodes for an absent field; undefined if Go omits it. */
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

const zeroScalars: { readonly [type in SchemaNode['type']]?: unknown } = { string: '', boolean: false, integer: 0, number: 0 }

const zeroOf = ({ type }: SchemaNode): unknown => zeroScalars[type] ?? null

function compileList(node: ListNode): ListTopology {
  const { isAtomic, keys } = listShape(node)
  const topology: Draft<ListTopology> = { kind: 'list', isAtomic, keys: [], item: text }
  compiled.set(node, topology)
  topology.item = topologyOf(node.item)
  topology.keys = sortTexts([...keys]).map((name) => ({ name, fallback: keyFallback(node.item, name) }))
  return topology
}

/** A list without a list type merges in apply if it merges in strategic merge patches. */
function listShape(node: ListNode): { readonly isAtomic: boolean; readonly keys: readonly string[] } {
  if (node.listType !== undefined) return { isAtomic: node.listType === 'atomic', keys: node.listType === 'map' ? (node.keys ?? []) : [] }
  const merges = node.patchStrategy === 'merge' || node.patchStrategy === 'merge,retainKeys'
  return { isAtomic: !merges, keys: merges && node.patchMergeKey !== undefined ? [node.patchMergeKey] : [] }
}

function keyFallback(item: SchemaNode, name: string): ListKey['fallback'] {
  const target = resolve(item)
  const field = target.type === 'struct' && Object.hasOwn(target.fields, name) ? target.fields[name] : undefined
  if (field === undefined) return undefined
  const value = field.default ?? (field.always === true ? zeroOf(resolve(field.node)) : undefined)
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
    ? value
    : undefined
}

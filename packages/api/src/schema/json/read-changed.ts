// Reads a patched value that shares parts with the previous version. Equals `readValue`, but skips shared parts.

import { weakMemoize } from '../../base/recent-map.js'
import { type Field, isLoose, isNullable, type ListNode, type MapNode, resolve, type SchemaNode, type StructNode } from '../node.js'
import { isStringMap, markIfEscapeFree } from './escape-free-maps.js'
import { isRecord, keeps, type ReadReport, ReadState, readPart, setMember, zeroOf } from './read.js'
import { markSentEmpty } from './sent-empty.js'

type Members = Record<string, unknown>

/** Requires that `before` was read by the same schema. Throws {@link SchemaReadError}. */
export function readChanged(node: SchemaNode, before: unknown, value: unknown): { readonly value: unknown; readonly report: ReadReport } {
  const state = new ReadState()
  return { value: read(node, before, value, state), report: state }
}

function read(node: SchemaNode, before: unknown, value: unknown, state: ReadState): unknown {
  if (value === before) return value
  if (before !== undefined && !isLoose(node)) {
    if (node.type === 'lazy') return read(resolve(node), before, value, state)
    if (node.type === 'list' && Array.isArray(value) && Array.isArray(before)) return readItems(node, before, value, state)
    if (isRecord(value) && isRecord(before)) {
      if (node.type === 'map') return readKeys(node, before, value, state)
      if (node.type === 'struct' && node.rest === undefined) return readMembers(node, before, value, state)
    }
  }
  return readPart(node, value, state)
}

function readItems(node: ListNode, before: readonly unknown[], value: readonly unknown[], state: ReadState): unknown {
  const depth = state.path.length
  let out: unknown[] | undefined
  for (let i = 0; i < value.length; i++) {
    const item = value[i]
    if (item === before[i] && item !== null) continue
    state.path[depth] = i
    const after = item === null ? zeroOf(node.item) : read(node.item, before[i], item, state)
    if (after === item) continue
    out ??= [...value]
    out[i] = after
  }
  state.leave(depth)
  return out ?? value
}

function readKeys(node: MapNode, before: Members, value: Members, state: ReadState): unknown {
  const depth = state.path.length
  let changes: Map<string, unknown> | undefined
  for (const key in value) {
    const item = value[key]
    if (item === before[key] && item !== null) continue
    state.path[depth] = key
    const after = item === null ? zeroOf(node.value) : read(node.value, own(before, key), item, state)
    if (after === item) continue
    changes ??= new Map()
    changes.set(key, after)
  }
  state.leave(depth)
  const out = changes === undefined ? value : withoutDropped(value, changes)
  if (isStringMap(node)) markIfEscapeFree(out as Record<string, string>, before as Record<string, string>)
  return out
}

function readMembers(node: StructNode, before: Members, value: Members, state: ReadState): unknown {
  const depth = state.path.length
  let changes: Map<string, unknown> | undefined
  let emptyKeys: string[] | undefined
  for (const key in value) {
    const member = value[key]
    if (member === before[key] && member !== null) continue
    state.path[depth] = key
    const field = Object.hasOwn(node.fields, key) ? (node.fields[key] as Field) : undefined
    const after = field === undefined ? readUnknown(node, key, member, state) : readField(field, own(before, key), member, state)
    if (after === dropped && typeof member === 'object' && member !== null && field !== undefined) {
      emptyKeys ??= []
      emptyKeys.push(key)
    }
    if (after === member) continue
    changes ??= new Map()
    changes.set(key, after)
  }
  state.leave(depth)
  const out = changes === undefined ? value : withoutDropped(value, changes)
  for (const key of emptyKeys ?? []) markSentEmpty(out, key)
  return out
}

const dropped = Symbol('dropped')

function readField(field: Field, before: unknown, member: unknown, state: ReadState): unknown {
  const { keepsValue, keepsNull } = rulesOf(field)
  if (member === null) return keepsNull ? null : dropped
  const after = read(field.node, before, member, state)
  return keepsValue(after) ? after : dropped
}

const rulesOf = weakMemoize((field: Field) => ({ keepsValue: keeps(field), keepsNull: isNullable(resolve(field.node)) }))

function readUnknown(node: StructNode, key: string, member: unknown, state: ReadState): unknown {
  if (node.typeMeta && (key === 'kind' || key === 'apiVersion')) {
    const text = member === null ? '' : readPart({ type: 'string' }, member, state)
    return text === '' ? dropped : text
  }
  state.reportUnknown()
  return dropped
}

function withoutDropped(value: Members, changes: ReadonlyMap<string, unknown>): Members {
  const out: Members = {}
  for (const key in value) {
    const after = changes.has(key) ? changes.get(key) : value[key]
    if (after !== dropped) setMember(out, key, after)
  }
  return out
}

const own = (members: Members, key: string): unknown => (Object.hasOwn(members, key) ? members[key] : undefined)

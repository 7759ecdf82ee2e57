// An object without the fields of a set: what apply does with fields that nobody owns any more.

import type { ListTopology, StructTopology, Topology } from '../schema/topology.js'
import { type FieldSet, isMember } from './field-set.js'
import { elementOf } from './list-items.js'
import { isBare, type Members } from './members.js'
import { fieldElement } from './path-element.js'
import { isRecord, setOwn } from './plain.js'

export const removeFields = (root: StructTopology, object: Members, set: FieldSet | undefined): Members =>
  set === undefined ? object : removeMembers(root, object, set)

/** A value without what the set names in it. What has no parts is left alone. */
function removeIn(node: Topology, value: unknown, set: FieldSet): unknown {
  if (node.isOne || node.kind === 'scalar') return value
  if (node.kind === 'list') return Array.isArray(value) ? removeItems(node, value, set) : value
  return isRecord(value) ? removeMembers(node, value, set) : value
}

function removeMembers(node: Exclude<Topology, { readonly kind: 'scalar' | 'list' }>, value: Members, set: FieldSet): Members {
  const out: { [name: string]: unknown } = {}
  for (const name in value) {
    const member = value[name]
    const inner = set[fieldElement(name)]
    if (inner === undefined) setOwn(out, name, member)
    else if (!isMember(inner)) setOwn(out, name, removeInMember(node, { name, member }, inner))
  }
  return out
}

function removeInMember(
  node: Exclude<Topology, { readonly kind: 'scalar' | 'list' }>,
  { name, member }: { readonly name: string; readonly member: unknown },
  set: FieldSet,
): unknown {
  if (node.kind === 'map') return removeIn(node.value, member, set)
  if (node.kind === 'any') return removeIn(node, member, set)
  const field = node.fields.get(name)
  if (field === undefined) return node.rest === undefined ? member : removeIn(node.rest, member, set)
  // A field all of whose parts go is unset; a key of a map stays, for somebody owns it.
  const left = removeIn(field.node, member, set)
  return typeof left === 'object' && left !== null && isBare(left) ? null : left
}

function removeItems(node: ListTopology, items: readonly unknown[], set: FieldSet): readonly unknown[] {
  return items.flatMap((item) => {
    const inner = set[elementOf(node, item)]
    if (inner === undefined) return [item]
    return isMember(inner) ? [] : [removeIn(node.item, item, inner)]
  })
}

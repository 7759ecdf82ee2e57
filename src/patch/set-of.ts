// The fields that a value spells out: what an applied configuration has an opinion about, nulls and empty maps included.
// A field is in the set if nothing lies below it; members of maps and items of lists are in the set in any case.

import type { ListTopology, StructTopology, Topology } from '../schema/topology.js'
import { type FieldSet, leaf } from './field-set.js'
import { elementOf, sortedItems } from './list-items.js'
import { isBare, type Members } from './members.js'
import { fieldElement, self } from './path-element.js'
import { isRecord } from './plain.js'
import { addPart, addRest, noParts, structNode } from './struct-node.js'
import { namesOf } from './whole.js'

export const setOf = (root: StructTopology, object: Members): FieldSet | undefined => setOfStruct(root, object, asField)

/** Whether a value is in the set itself, whatever lies below it. */
interface Place {
  readonly isMember: boolean
}
const asField: Place = { isMember: false }
const asMember: Place = { isMember: true }

/** The node of a value; undefined for a field that is not in the set. */
function nodeFor(node: Topology, value: unknown, place: Place): FieldSet | undefined {
  if (node.isOne || value === null) return leaf
  if (node.kind === 'list') return Array.isArray(value) ? setOfList(node, value, place) : leaf
  if (!isRecord(value)) return leaf
  const inner = node.kind === 'struct' ? setOfStruct(node, value, place) : setOfMap(node.kind === 'map' ? node.value : node, value, place)
  // What is spelled out empty is in the set.
  return inner === undefined && isBare(value) ? leaf : inner
}

function setOfStruct(node: StructTopology, value: Members, { isMember }: Place): FieldSet | undefined {
  const parts = noParts()
  for (const name in value) {
    const member = value[name]
    const field = node.fields.get(name)
    if (member === undefined) continue
    if (field !== undefined) {
      const inner = nodeFor(field.node, member, asField)
      if (inner !== undefined) addPart(parts, field, inner)
    } else if (node.rest !== undefined) addRest(parts, { element: fieldElement(name), node: nodeFor(node.rest, member, asMember) ?? leaf })
  }
  return structNode(node, parts, isMember)
}

function setOfMap(node: Topology, value: Members, { isMember }: Place): FieldSet | undefined {
  const names = namesOf(value)
  if (names.length === 0) return undefined
  const out: { [element: string]: FieldSet } = isMember ? { [self]: leaf } : {}
  for (const name of names) out[fieldElement(name)] = nodeFor(node, value[name], asMember) ?? leaf
  return out
}

/** An empty list that is a field is not in the set. */
function setOfList(node: ListTopology, items: readonly unknown[], { isMember }: Place): FieldSet | undefined {
  if (items.length === 0) return isMember ? leaf : undefined
  const out: { [element: string]: FieldSet } = isMember ? { [self]: leaf } : {}
  for (const item of sortedItems(node, items)) out[elementOf(node, item)] = nodeFor(node.item, item, asMember) ?? leaf
  return out
}

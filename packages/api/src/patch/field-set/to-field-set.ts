// Field set of an applied configuration: its scalars, nulls, atomic values, empty structs and empty maps, and every map member and list
// item. Other structs, maps and lists are not members of the set themselves.

import type { ListTopology, StructTopology, Topology } from '../../schema/topology.js'
import { isEmptyObject, isRecord, type Members } from '../json-value.js'
import { namesOf } from './all-paths.js'
import { type FieldSet, leaf } from './field-set.js'
import { elementOf, sortedItems } from './list-item-keys.js'
import { fieldElement, self } from './path-element.js'
import { addFieldNode, addRestNode, emptyDraft, structFieldSet } from './struct-field-set.js'

export const toFieldSet = (root: StructTopology, object: Members): FieldSet | undefined => structToFieldSet(root, object, asField)

interface Context {
  readonly isMember: boolean
}
const asField: Context = { isMember: false }
const asMember: Context = { isMember: true }

function valueToFieldSet(node: Topology, value: unknown, context: Context): FieldSet | undefined {
  if (node.isAtomic || value === null) return leaf
  if (node.kind === 'list') return Array.isArray(value) ? listToFieldSet(node, value, context) : leaf
  if (!isRecord(value)) return leaf
  const inner =
    node.kind === 'struct' ? structToFieldSet(node, value, context) : mapToFieldSet(node.kind === 'map' ? node.value : node, value, context)
  return inner === undefined && isEmptyObject(value) ? leaf : inner
}

function structToFieldSet(node: StructTopology, value: Members, { isMember }: Context): FieldSet | undefined {
  const draft = emptyDraft()
  for (const name in value) {
    const member = value[name]
    const field = node.fields.get(name)
    if (member === undefined) continue
    if (field !== undefined) {
      const inner = valueToFieldSet(field.node, member, asField)
      if (inner !== undefined) addFieldNode(draft, field, inner)
    } else if (node.rest !== undefined)
      addRestNode(draft, { element: fieldElement(name), node: valueToFieldSet(node.rest, member, asMember) ?? leaf })
  }
  return structFieldSet(node, draft, isMember)
}

function mapToFieldSet(node: Topology, value: Members, { isMember }: Context): FieldSet | undefined {
  const names = namesOf(value)
  if (names.length === 0) return undefined
  const out: { [element: string]: FieldSet } = isMember ? { [self]: leaf } : {}
  for (const name of names) out[fieldElement(name)] = valueToFieldSet(node, value[name], asMember) ?? leaf
  return out
}

/** An empty list counts only as a map member or list item. */
function listToFieldSet(node: ListTopology, items: readonly unknown[], { isMember }: Context): FieldSet | undefined {
  if (items.length === 0) return isMember ? leaf : undefined
  const out: { [element: string]: FieldSet } = isMember ? { [self]: leaf } : {}
  for (const item of sortedItems(node, items)) out[elementOf(node, item)] = valueToFieldSet(node.item, item, asMember) ?? leaf
  return out
}

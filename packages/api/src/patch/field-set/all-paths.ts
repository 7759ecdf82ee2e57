// All paths of a value that was added or removed, including the value itself.

import { compareText, sortTexts } from '../../base/text-order.js'
import type { ListTopology, StructTopology, Topology } from '../../schema/topology.js'
import { isRecord, type Members, type ReadMember } from '../json-value.js'
import { type FieldSet, isLeaf, leaf, nonEmpty } from './field-set.js'
import { elementOf, sortedItems } from './list-item-keys.js'
import { fieldElement, self } from './path-element.js'
import { addFieldNode, addRestNode, emptyDraft, structFieldSet } from './struct-field-set.js'

/** Scalars, atomic values and empty values give a leaf. */
export function allPathsOf(node: Topology, value: unknown, read: ReadMember): FieldSet {
  if (node.isAtomic) return leaf
  if (node.kind === 'list') return Array.isArray(value) ? allPathsOfList(node, value, read) : leaf
  if (!isRecord(value)) return leaf
  return node.kind === 'struct' ? allPathsOfStruct(node, value, read) : allPathsOfMap(node.kind === 'map' ? node.value : node, value, read)
}

/** Paths in the value without the value itself. */
export function pathsWithin(node: Topology, value: unknown, read: ReadMember): FieldSet | undefined {
  const paths = allPathsOf(node, value, read)
  if (isLeaf(paths)) return undefined
  const { [self]: _, ...inner } = paths
  return nonEmpty(inner)
}

function allPathsOfStruct(node: StructTopology, value: Members, read: ReadMember): FieldSet {
  const draft = emptyDraft()
  for (const name in value) {
    const field = node.fields.get(name)
    if (field !== undefined) {
      const inner = read(field, value)
      if (inner !== undefined) addFieldNode(draft, field, allPathsOf(field.node, inner, read))
    } else if (node.rest !== undefined && value[name] !== undefined)
      addRestNode(draft, { element: fieldElement(name), node: allPathsOf(node.rest, value[name], read) })
  }
  for (const field of node.implied)
    if (!Object.hasOwn(value, field.name)) addFieldNode(draft, field, allPathsOf(field.node, field.implied, read))
  return structFieldSet(node, draft, true) ?? leaf
}

function allPathsOfMap(node: Topology, value: Members, read: ReadMember): FieldSet {
  const names = namesOf(value)
  if (names.length === 0) return leaf
  const out: { [element: string]: FieldSet } = { [self]: leaf }
  for (const name of names) out[fieldElement(name)] = allPathsOf(node, value[name], read)
  return out
}

export function namesOf(value: Members): readonly string[] {
  const names = Object.keys(value)
  for (let i = 1; i < names.length; i++) if (compareText(names[i - 1] as string, names[i] as string) > 0) return sortTexts(names)
  return names
}

function allPathsOfList(node: ListTopology, items: readonly unknown[], read: ReadMember): FieldSet {
  if (items.length === 0) return leaf
  const out: { [element: string]: FieldSet } = { [self]: leaf }
  for (const item of sortedItems(node, items)) out[elementOf(node, item)] = allPathsOf(node.item, item, read)
  return out
}

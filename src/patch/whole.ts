// Every path of a value that came or went as a whole, the value itself included.

import { compareText, sortTexts } from '../base/text-order.js'
import type { ListTopology, StructTopology, Topology } from '../schema/topology.js'
import { type FieldSet, isLeaf, leaf, nonEmpty } from './field-set.js'
import { elementOf, sortedItems } from './list-items.js'
import type { Members, ReadMember } from './members.js'
import { fieldElement, self } from './path-element.js'
import { isRecord } from './plain.js'
import { addPart, addRest, noParts, structNode } from './struct-node.js'

/** The node of a value with everything in it; a value that is owned as one, or is empty, is a leaf. */
export function wholeOf(node: Topology, value: unknown, read: ReadMember): FieldSet {
  if (node.isOne) return leaf
  if (node.kind === 'list') return Array.isArray(value) ? wholeList(node, value, read) : leaf
  if (!isRecord(value)) return leaf
  return node.kind === 'struct' ? wholeStruct(node, value, read) : wholeMap(node.kind === 'map' ? node.value : node, value, read)
}

/** The same without the value itself; undefined if there is nothing in it. */
export function partsOf(node: Topology, value: unknown, read: ReadMember): FieldSet | undefined {
  const whole = wholeOf(node, value, read)
  if (isLeaf(whole)) return undefined
  const { [self]: _, ...parts } = whole
  return nonEmpty(parts)
}

function wholeStruct(node: StructTopology, value: Members, read: ReadMember): FieldSet {
  const parts = noParts()
  for (const name in value) {
    const field = node.fields.get(name)
    if (field !== undefined) {
      const inner = read(field, value)
      if (inner !== undefined) addPart(parts, field, wholeOf(field.node, inner, read))
    } else if (node.rest !== undefined && value[name] !== undefined)
      addRest(parts, { element: fieldElement(name), node: wholeOf(node.rest, value[name], read) })
  }
  for (const field of node.implied) if (!Object.hasOwn(value, field.name)) addPart(parts, field, wholeOf(field.node, field.implied, read))
  return structNode(node, parts, true) ?? leaf
}

function wholeMap(node: Topology, value: Members, read: ReadMember): FieldSet {
  const names = namesOf(value)
  if (names.length === 0) return leaf
  const out: { [element: string]: FieldSet } = { [self]: leaf }
  for (const name of names) out[fieldElement(name)] = wholeOf(node, value[name], read)
  return out
}

/** The names of a map in canonical order. */
export function namesOf(value: Members): readonly string[] {
  const names = Object.keys(value)
  for (let i = 1; i < names.length; i++) if (compareText(names[i - 1] as string, names[i] as string) > 0) return sortTexts(names)
  return names
}

function wholeList(node: ListTopology, items: readonly unknown[], read: ReadMember): FieldSet {
  if (items.length === 0) return leaf
  const out: { [element: string]: FieldSet } = { [self]: leaf }
  for (const item of sortedItems(node, items)) out[elementOf(node, item)] = wholeOf(node.item, item, read)
  return out
}

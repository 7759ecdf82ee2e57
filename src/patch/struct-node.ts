// The node of a struct in a field set. Structs whose fields are all leaves have few shapes, so each shape is made once and shared.

import { compareText } from '../base/text-order.js'
import type { FieldTopology, StructTopology } from '../schema/topology.js'
import { type Child, type FieldSet, leaf, nodeOf } from './field-set.js'
import { self } from './path-element.js'

/** The fields that are in the set, gathered in any order. */
export interface StructParts {
  /** A bit for each leaf. */
  leaves: number
  /** The nodes of all others by their place. */
  deep: (FieldSet | undefined)[] | undefined
  /** Members that are no fields of the struct. */
  rest: Child[] | undefined
}

export const noParts = (): StructParts => ({ leaves: 0, deep: undefined, rest: undefined })

const bits = 30

export function addPart(parts: StructParts, field: FieldTopology, node: FieldSet): void {
  if (node === leaf && field.position < bits) parts.leaves |= 1 << field.position
  else {
    parts.deep ??= []
    parts.deep[field.position] = node
  }
}

export function addRest(parts: StructParts, child: Child): void {
  parts.rest ??= []
  parts.rest.push(child)
}

/** The node with its parts in canonical order; undefined if there are none and it is no member. */
export function structNode(struct: StructTopology, parts: StructParts, member: boolean): FieldSet | undefined {
  if (parts.rest !== undefined) return nodeOf(member, inOrder([...children(struct, parts), ...parts.rest]))
  if (parts.deep !== undefined) return build(struct, parts, member)
  return parts.leaves === 0 ? (member ? leaf : undefined) : shared(struct, parts, member)
}

// Clients choose the shapes, so that not all of them can be remembered.
const maxShapes = 64
const shapes = new WeakMap<StructTopology, Map<number, FieldSet>>()

function shared(struct: StructTopology, parts: StructParts, member: boolean): FieldSet {
  let known = shapes.get(struct)
  if (known === undefined) {
    known = new Map()
    shapes.set(struct, known)
  }
  const shape = member ? parts.leaves : -parts.leaves
  const node = known.get(shape) ?? build(struct, parts, member)
  if (known.size < maxShapes) known.set(shape, node)
  return node
}

function build(struct: StructTopology, parts: StructParts, member: boolean): FieldSet {
  const out: { [element: string]: FieldSet } = {}
  if (member) out[self] = leaf
  for (const field of struct.ordered) {
    const node = partAt(parts, field.position)
    if (node !== undefined) out[field.element] = node
  }
  return out
}

const partAt = ({ leaves, deep }: StructParts, position: number): FieldSet | undefined =>
  position < bits && (leaves & (1 << position)) !== 0 ? leaf : deep?.[position]

const children = (struct: StructTopology, parts: StructParts): readonly Child[] =>
  struct.ordered.flatMap(({ element, position }) => {
    const node = partAt(parts, position)
    return node === undefined ? [] : [{ element, node }]
  })

/** Children by their names. The array is the caller's own. */
export function inOrder(fields: Child[]): readonly Child[] {
  for (let i = 1; i < fields.length; i++)
    if (compareText((fields[i - 1] as Child).element, (fields[i] as Child).element) > 0)
      return fields.sort((a, b) => compareText(a.element, b.element))
  return fields
}

// Field set of a struct. If all fields of a set are leaves, few distinct sets occur; these are cached and shared.

import { compareText } from '../../base/text-order.js'
import type { FieldTopology, StructTopology } from '../../schema/topology.js'
import { type Child, type FieldSet, leaf, nodeOf } from './field-set.js'
import { self } from './path-element.js'

/** Nodes of the fields of a struct, before they are put in order. */
interface StructDraft {
  /** Bit set of positions whose field is a leaf. */
  leaves: number
  /** Sets of other fields by position. */
  deep: (FieldSet | undefined)[] | undefined
  /** Members that the schema does not name. */
  rest: Child[] | undefined
}

export const emptyDraft = (): StructDraft => ({ leaves: 0, deep: undefined, rest: undefined })

/** Field positions that fit into the bit set of `leaves`. */
const maxBits = 30

export function addFieldNode(draft: StructDraft, field: FieldTopology, node: FieldSet): void {
  if (node === leaf && field.position < maxBits) draft.leaves |= 1 << field.position
  else {
    draft.deep ??= []
    draft.deep[field.position] = node
  }
}

export function addRestNode(draft: StructDraft, child: Child): void {
  draft.rest ??= []
  draft.rest.push(child)
}

export function structFieldSet(struct: StructTopology, draft: StructDraft, member: boolean): FieldSet | undefined {
  if (draft.rest !== undefined) return nodeOf(member, inOrder([...children(struct, draft), ...draft.rest]))
  if (draft.deep !== undefined) return buildStruct(struct, draft, member)
  return draft.leaves === 0 ? (member ? leaf : undefined) : sharedShape(struct, draft, member)
}

/** Bounded, because clients choose which fields are set. */
const maxShapes = 64
const shapes = new WeakMap<StructTopology, Map<number, FieldSet>>()

function sharedShape(struct: StructTopology, draft: StructDraft, member: boolean): FieldSet {
  let structShapes = shapes.get(struct)
  if (structShapes === undefined) {
    structShapes = new Map()
    shapes.set(struct, structShapes)
  }
  const shape = member ? draft.leaves : -draft.leaves
  const node = structShapes.get(shape) ?? buildStruct(struct, draft, member)
  if (structShapes.size < maxShapes) structShapes.set(shape, node)
  return node
}

function buildStruct(struct: StructTopology, draft: StructDraft, member: boolean): FieldSet {
  const out: { [element: string]: FieldSet } = {}
  if (member) out[self] = leaf
  for (const field of struct.ordered) {
    const node = nodeAt(draft, field.position)
    if (node !== undefined) out[field.element] = node
  }
  return out
}

const nodeAt = ({ leaves, deep }: StructDraft, position: number): FieldSet | undefined =>
  position < maxBits && (leaves & (1 << position)) !== 0 ? leaf : deep?.[position]

const children = (struct: StructTopology, draft: StructDraft): readonly Child[] =>
  struct.ordered.flatMap(({ element, position }) => {
    const node = nodeAt(draft, position)
    return node === undefined ? [] : [{ element, node }]
  })

export function inOrder(fields: Child[]): readonly Child[] {
  for (let i = 1; i < fields.length; i++)
    if (compareText((fields[i - 1] as Child).element, (fields[i] as Child).element) > 0)
      return fields.sort((a, b) => compareText(a.element, b.element))
  return fields
}

// What a write changed: the fields that came or got another value, and the fields that went.

import { emptyStruct, type ListTopology, type StructTopology, type Topology } from '../schema/topology.js'
import { type Child, type FieldSet, leaf, nodeOf, union } from './field-set.js'
import { compareItems, elementOf, indexItems, isSameOrder, requireDistinct } from './list-items.js'
import { type Members, type ReadMember, spelledMember, writtenMember } from './members.js'
import { fieldElement } from './path-element.js'
import { isEqual, isRecord, own } from './plain.js'
import { inOrder } from './struct-node.js'
import { partsOf, wholeOf } from './whole.js'
import { isSpelledOut, isWrittenAlike } from './written-value.js'

export interface Difference {
  /** What was added or modified. */
  readonly changed: FieldSet | undefined
  readonly removed: FieldSet | undefined
}

/** Compares two objects of a kind. Throws UnkeyedListError where the items of a list cannot be told apart. */
export const compare = (root: StructTopology, live: Members | undefined, next: Members): Difference =>
  asWritten(root, live ?? emptyStruct, next)

/** Compares an object with the outcome of an apply, in which zeros and nulls count that the configuration spelled out, or did not. */
export const compareOutcome = (root: StructTopology, live: Members, outcome: Members): Difference => asApplied(root, live, outcome)

/** The same for an outcome that was converted to another version, and so is not as it was spelled. */
export const compareConverted = (root: StructTopology, live: Members, outcome: Members): Difference => asSpelled(root, live, outcome)

const same: Difference = { changed: undefined, removed: undefined }
const replaced: Difference = { changed: leaf, removed: undefined }

const leaves = (left: unknown, right: unknown): Difference => (isEqual(left, right) ? same : replaced)
const wholes: Compare = (node, left, right) => (isSpelledOut(node, left, right) ? same : replaced)
const writtenWholes: Compare = (node, left, right) => (isWrittenAlike(node, left, right) ? same : replaced)

const asWritten = comparer(writtenMember, writtenWholes)
const asSpelled = comparer(spelledMember)
const asApplied = comparer(spelledMember, wholes)

type Compare = (node: Topology, left: unknown, right: unknown) => Difference

/**
 * Compares values of which the left one is read as the kind writes it, and the right one by `read`. The functions stand inside this
 * one, so that the two ways to read share one walk and none of its many steps has to pass the way along.
 */
function comparer(read: ReadMember, ones: Compare = (_, left, right) => leaves(left, right)): Compare {
  const either: Compare = (node, left, right) => {
    if (left === undefined) return right === undefined ? same : { changed: wholeOf(node, right, read), removed: undefined }
    if (right === undefined) return { changed: undefined, removed: wholeOf(node, left, writtenMember) }
    return left === right ? same : both(node, left, right)
  }

  const both: Compare = (node, left, right) => {
    if (node.isOne) return ones(node, left, right)
    if (node.kind === 'list') return lists(node, left, right)
    if (!isRecord(left) || !isRecord(right)) return unlike(node, left, right)
    if (node.kind === 'struct') return structs(node, left, right)
    return maps(node.kind === 'map' ? node.value : node, left, right)
  }

  const structs = (node: StructTopology, left: Members, right: Members): Difference => {
    const found: Findings = { changed: undefined, removed: undefined }
    let shared = 0
    for (const name in right) {
      const before = own(left, name)
      if (before !== undefined) shared++
      if (before === right[name]) continue
      const field = node.fields.get(name)
      if (field !== undefined) note(found, field.element, either(field.node, writtenMember(field, left), read(field, right)))
      else if (node.rest !== undefined) note(found, fieldElement(name), either(node.rest, before, right[name]))
    }
    if (hasMore(left, shared))
      for (const name in left) {
        if (own(right, name) !== undefined) continue
        const field = node.fields.get(name)
        if (field !== undefined) note(found, field.element, either(field.node, writtenMember(field, left), read(field, right)))
        else if (node.rest !== undefined) note(found, fieldElement(name), either(node.rest, left[name], undefined))
      }
    return summary(found)
  }

  const maps = (node: Topology, left: Members, right: Members): Difference => {
    const found: Findings = { changed: undefined, removed: undefined }
    let shared = 0
    for (const name in right) {
      const before = own(left, name)
      if (before !== undefined) shared++
      if (before !== right[name]) note(found, fieldElement(name), either(node, before, right[name]))
    }
    if (hasMore(left, shared))
      for (const name in left) if (own(right, name) === undefined) note(found, fieldElement(name), either(node, left[name], undefined))
    return summary(found)
  }

  const lists = (node: ListTopology, left: unknown, right: unknown): Difference => {
    const before = itemsOf(left)
    const after = itemsOf(right)
    if (before === undefined || after === undefined) return leaves(left, right)
    // Nothing is another thing than a list without items, which is why whoever sends such a list owns it.
    if (before.length === 0 && after.length === 0) return leaves(left, right)
    requireDistinct(node, after)
    const items: ItemDifference[] = []
    const add = (item: unknown, difference: Difference): void => {
      if (difference !== same) items.push({ item, difference })
    }
    if (isSameOrder(node, before, after)) for (let i = 0; i < after.length; i++) add(after[i], either(node.item, before[i], after[i]))
    else {
      const index = indexItems(node, before)
      const later = indexItems(node, after)
      for (const [element, item] of later) add(item, either(node.item, index.get(element), item))
      for (const [element, item] of index) if (!later.has(element)) add(item, either(node.item, item, undefined))
    }
    return summaryOfItems(node, items)
  }

  /** Values of two kinds, or null and something: the one that has parts gains or loses them. */
  const unlike: Compare = (node, left, right) => {
    const gone = partsOf(node, left, writtenMember)
    const come = partsOf(node, right, read)
    // Nothing is another thing than an empty value, but it is no change of the value itself where parts come or go.
    const isReplaced = gone === undefined && come === undefined ? !isEqual(left, right) : left !== null && right !== null
    return { changed: isReplaced ? union(leaf, come) : come, removed: gone }
  }

  return either
}

const noItems: readonly unknown[] = []

/** Nothing is a list without items; undefined for what is no list. */
const itemsOf = (value: unknown): readonly unknown[] | undefined => (Array.isArray(value) ? value : value === null ? noItems : undefined)

/** What the members of a value say, gathered while it is walked. */
interface Findings {
  changed: Child[] | undefined
  removed: Child[] | undefined
}

function note(found: Findings, element: string, { changed, removed }: Difference): void {
  if (changed !== undefined) {
    found.changed ??= []
    found.changed.push({ element, node: changed })
  }
  if (removed !== undefined) {
    found.removed ??= []
    found.removed.push({ element, node: removed })
  }
}

function summary(found: Findings): Difference {
  if (found.changed === undefined && found.removed === undefined) return same
  return {
    changed: found.changed && nodeOf(false, inOrder(found.changed)),
    removed: found.removed && nodeOf(false, inOrder(found.removed)),
  }
}

interface ItemDifference {
  readonly item: unknown
  readonly difference: Difference
}

function summaryOfItems(list: ListTopology, items: ItemDifference[]): Difference {
  if (items.length === 0) return same
  items.sort((a, b) => compareItems(list, a.item, b.item))
  const found: Findings = { changed: undefined, removed: undefined }
  for (const { item, difference } of items) note(found, elementOf(list, item), difference)
  return { changed: found.changed && nodeOf(false, found.changed), removed: found.removed && nodeOf(false, found.removed) }
}

/** Whether a value has more members than a number. */
function hasMore(value: Members, count: number): boolean {
  for (const _ in value) if (--count < 0) return true
  return false
}

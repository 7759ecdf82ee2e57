// Fields that a write changed, added or removed, as field sets.

import { emptyStruct, type ListTopology, type StructTopology, type Topology } from '../../schema/topology.js'
import { isEqual, isRecord, type Members, own, type ReadMember, sentMember, serializedMember } from '../json-value.js'
import { allPathsOf, pathsWithin } from './all-paths.js'
import { type Child, type FieldSet, leaf, nodeOf, union } from './field-set.js'
import { compareItems, elementOf, indexItems, isSameOrder, requireDistinct } from './list-item-keys.js'
import { fieldElement } from './path-element.js'
import { equalsSerialized, serializeEqually } from './serialized-value.js'
import { inOrder } from './struct-field-set.js'

export interface Difference {
  readonly changed: FieldSet | undefined
  readonly removed: FieldSet | undefined
}

/** Compares an update: zero values that Go omits equal absent ones. */
export const compare = (root: StructTopology, live: Members | undefined, next: Members): Difference =>
  compareSerialized(root, live ?? emptyStruct, next)

/** Compares the result of an apply: zeros and nulls count if the configuration contains them. */
export const compareApplied = (root: StructTopology, live: Members, outcome: Members): Difference => compareResult(root, live, outcome)

/** Compares the result of an apply after its conversion to another API version. */
export const compareConverted = (root: StructTopology, live: Members, outcome: Members): Difference => compareSent(root, live, outcome)

const noDifference: Difference = { changed: undefined, removed: undefined }
const replaced: Difference = { changed: leaf, removed: undefined }

const compareLeaves = (left: unknown, right: unknown): Difference => (isEqual(left, right) ? noDifference : replaced)
const compareAppliedAtomics: Compare = (node, left, right) => (equalsSerialized(node, left, right) ? noDifference : replaced)
const compareSerializedAtomics: Compare = (node, left, right) => (serializeEqually(node, left, right) ? noDifference : replaced)

const compareSerialized = comparer(serializedMember, compareSerializedAtomics)
const compareSent = comparer(sentMember)
const compareResult = comparer(sentMember, compareAppliedAtomics)

type Compare = (node: Topology, left: unknown, right: unknown) => Difference

/** Compares `left` as serialized with `right` as `read` returns its members. */
function comparer(read: ReadMember, compareAtomics: Compare = (_, left, right) => compareLeaves(left, right)): Compare {
  const compareOptional: Compare = (node, left, right) => {
    if (left === undefined) return right === undefined ? noDifference : { changed: allPathsOf(node, right, read), removed: undefined }
    if (right === undefined) return { changed: undefined, removed: allPathsOf(node, left, serializedMember) }
    return left === right ? noDifference : comparePresent(node, left, right)
  }

  const comparePresent: Compare = (node, left, right) => {
    if (node.isAtomic) return compareAtomics(node, left, right)
    if (node.kind === 'list') return compareLists(node, left, right)
    if (!isRecord(left) || !isRecord(right)) return compareDifferentTypes(node, left, right)
    if (node.kind === 'struct') return compareStructs(node, left, right)
    return compareMaps(node.kind === 'map' ? node.value : node, left, right)
  }

  const compareStructs = (node: StructTopology, left: Members, right: Members): Difference => {
    const draft: DraftDifference = { changed: undefined, removed: undefined }
    let sharedCount = 0
    for (const name in right) {
      const before = own(left, name)
      if (before !== undefined) sharedCount++
      if (before === right[name]) continue
      const field = node.fields.get(name)
      if (field !== undefined)
        addDifference(draft, field.element, compareOptional(field.node, serializedMember(field, left), read(field, right)))
      else if (node.rest !== undefined) addDifference(draft, fieldElement(name), compareOptional(node.rest, before, right[name]))
    }
    if (hasMoreMembers(left, sharedCount))
      for (const name in left) {
        if (own(right, name) !== undefined) continue
        const field = node.fields.get(name)
        if (field !== undefined)
          addDifference(draft, field.element, compareOptional(field.node, serializedMember(field, left), read(field, right)))
        else if (node.rest !== undefined) addDifference(draft, fieldElement(name), compareOptional(node.rest, left[name], undefined))
      }
    return toDifference(draft)
  }

  const compareMaps = (node: Topology, left: Members, right: Members): Difference => {
    const draft: DraftDifference = { changed: undefined, removed: undefined }
    let sharedCount = 0
    for (const name in right) {
      const before = own(left, name)
      if (before !== undefined) sharedCount++
      if (before !== right[name]) addDifference(draft, fieldElement(name), compareOptional(node, before, right[name]))
    }
    if (hasMoreMembers(left, sharedCount))
      for (const name in left)
        if (own(right, name) === undefined) addDifference(draft, fieldElement(name), compareOptional(node, left[name], undefined))
    return toDifference(draft)
  }

  const compareLists = (node: ListTopology, left: unknown, right: unknown): Difference => {
    const before = itemsOf(left)
    const after = itemsOf(right)
    if (before === undefined || after === undefined) return compareLeaves(left, right)
    // An empty list differs from null, because the manager that sent the empty list owns it.
    if (before.length === 0 && after.length === 0) return compareLeaves(left, right)
    requireDistinct(node, after)
    const items: ItemDifference[] = []
    const add = (item: unknown, difference: Difference): void => {
      if (difference !== noDifference) items.push({ item, difference })
    }
    if (isSameOrder(node, before, after))
      for (let i = 0; i < after.length; i++) add(after[i], compareOptional(node.item, before[i], after[i]))
    else {
      const beforeByElement = indexItems(node, before)
      const afterByElement = indexItems(node, after)
      for (const [element, item] of afterByElement) add(item, compareOptional(node.item, beforeByElement.get(element), item))
      for (const [element, item] of beforeByElement)
        if (!afterByElement.has(element)) add(item, compareOptional(node.item, item, undefined))
    }
    return toListDifference(node, items)
  }

  /** Compares values of different types, or null with a value. */
  const compareDifferentTypes: Compare = (node, left, right) => {
    const removed = pathsWithin(node, left, serializedMember)
    const added = pathsWithin(node, right, read)
    // Between null and a value with members, only the members differ; between null and a value without members, the field itself does.
    const isReplaced = removed === undefined && added === undefined ? !isEqual(left, right) : left !== null && right !== null
    return { changed: isReplaced ? union(leaf, added) : added, removed }
  }

  return compareOptional
}

const noItems: readonly unknown[] = []

const itemsOf = (value: unknown): readonly unknown[] | undefined => (Array.isArray(value) ? value : value === null ? noItems : undefined)

interface DraftDifference {
  changed: Child[] | undefined
  removed: Child[] | undefined
}

function addDifference(draft: DraftDifference, element: string, { changed, removed }: Difference): void {
  if (changed !== undefined) {
    draft.changed ??= []
    draft.changed.push({ element, node: changed })
  }
  if (removed !== undefined) {
    draft.removed ??= []
    draft.removed.push({ element, node: removed })
  }
}

function toDifference(draft: DraftDifference): Difference {
  if (draft.changed === undefined && draft.removed === undefined) return noDifference
  return {
    changed: draft.changed && nodeOf(false, inOrder(draft.changed)),
    removed: draft.removed && nodeOf(false, inOrder(draft.removed)),
  }
}

interface ItemDifference {
  readonly item: unknown
  readonly difference: Difference
}

function toListDifference(list: ListTopology, items: ItemDifference[]): Difference {
  if (items.length === 0) return noDifference
  items.sort((a, b) => compareItems(list, a.item, b.item))
  const draft: DraftDifference = { changed: undefined, removed: undefined }
  for (const { item, difference } of items) addDifference(draft, elementOf(list, item), difference)
  return { changed: draft.changed && nodeOf(false, draft.changed), removed: draft.removed && nodeOf(false, draft.removed) }
}

function hasMoreMembers(value: Members, count: number): boolean {
  for (const _ in value) if (--count < 0) return true
  return false
}

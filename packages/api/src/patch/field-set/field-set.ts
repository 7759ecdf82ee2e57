// A set of field paths as an immutable trie, in the very shape of `fieldsV1`, so that what is stored needs no decoding: a child
// without members of its own is a path that is in the set, and `.` says the same of a child that has some. For instance
// `{ 'f:data': { '.': {}, 'f:k': {} } }` holds `.data` and `.data.k`; `{ 'f:data': { 'f:k': {} } }` only `.data.k`.
// Members stand in canonical order. The empty set is undefined. Whatever an operation did not touch is shared, not copied.

import { shorten } from '../base/shorten.js'
import { compareRanked, printElement, type RankedElement, rankElement, self } from './path-element.js'

export interface FieldSet {
  readonly [element: string]: FieldSet
}

type Draft = { [element: string]: FieldSet }

export const leaf: FieldSet = Object.freeze({})

export const isLeaf = (node: FieldSet): boolean => {
  for (const _ in node) return false
  return true
}

/** Whether the path that leads to this node is in the set. */
export const isMember = (node: FieldSet): boolean => {
  // In canonical order `.` is the first.
  for (const element in node) return element === self
  return true
}

/** The set as it shall be: what came from outside as `{}` is empty. */
export const nonEmpty = (set: FieldSet | undefined): FieldSet | undefined => (set === undefined || isLeaf(set) ? undefined : set)

/** A node from its children, which are in canonical order; undefined if there is nothing. */
export function nodeOf(member: boolean, children: readonly Child[]): FieldSet | undefined {
  if (children.length === 0) return member ? leaf : undefined
  const out: Draft = {}
  if (member) out[self] = leaf
  for (const child of children) out[child.element] = child.node
  return out
}

export interface Child {
  readonly element: string
  readonly node: FieldSet
}

export function union(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return join(a, b)
}

function join(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a
  // Of two that say the same the first stays: what it stands in need not be copied then.
  if (isLeaf(a)) return isLeaf(b) ? a : isMember(b) ? b : { [self]: leaf, ...b }
  if (isLeaf(b)) return isMember(a) ? a : { [self]: leaf, ...a }
  let out: Draft | undefined
  const added: string[] = []
  for (const element in b) {
    const left = a[element]
    const right = b[element] as FieldSet
    if (left === undefined) added.push(element)
    else {
      const both = join(left, right)
      if (both !== left) {
        out ??= { ...a }
        out[element] = both
      }
    }
  }
  return added.length === 0 ? (out ?? a) : interleave(out ?? a, b, added)
}

/** All of `a`, and what only `b` has, in canonical order. */
function interleave(a: FieldSet, b: FieldSet, added: readonly string[]): FieldSet {
  const out: Draft = {}
  let next = 0
  let due: RankedElement | undefined
  for (const element in a) {
    if (next < added.length) {
      const rank = rankElement(element)
      due ??= rankElement(added[next] as string)
      while (due !== undefined && compareRanked(due, rank) < 0) {
        out[due.element] = b[due.element] as FieldSet
        next++
        due = next < added.length ? rankElement(added[next] as string) : undefined
      }
    }
    out[element] = a[element] as FieldSet
  }
  for (; next < added.length; next++) out[added[next] as string] = b[added[next] as string] as FieldSet
  return out
}

const fewSets = 16

/** What any of the sets holds. Neighbours are joined first, for a set that grows by one after the other is copied each time. */
export function unionAll(sets: readonly (FieldSet | undefined)[]): FieldSet | undefined {
  if (sets.length <= fewSets) {
    let joined: FieldSet | undefined
    for (const set of sets) joined = union(joined, set)
    return joined
  }
  let all = sets
  while (all.length > 2) all = all.flatMap((set, i) => (i % 2 === 0 ? [union(set, all[i + 1])] : []))
  return union(all[0], all[1])
}

/** The paths of `a` that are not in `b`. */
export const difference = (a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined =>
  a === undefined || b === undefined ? a : subtract(a, b, exactly)

/** The paths of `a` that are neither in `b` nor below a path of `b`. */
export const differenceBelow = (a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined =>
  a === undefined || b === undefined ? a : subtract(a, b, withAllBelow)

type Removal = (a: FieldSet, b: FieldSet) => FieldSet | undefined
const exactly: Removal = (a, b) => subtract(a, b, exactly)
const withAllBelow: Removal = (a, b) => (isMember(b) ? undefined : subtract(a, b, withAllBelow))

function subtract(a: FieldSet, b: FieldSet, remove: Removal): FieldSet | undefined {
  if (isLeaf(a)) return isMember(b) ? undefined : a
  const wasMember = isMember(a)
  const member = wasMember && !isMember(b)
  // What is taken away is mostly little and hits nothing, so that it is looked at and not what it is taken from.
  let changed: Map<string, FieldSet | undefined> | undefined
  for (const element in b) {
    const node = element === self ? undefined : a[element]
    if (node === undefined) continue
    const left = remove(node, b[element] as FieldSet)
    if (left === node) continue
    changed ??= new Map()
    changed.set(element, left)
  }
  if (changed === undefined && member === wasMember) return a
  const kept: Child[] = []
  for (const element in a) {
    if (element === self) continue
    const node = changed?.has(element) ? changed.get(element) : a[element]
    if (node !== undefined) kept.push({ element, node })
  }
  return nodeOf(member, kept)
}

/** The paths that are in both. */
export const intersection = (a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined =>
  a === undefined || b === undefined ? undefined : common(a, b, false)

function common(a: FieldSet, b: FieldSet, member: boolean): FieldSet | undefined {
  const children: Child[] = []
  for (const element in a) {
    const other = b[element]
    if (other === undefined || element === self) continue
    const left = a[element] as FieldSet
    const node = common(left, other, isMember(left) && isMember(other))
    if (node !== undefined) children.push({ element, node })
  }
  return nodeOf(member, children)
}

/** Whether any path is in both. */
export const intersects = (a: FieldSet | undefined, b: FieldSet | undefined): boolean =>
  a !== undefined && b !== undefined && isShared(a, b)

function isShared(a: FieldSet, b: FieldSet): boolean {
  for (const element in b) {
    const left = a[element]
    if (left === undefined || element === self) continue
    const right = b[element] as FieldSet
    if ((isMember(left) && isMember(right)) || isShared(left, right)) return true
  }
  return false
}

/** Whether every path of `a` is in `b`. */
export function isSubset(a: FieldSet | undefined, b: FieldSet | undefined): boolean {
  return a === undefined || (b !== undefined && isWithin(a, b))
}

function isWithin(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  for (const element in a) {
    if (element === self) continue
    const node = a[element] as FieldSet
    const other = b[element]
    if (other === undefined || (isMember(node) && !isMember(other)) || !isWithin(node, other)) return false
  }
  return true
}

/** Whether both hold the same paths. */
export function isSameSet(a: FieldSet | undefined, b: FieldSet | undefined): boolean {
  if (a === b) return true
  if (a === undefined || b === undefined) return false
  let count = 0
  for (const element in a) {
    const other = b[element]
    if (other === undefined || !isSameSet(a[element], other)) return false
    count++
  }
  for (const _ in b) count--
  return count === 0
}

export const hasPath = (set: FieldSet | undefined, path: readonly string[]): boolean => {
  let node = set
  for (const element of path) node = node?.[element]
  return node !== undefined && isMember(node)
}

/** A set of one path. */
export const pathSet = (path: readonly string[]): FieldSet => path.reduceRight<FieldSet>((node, element) => ({ [element]: node }), leaf)

/** How many paths there are. */
export function countPaths(set: FieldSet | undefined): number {
  let count = 0
  for (const element in set) {
    if (element === self) continue
    const node = set[element] as FieldSet
    count += (isMember(node) ? 1 : 0) + countPaths(node)
  }
  return count
}

/** Paths as conflicts print them, the members of a node before what lies below them: `.data.k`, `.spec.ports[port=80].name`. */
export function printPaths(set: FieldSet | undefined, most: number): readonly string[] {
  const paths: string[] = []
  if (set !== undefined) addPaths(paths, { set, prefix: '', most })
  return paths.map((path) => shorten(path))
}

function addPaths(
  paths: string[],
  { set, prefix, most }: { readonly set: FieldSet; readonly prefix: string; readonly most: number },
): void {
  for (const element in set) {
    if (paths.length >= most) return
    if (element !== self && isMember(set[element] as FieldSet)) paths.push(prefix + printElement(element))
  }
  for (const element in set) {
    if (paths.length >= most) return
    const node = set[element] as FieldSet
    if (element !== self && !isLeaf(node)) addPaths(paths, { set: node, prefix: prefix + printElement(element), most })
  }
}

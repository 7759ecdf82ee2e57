// Set of field paths: an immutable trie in the format of `fieldsV1`, where `{"f:data":{".":{},"f:k":{}}}` contains `.data` and `.data.k`.
// Leaves and nodes with `.` are members. Children have the order of managedFields: fields, keyed items, values, indexes. Empty: undefined.

import { shorten } from '../../base/shorten.js'
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

export const isMember = (node: FieldSet): boolean => {
  for (const element in node) return element === self
  return true
}

export const nonEmpty = (set: FieldSet | undefined): FieldSet | undefined => (set === undefined || isLeaf(set) ? undefined : set)

/** Children must be in the order of managedFields. */
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
  return unionOfNodes(a, b)
}

function unionOfNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a
  if (isLeaf(a)) return isLeaf(b) ? a : isMember(b) ? b : { [self]: leaf, ...b }
  if (isLeaf(b)) return isMember(a) ? a : { [self]: leaf, ...a }
  let out: Draft | undefined
  const added: string[] = []
  for (const element in b) {
    const left = a[element]
    const right = b[element] as FieldSet
    if (left === undefined) added.push(element)
    else {
      const merged = unionOfNodes(left, right)
      if (merged !== left) {
        out ??= { ...a }
        out[element] = merged
      }
    }
  }
  return added.length === 0 ? (out ?? a) : interleave(out ?? a, b, added)
}

/** Adds elements of `b` at their place in the order of managedFields. */
function interleave(a: FieldSet, b: FieldSet, added: readonly string[]): FieldSet {
  const out: Draft = {}
  let next = 0
  let nextAdded: RankedElement | undefined
  for (const element in a) {
    if (next < added.length) {
      const rank = rankElement(element)
      nextAdded ??= rankElement(added[next] as string)
      while (nextAdded !== undefined && compareRanked(nextAdded, rank) < 0) {
        out[nextAdded.element] = b[nextAdded.element] as FieldSet
        next++
        nextAdded = next < added.length ? rankElement(added[next] as string) : undefined
      }
    }
    out[element] = a[element] as FieldSet
  }
  for (; next < added.length; next++) out[added[next] as string] = b[added[next] as string] as FieldSet
  return out
}

/** Maximum number of sets that are joined one after another. */
const fewSets = 16

/** Joins more than 16 sets in pairs: adding one by one would take quadratic time. */
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

export const difference = (a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined =>
  a === undefined || b === undefined ? a : subtract(a, b, exactPath)

/** Paths of `a` that are neither in `b` nor below a path of `b`. */
export const differenceBelow = (a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined =>
  a === undefined || b === undefined ? a : subtract(a, b, withDescendants)

type Removal = (a: FieldSet, b: FieldSet) => FieldSet | undefined
const exactPath: Removal = (a, b) => subtract(a, b, exactPath)
const withDescendants: Removal = (a, b) => (isMember(b) ? undefined : subtract(a, b, withDescendants))

function subtract(a: FieldSet, b: FieldSet, remove: Removal): FieldSet | undefined {
  if (isLeaf(a)) return isMember(b) ? undefined : a
  const wasMember = isMember(a)
  const member = wasMember && !isMember(b)
  let changed: Map<string, FieldSet | undefined> | undefined
  for (const element in b) {
    const node = element === self ? undefined : a[element]
    if (node === undefined) continue
    const remaining = remove(node, b[element] as FieldSet)
    if (remaining === node) continue
    changed ??= new Map()
    changed.set(element, remaining)
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

export const intersection = (a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined =>
  a === undefined || b === undefined ? undefined : intersect(a, b, false)

function intersect(a: FieldSet, b: FieldSet, member: boolean): FieldSet | undefined {
  const children: Child[] = []
  for (const element in a) {
    const other = b[element]
    if (other === undefined || element === self) continue
    const left = a[element] as FieldSet
    const node = intersect(left, other, isMember(left) && isMember(other))
    if (node !== undefined) children.push({ element, node })
  }
  return nodeOf(member, children)
}

export const intersects = (a: FieldSet | undefined, b: FieldSet | undefined): boolean =>
  a !== undefined && b !== undefined && haveCommonPath(a, b)

function haveCommonPath(a: FieldSet, b: FieldSet): boolean {
  for (const element in b) {
    const left = a[element]
    if (left === undefined || element === self) continue
    const right = b[element] as FieldSet
    if ((isMember(left) && isMember(right)) || haveCommonPath(left, right)) return true
  }
  return false
}

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

export const pathSet = (path: readonly string[]): FieldSet => path.reduceRight<FieldSet>((node, element) => ({ [element]: node }), leaf)

export function countPaths(set: FieldSet | undefined): number {
  let count = 0
  for (const element in set) {
    if (element === self) continue
    const node = set[element] as FieldSet
    count += (isMember(node) ? 1 : 0) + countPaths(node)
  }
  return count
}

/** Paths as in conflict messages: `.data.k`, `.spec.ports[port=80].name`. */
export function printPaths(set: FieldSet | undefined, limit: number): readonly string[] {
  const paths: string[] = []
  if (set !== undefined) addPaths(paths, { set, prefix: '', limit })
  return paths.map((path) => shorten(path))
}

function addPaths(
  paths: string[],
  { set, prefix, limit }: { readonly set: FieldSet; readonly prefix: string; readonly limit: number },
): void {
  for (const element in set) {
    if (paths.length >= limit) return
    if (element !== self && isMember(set[element] as FieldSet)) paths.push(prefix + printElement(element))
  }
  for (const element in set) {
    if (paths.length >= limit) return
    const node = set[element] as FieldSet
    if (element !== self && !isLeaf(node)) addPaths(paths, { set: node, prefix: prefix + printElement(element), limit })
  }
}

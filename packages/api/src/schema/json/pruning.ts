// Pruning of unknown fields: values of the wrong type lose their members, and pruned paths are sorted for messages. Unknown fields of
// well-typed objects are dropped in read.ts.

import { compareText } from '../../base/text-order.js'
import { resolve, type SchemaNode, type StructNode } from '../node.js'
import { type PathElement, printPath } from '../path.js'

type Path = readonly PathElement[]

interface PruningReport {
  readonly path: PathElement[]
  leave(depth: number): void
  reportUnknown(): void
}

/** True for a number that kube-apiserver decodes as int64; other numbers are float64. Integers beyond 2^53 are parsed as bigints. */
export const isInt64 = (value: number | bigint): boolean =>
  typeof value === 'number' ? Number.isSafeInteger(value) : BigInt.asIntN(64, value) === value

/** Rounds integers beyond int64 to float64, at any depth. Returns the same value if there are none. */
export function roundLargeIntegers(value: unknown): unknown {
  if (typeof value === 'bigint') return isInt64(value) ? value : Number(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map(roundLargeIntegers)
    return items.every((item, i) => item === value[i]) ? value : items
  }
  let rounded: Map<string, unknown> | undefined
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name]
    const next = roundLargeIntegers(member)
    if (next === member) continue
    rounded ??= new Map(Object.entries(value))
    rounded.set(name, next)
  }
  return rounded === undefined ? value : Object.fromEntries(rounded)
}

/** Drops and reports all members of objects, also in lists. For values whose type differs from the schema. */
export function pruneMembers(value: unknown, report: PruningReport): unknown {
  if (typeof value === 'bigint') return roundLargeIntegers(value)
  if (typeof value !== 'object' || value === null) return value
  const depth = report.path.length
  if (Array.isArray(value)) {
    const items = value.map((item, i) => {
      report.path[depth] = i
      return pruneMembers(item, report)
    })
    report.leave(depth)
    return items
  }
  for (const name of Object.keys(value)) {
    report.path[depth] = name
    report.reportUnknown()
  }
  report.leave(depth)
  return {}
}

/** Sorts by member name, the order in documents that were converted or merged. */
export const inMemberOrder = (paths: readonly Path[]): readonly Path[] => (paths.length < 2 ? paths : [...paths].sort(compareMembers))

function compareMembers(a: Path, b: Path): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const order = compareElements(a[i] as PathElement, b[i] as PathElement)
    if (order !== 0) return order
  }
  return a.length - b.length
}

const compareElements = (a: PathElement, b: PathElement): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : compareText(String(a), String(b))

export const inTextOrder = (paths: readonly Path[]): readonly Path[] =>
  paths.length < 2
    ? paths
    : paths
        .map((path) => ({ path, text: printPath(path) }))
        .sort((a, b) => compareText(a.text, b.text))
        .map(({ path }) => path)

/** Sorts like kube-apiserver for custom resources: metadata, then other fields, then metadata of embedded objects. */
export function inPruningOrder(root: StructNode, metadata: SchemaNode, paths: readonly Path[]): readonly Path[] {
  if (paths.length === 0) return paths
  const ownMetadata: Path[] = []
  const pruned: Path[] = []
  const embeddedMetadata: Path[] = []
  for (const path of paths) {
    const depth = depthOfMetadata(root, metadata, path)
    if (depth === undefined) pruned.push(path)
    else if (depth === 1) ownMetadata.push(path)
    else embeddedMetadata.push(withKeysInBrackets(root, path))
  }
  return [...inTextOrder(ownMetadata), ...inTextOrder(pruned), ...inTextOrder(embeddedMetadata)]
}

/** Joins keys of maps with the element before: `a[key].b`, as kube-apiserver prints paths of embedded metadata. */
function withKeysInBrackets(root: StructNode, path: Path): Path {
  const joined: PathElement[] = []
  let node: SchemaNode | undefined = root
  for (const element of path) {
    const parent: SchemaNode | undefined = node === undefined ? undefined : resolve(node)
    if (parent?.type === 'map') joined.push(`${printPath(joined.splice(0))}[${element}]`)
    else joined.push(element)
    node = parent === undefined ? undefined : childNode(parent, element)
  }
  return joined
}

/** Returns the depth of the metadata that contains the path; undefined outside metadata. */
function depthOfMetadata(root: StructNode, metadata: SchemaNode, path: Path): number | undefined {
  let node: SchemaNode | undefined = root
  for (let depth = 0; depth < path.length; depth++) {
    if (depth > 0 && isMetadata(node, metadata)) return depth
    node = childNode(node, path[depth] as PathElement)
    if (node === undefined) return undefined
  }
  return undefined
}

/** Compares the fields: metadata of embedded objects is another node with the same fields. */
const isMetadata = (node: SchemaNode, metadata: SchemaNode): boolean =>
  node.type === 'struct' && metadata.type === 'struct' && node.fields === metadata.fields

function childNode(parent: SchemaNode, element: PathElement): SchemaNode | undefined {
  const node = resolve(parent)
  if (typeof element === 'number') return node.type === 'list' ? resolve(node.item) : undefined
  if (node.type === 'map') return resolve(node.value)
  if (node.type !== 'struct') return undefined
  const member = Object.hasOwn(node.fields, element) ? node.fields[element]?.node : node.rest
  return member === undefined ? undefined : resolve(member)
}

// The order in which unknown members are told, where it is not that of the document.

import { compareText } from '../base/text-order.js'
import { resolve, type SchemaNode, type StructNode } from './node.js'
import { type PathElement, printPath } from './path.js'

type Path = readonly PathElement[]

/** As a document has them whose members are sorted: what is converted or merged before it is read comes in this order. */
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

/** By what they are called. */
export const inTextOrder = (paths: readonly Path[]): readonly Path[] =>
  paths.length < 2
    ? paths
    : paths
        .map((path) => ({ path, text: printPath(path) }))
        .sort((a, b) => compareText(a.text, b.text))
        .map(({ path }) => path)

/**
 * Of a custom kind: first those of its metadata, which is read before the schema is looked at, then what the schema does not know, then
 * those of metadata of objects inside of it; each of them by what they are called.
 */
export function inPruningOrder(root: StructNode, metadata: SchemaNode, paths: readonly Path[]): readonly Path[] {
  if (paths.length < 2) return paths
  const own: Path[] = []
  const pruned: Path[] = []
  const embedded: Path[] = []
  for (const path of paths) {
    const depth = depthOfMetadata(root, metadata, path)
    const group = depth === undefined ? pruned : depth === 1 ? own : embedded
    group.push(path)
  }
  return [...inTextOrder(own), ...inTextOrder(pruned), ...inTextOrder(embedded)]
}

/** How far down a path is metadata of an object; undefined where there is none on it. */
function depthOfMetadata(root: StructNode, metadata: SchemaNode, path: Path): number | undefined {
  let node: SchemaNode | undefined = root
  for (let depth = 0; depth < path.length; depth++) {
    if (depth > 0 && isMetadata(node, metadata)) return depth
    node = below(node, path[depth] as PathElement)
    if (node === undefined) return undefined
  }
  return undefined
}

/** Inside of custom objects it is read more loosely, but has the same fields. */
const isMetadata = (node: SchemaNode, metadata: SchemaNode): boolean =>
  node.type === 'struct' && metadata.type === 'struct' && node.fields === metadata.fields

function below(parent: SchemaNode, element: PathElement): SchemaNode | undefined {
  const node = resolve(parent)
  if (typeof element === 'number') return node.type === 'list' ? resolve(node.item) : undefined
  if (node.type === 'map') return resolve(node.value)
  if (node.type !== 'struct') return undefined
  const member = Object.hasOwn(node.fields, element) ? node.fields[element]?.node : node.rest
  return member === undefined ? undefined : resolve(member)
}

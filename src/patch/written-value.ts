// A value that is owned as one, as the kind writes it: with the nulls and zeros of fields that nobody set. A configuration that an apply
// compares with it has none of those unless its author spelled them out, so that the two differ.

import type { StructTopology, Topology } from '../schema/topology.js'
import { type Members, writtenMember } from './members.js'
import { isEqual, isRecord, setOwn } from './plain.js'

/** Whether what a live value says, as it is written, is what a configuration says of it. */
export const isSpelledOut = (node: Topology, live: unknown, config: unknown): boolean =>
  isEqual(adds(node) ? written(node, live) : live, config)

/** Whether two values are written alike, whichever of them has the nulls and zeros that the kind adds. */
export const isWrittenAlike = (node: Topology, live: unknown, next: unknown): boolean =>
  isEqual(live, next) || (adds(node) && isEqual(written(node, live), written(node, next)))

function written(node: Topology, value: unknown): unknown {
  if (!adds(node)) return value
  if (node.kind === 'list') return Array.isArray(value) ? value.map((item) => written(node.item, item)) : value
  if (!isRecord(value)) return value
  if (node.kind === 'struct') return writtenStruct(node, value)
  if (node.kind !== 'map') return value
  const out: { [name: string]: unknown } = {}
  for (const name in value) setOwn(out, name, written(node.value, value[name]))
  return out
}

function writtenStruct(node: StructTopology, value: Members): Members {
  const out: { [name: string]: unknown } = { ...value }
  for (const field of node.ordered) {
    const member = writtenMember(field, value)
    if (member === undefined) delete out[field.name]
    else out[field.name] = written(field.node, member)
  }
  return out
}

const known = new WeakMap<Topology, boolean>()

/** Whether a value of this shape can be written with more than it holds. */
function adds(node: Topology): boolean {
  const found = known.get(node)
  if (found !== undefined) return found
  // What contains itself adds nothing by that.
  known.set(node, false)
  const is = findOut(node)
  known.set(node, is)
  return is
}

function findOut(node: Topology): boolean {
  switch (node.kind) {
    case 'scalar':
    case 'any':
      return false
    case 'list':
      return adds(node.item)
    case 'map':
      return adds(node.value)
    case 'struct':
      return node.implied.length > 0 || node.ordered.some((field) => adds(field.node))
  }
}

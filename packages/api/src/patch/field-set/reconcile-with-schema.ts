// Readings of a field set that need the schema: making named fields members, and following a change of the schema's topology.

import type { Topology } from '../schema/topology.js'
import { type Child, type FieldSet, isLeaf, isMember, leaf, nodeOf } from './field-set.js'
import { self } from './path-element.js'

/** What an element leads to; undefined where the schema does not say. */
export function below(node: Topology, element: string): Topology | undefined {
  switch (node.kind) {
    case 'struct':
      return node.elements.get(element)?.node ?? (element.startsWith('f:') ? node.rest : undefined)
    case 'map':
      return node.value
    case 'list':
      return element.startsWith('k:') ? node.item : undefined
    default:
      return undefined
  }
}

/**
 * The set with every named field on the way to a path: a struct's fields are usually not members themselves, but a field all of
 * whose parts go shall go with them. Keys of maps and items of lists are members only where somebody owns them.
 */
export function withNamedFields(set: FieldSet | undefined, node: Topology | undefined): FieldSet | undefined {
  if (set === undefined) return undefined
  const children: Child[] = []
  for (const element in set) {
    if (element === self) continue
    const child = set[element] as FieldSet
    if (isLeaf(child)) {
      children.push({ element, node: leaf })
      continue
    }
    const inner = withNamedFields(child, node && below(node, element)) ?? leaf
    const named = node?.kind === 'struct' && node.elements.has(element)
    children.push({ element, node: named && !isMember(inner) ? { [self]: leaf, ...inner } : inner })
  }
  return nodeOf(isMember(set), children)
}

/** The sets of owners are kept from write to write: those that follow a topology, each with it. */
const following = new WeakMap<FieldSet, Topology>()

/** Whoever owned parts of what has become one value owns the value. The reverse change infers no owners. */
export function reconciled(set: FieldSet, node: Topology): FieldSet {
  if (following.get(set) === node) return set
  const out = reconcile(set, node)
  following.set(out, node)
  return out
}

function reconcile(set: FieldSet, node: Topology): FieldSet {
  let out: { [element: string]: FieldSet } | undefined
  for (const element in set) {
    const child = set[element] as FieldSet
    const target = element === self ? undefined : below(node, element)
    if (target === undefined) continue
    const next = !target.isOne ? reconcile(child, target) : isLeaf(child) ? child : leaf
    if (next === child) continue
    out ??= { ...set }
    out[element] = next
  }
  return out ?? set
}

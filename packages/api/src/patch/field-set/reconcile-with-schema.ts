// Adapts field sets to a schema in which values became atomic, and adds the struct fields that contain paths of a set.

import type { Topology } from '../../schema/topology.js'
import { type Child, type FieldSet, isLeaf, isMember, leaf, nodeOf } from './field-set.js'
import { self } from './path-element.js'

export function childTopology(node: Topology, element: string): Topology | undefined {
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

/** Adds the struct fields that contain paths of the set, so that a field is removed together with the last of its parts. */
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
    const inner = withNamedFields(child, node && childTopology(node, element)) ?? leaf
    const isNamedField = node?.kind === 'struct' && node.elements.has(element)
    children.push({ element, node: isNamedField && !isMember(inner) ? { [self]: leaf, ...inner } : inner })
  }
  return nodeOf(isMember(set), children)
}

/** Topology (merge rules of a schema) with which a set was last reconciled. */
const lastTopology = new WeakMap<FieldSet, Topology>()

/** If a value became atomic, owners of its parts own the value. If a value is no longer atomic, its parts get no owners. */
export function reconcileFieldSet(set: FieldSet, node: Topology): FieldSet {
  if (lastTopology.get(set) === node) return set
  const out = reconcile(set, node)
  lastTopology.set(out, node)
  return out
}

function reconcile(set: FieldSet, node: Topology): FieldSet {
  let out: { [element: string]: FieldSet } | undefined
  for (const element in set) {
    const child = set[element] as FieldSet
    const target = element === self ? undefined : childTopology(node, element)
    if (target === undefined) continue
    const next = !target.isAtomic ? reconcile(child, target) : isLeaf(child) ? child : leaf
    if (next === child) continue
    out ??= { ...set }
    out[element] = next
  }
  return out ?? set
}

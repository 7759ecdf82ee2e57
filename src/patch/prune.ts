// What an applier no longer wants goes from the object, unless somebody else owns it or nobody ever said anything about it.

import type { StructTopology, Topology } from '../schema/topology.js'
import { type Child, type FieldSet, isMember, isSubset, leaf, nodeOf, unionAll } from './field-set.js'
import { type Owner, ownerOf } from './managed-entries.js'
import type { Members } from './members.js'
import { self } from './path-element.js'
import { pruneAcrossVersions } from './prune-versions.js'
import { removeFields } from './remove.js'
import { below, withNamedFields } from './set-by-schema.js'
import type { KindVersions } from './versions.js'

export interface PruneInput {
  readonly kind: KindVersions
  readonly topology: StructTopology
  readonly merged: Members
  /** Everybody but the applier. */
  readonly others: readonly Owner[]
  readonly applier: Owner
  /** All that the applier says, its name included: metadata that it names stay, whatever it no longer says in them. */
  readonly said: () => FieldSet | undefined
  /** What the applier owned before. */
  readonly last: Owner | undefined
}

export function prune({ kind, topology, merged, others, applier, said, last }: PruneInput): Members {
  if (last?.set === undefined) return merged
  const isOneVersion = last.apiVersion === kind.apiVersion && others.every((owner) => owner.apiVersion === kind.apiVersion)
  // Whoever wants all that it wanted before gives nothing up.
  if (isOneVersion && isSubset(last.set, applier.set)) return merged
  const owners = [...others, ownerOf(applier, said(), applier.time)]
  if (!isOneVersion) return pruneAcrossVersions(kind, { merged, owners, last: { ...last, set: last.set } })
  const owned = unionAll(owners.map((owner) => owner.set))
  return removeFields(topology, merged, abandoned(last.set, owned, topology))
}

/**
 * The paths of a set to be removed because nobody owns them any more. A named field lives as long as anything in it is owned; a key
 * of a map or an item of a list must be owned itself.
 */
export function abandoned(set: FieldSet, owned: FieldSet | undefined, node: Topology | undefined): FieldSet | undefined {
  const children: Child[] = []
  for (const element in set) {
    if (element === self) continue
    const child = set[element] as FieldSet
    const other = owned?.[element]
    const inner = node && below(node, element)
    const isNamed = node?.kind === 'struct' && node.elements.has(element)
    const isKept = other !== undefined && (isNamed || isMember(other))
    const gone = isKept ? abandoned(child, other, inner) : isNamed || isMember(child) ? leaf : withNamedFields(child, inner)
    if (gone !== undefined) children.push({ element, node: gone })
  }
  return nodeOf(false, children)
}

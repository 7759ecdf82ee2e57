// Removes fields that an applier no longer applies and that no other manager owns.

import { getOrInsert } from '../../base/recent-map.js'
import { type ListTopology, type StructTopology, structTopology, type Topology } from '../../schema/topology.js'
import { type Child, difference, type FieldSet, intersection, isMember, isSubset, leaf, nodeOf, unionAll } from '../field-set/field-set.js'
import { elementOf } from '../field-set/list-item-keys.js'
import { fieldElement, self } from '../field-set/path-element.js'
import { childTopology, withNamedFields } from '../field-set/reconcile-with-schema.js'
import { toFieldSet } from '../field-set/to-field-set.js'
import { isEmptyObject, isRecord, type Members, setOwn } from '../json-value.js'
import { type FieldOwner, ownerOf } from '../managed-fields/managed-fields-entries.js'
import { type KindVersions, objectAt } from '../managed-fields/ownable-fields.js'

interface PruneInput {
  readonly kind: KindVersions
  readonly topology: StructTopology
  readonly merged: Members
  readonly others: readonly FieldOwner[]
  readonly applier: FieldOwner
  /** All fields of the configuration, including unowned metadata, which is never pruned. */
  readonly appliedSet: () => FieldSet | undefined
  readonly last: FieldOwner | undefined
}

export function prune({ kind, topology, merged, others, applier, appliedSet, last }: PruneInput): Members {
  if (last?.set === undefined) return merged
  const isOneVersion = last.apiVersion === kind.apiVersion && others.every((owner) => owner.apiVersion === kind.apiVersion)
  // The applier still applies all of its fields.
  if (isOneVersion && isSubset(last.set, applier.set)) return merged
  const owners = [...others, ownerOf(applier, appliedSet(), applier.time)]
  if (!isOneVersion) return pruneAcrossVersions(kind, { merged, owners, last: { ...last, set: last.set } })
  const owned = unionAll(owners.map((owner) => owner.set))
  return removeFields(topology, merged, abandoned(last.set, owned, topology))
}

/** Fields of `set` to remove. A field stays while anything in it is owned; a map key or list item must be owned itself. */
function abandoned(set: FieldSet, owned: FieldSet | undefined, node: Topology | undefined): FieldSet | undefined {
  const children: Child[] = []
  for (const element in set) {
    if (element === self) continue
    const child = set[element] as FieldSet
    const other = owned?.[element]
    const inner = node && childTopology(node, element)
    const isNamed = node?.kind === 'struct' && node.elements.has(element)
    const isKept = other !== undefined && (isNamed || isMember(other))
    const abandonedSet = isKept ? abandoned(child, other, inner) : isNamed || isMember(child) ? leaf : withNamedFields(child, inner)
    if (abandonedSet !== undefined) children.push({ element, node: abandonedSet })
  }
  return nodeOf(false, children)
}

interface VersionedPrune {
  readonly merged: Members
  readonly owners: readonly FieldOwner[]
  readonly last: FieldOwner & { readonly set: FieldSet }
}

/** Prunes in the version of the last apply, and converts to the versions of the other owners. */
export function pruneAcrossVersions(kind: KindVersions, { merged, owners, last }: VersionedPrune): Members {
  const topology = topologyIn(kind, last.apiVersion)
  const object = objectAt(kind, merged, last.apiVersion)
  if (topology === undefined || object === undefined) return merged
  const lastSet = withNamedFields(last.set, topology)
  const kept = keepOwned(kind, { object, apiVersion: last.apiVersion, pruned: removeFields(topology, object, lastSet) }, owners)
  const pruned = removeFields(topology, object, intersection(removedFields(topology, object, kept), lastSet))
  return objectAt({ ...kind, apiVersion: last.apiVersion }, pruned, kind.apiVersion) ?? merged
}

interface Pruning {
  readonly object: Members
  readonly apiVersion: string
  readonly pruned: Members
}

/** Restores pruned fields that have an owner, one API version after another. */
function keepOwned(kind: KindVersions, pruning: Pruning, owners: readonly FieldOwner[]): Members {
  const byVersion = new Map<string, (FieldSet | undefined)[]>()
  for (const { apiVersion, set } of owners) getOrInsert(byVersion, apiVersion, () => []).push(set)
  const ownedInVersion = unionAll(byVersion.get(pruning.apiVersion) ?? [])
  let kept = keepFields(topologyIn(kind, pruning.apiVersion), pruning, ownedInVersion)
  for (const [apiVersion, sets] of byVersion) {
    if (apiVersion === pruning.apiVersion) continue
    const from = { ...kind, apiVersion: pruning.apiVersion }
    const object = objectAt(from, pruning.object, apiVersion)
    const pruned = objectAt(from, kept, apiVersion)
    if (object === undefined || pruned === undefined) continue
    const restored = keepFields(topologyIn(kind, apiVersion), { object, apiVersion, pruned }, unionAll(sets))
    kept = objectAt({ ...kind, apiVersion }, restored, pruning.apiVersion) ?? kept
  }
  return kept
}

/** The whole topology: metadata is kept because of its unowned fields, such as the name. */
function topologyIn(kind: KindVersions, apiVersion: string): StructTopology | undefined {
  const schema = apiVersion === kind.apiVersion ? kind.schema : kind.schemaFor?.(apiVersion)
  return schema && structTopology(schema)
}

function keepFields(topology: StructTopology | undefined, { object, pruned }: Pruning, owned: FieldSet | undefined): Members {
  if (topology === undefined || owned === undefined) return pruned
  return removeFields(topology, object, difference(removedFields(topology, object, pruned), withNamedFields(owned, topology)))
}

const removedFields = (topology: StructTopology, object: Members, pruned: Members): FieldSet | undefined =>
  difference(withNamedFields(toFieldSet(topology, object), topology), withNamedFields(toFieldSet(topology, pruned), topology))

const removeFields = (root: StructTopology, object: Members, set: FieldSet | undefined): Members =>
  set === undefined ? object : removeMembers(root, object, set)

/** A value that loses its last member or item becomes null, as in kube-apiserver. */
function removeIn(node: Topology, value: unknown, set: FieldSet): unknown {
  if (node.isAtomic || node.kind === 'scalar') return value
  const remaining =
    node.kind === 'list' ? Array.isArray(value) && removeItems(node, value, set) : isRecord(value) && removeMembers(node, value, set)
  if (remaining === false) return value
  return isEmptyObject(remaining) ? null : remaining
}

type MemberTopology = Exclude<Topology, { readonly kind: 'scalar' | 'list' }>

function removeMembers(node: MemberTopology, value: Members, set: FieldSet): Members {
  const out: { [name: string]: unknown } = {}
  for (const name in value) {
    const member = value[name]
    const inner = set[fieldElement(name)]
    if (inner === undefined) setOwn(out, name, member)
    else if (!isMember(inner)) {
      const child = memberNode(node, name)
      setOwn(out, name, child === undefined ? member : removeIn(child, member, inner))
    }
  }
  return out
}

const memberNode = (node: MemberTopology, name: string): Topology | undefined =>
  node.kind === 'map' ? node.value : node.kind === 'any' ? node : (node.fields.get(name)?.node ?? node.rest)

function removeItems(node: ListTopology, items: readonly unknown[], set: FieldSet): readonly unknown[] {
  return items.flatMap((item) => {
    const inner = set[elementOf(node, item)]
    if (inner === undefined) return [item]
    return isMember(inner) ? [] : [removeIn(node.item, item, inner)]
  })
}

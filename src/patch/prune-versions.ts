// Pruning where owners wrote in several versions of the kind: fields have other names there, so that the object itself, converted
// back and forth, has to tell what is owned.

import { getOrInsert } from '../base/get-or-insert.js'
import type { StructTopology } from '../schema/topology.js'
import { difference, type FieldSet, intersection, unionAll } from './field-set.js'
import type { Owner } from './managed-entries.js'
import type { Members } from './members.js'
import { removeFields } from './remove.js'
import { withNamedFields } from './set-by-schema.js'
import { setOf } from './set-of.js'
import { type KindVersions, objectAt, topologyAt } from './versions.js'

export interface VersionedPrune {
  readonly merged: Members
  readonly owners: readonly Owner[]
  readonly last: Owner & { readonly set: FieldSet }
}

export function pruneAcrossVersions(kind: KindVersions, { merged, owners, last }: VersionedPrune): Members {
  const topology = topologyIn(kind, last.apiVersion)
  const object = objectAt(kind, merged, last.apiVersion)
  if (topology === undefined || object === undefined) return merged
  const given = withNamedFields(last.set, topology)
  const kept = keepOwned(kind, { object, apiVersion: last.apiVersion, pruned: removeFields(topology, object, given) }, owners)
  const pruned = removeFields(topology, object, intersection(missing(topology, object, kept), given))
  return objectAt({ ...kind, apiVersion: last.apiVersion }, pruned, kind.apiVersion) ?? merged
}

interface Pruning {
  readonly object: Members
  /** The version of both. */
  readonly apiVersion: string
  readonly pruned: Members
}

/** Puts back what was pruned but has an owner, version by version; the result is in the version of the pruning. */
function keepOwned(kind: KindVersions, pruning: Pruning, owners: readonly Owner[]): Members {
  const byVersion = new Map<string, (FieldSet | undefined)[]>()
  for (const { apiVersion, set } of owners) getOrInsert(byVersion, apiVersion, () => []).push(set)
  const own = unionAll(byVersion.get(pruning.apiVersion) ?? [])
  let kept = keepFields(topologyIn(kind, pruning.apiVersion), pruning, own)
  for (const [apiVersion, sets] of byVersion) {
    if (apiVersion === pruning.apiVersion) continue
    const from = { ...kind, apiVersion: pruning.apiVersion }
    const object = objectAt(from, pruning.object, apiVersion)
    const pruned = objectAt(from, kept, apiVersion)
    if (object === undefined || pruned === undefined) continue
    const all = keepFields(topologyIn(kind, apiVersion), { object, apiVersion, pruned }, unionAll(sets))
    kept = objectAt({ ...kind, apiVersion }, all, pruning.apiVersion) ?? kept
  }
  return kept
}

function topologyIn(kind: KindVersions, apiVersion: string): StructTopology | undefined {
  const topology = topologyAt(kind, apiVersion)
  return topology === 'unknown' ? undefined : topology
}

/** The object without what pruning removed, but with what the set says is owned. */
function keepFields(topology: StructTopology | undefined, { object, pruned }: Pruning, owned: FieldSet | undefined): Members {
  if (topology === undefined || owned === undefined) return pruned
  return removeFields(topology, object, difference(missing(topology, object, pruned), withNamedFields(owned, topology)))
}

/** The fields that an object has and its pruned form has not. */
const missing = (topology: StructTopology, object: Members, pruned: Members): FieldSet | undefined =>
  difference(withNamedFields(setOf(topology, object), topology), withNamedFields(setOf(topology, pruned), topology))

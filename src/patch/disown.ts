// Who still owns what after a write changed and removed fields: everybody loses what changed, in the version in which they wrote.

import { compare, compareConverted, compareOutcome, type Difference } from './compare.js'
import { difference, differenceBelow, type FieldSet } from './field-set.js'
import { type Owner, withSet } from './managed-entries.js'
import type { Members } from './members.js'
import { reconciled } from './set-by-schema.js'
import { type KindVersions, objectAt, topologyAt } from './versions.js'

export interface Write {
  readonly kind: KindVersions
  readonly live: Members | undefined
  readonly next: Members
  /** Fields that the endpoint does not write. */
  readonly ignored: FieldSet | undefined
  /** The outcome of an apply, in which nulls and zeros count that were spelled out. */
  readonly isOutcome: boolean
}

/** What a write changed, as seen in a version; undefined where the kind has no such version. */
export type DifferenceAt = (apiVersion: string) => Difference | 'unknown' | undefined

/** Compares at most once for each version. */
export function differences(write: Write): DifferenceAt {
  let own: { readonly difference: ReturnType<DifferenceAt> } | undefined
  let others: Map<string, ReturnType<DifferenceAt>> | undefined
  return (apiVersion) => {
    if (apiVersion === write.kind.apiVersion) {
      own ??= { difference: differenceAt(write, apiVersion) }
      return own.difference
    }
    others ??= new Map()
    if (!others.has(apiVersion)) others.set(apiVersion, differenceAt(write, apiVersion))
    return others.get(apiVersion)
  }
}

function differenceAt({ kind, live, next, ignored, isOutcome }: Write, apiVersion: string): Difference | 'unknown' | undefined {
  const topology = topologyAt(kind, apiVersion)
  if (topology === undefined || topology === 'unknown') return topology
  const before = live && objectAt(kind, live, apiVersion)
  const after = objectAt(kind, next, apiVersion)
  if (after === undefined || (before === undefined && live !== undefined)) return undefined
  const isOwn = apiVersion === kind.apiVersion
  const found =
    isOutcome && before !== undefined
      ? (isOwn ? compareOutcome : compareConverted)(topology, before, after)
      : compare(topology, before, after)
  return ignored === undefined
    ? found
    : { changed: differenceBelow(found.changed, ignored), removed: differenceBelow(found.removed, ignored) }
}

/** The set of an owner without what it lost. */
const without = (set: FieldSet | undefined, { changed, removed }: Difference): FieldSet | undefined =>
  difference(difference(set, changed), removed)

/** Owners whose sets follow the topology that the kind has now. */
export const reconcileOwners = (kind: KindVersions, owners: readonly Owner[]): readonly Owner[] =>
  mapOwners(owners, (owner) => {
    const topology = owner.set && topologyAt(kind, owner.apiVersion)
    if (owner.set === undefined || topology === undefined || topology === 'unknown') return owner
    return withSet(owner, reconciled(owner.set, topology))
  })

/** Owners of whom some are others; mostly none is. */
function mapOwners(owners: readonly Owner[], change: (owner: Owner) => Owner): readonly Owner[] {
  let out: Owner[] | undefined
  for (let i = 0; i < owners.length; i++) {
    const owner = owners[i] as Owner
    const next = change(owner)
    if (next === owner) continue
    out ??= [...owners]
    out[i] = next
  }
  return out ?? owners
}

/** What is left of owners when others write: all but those that wrote in a version that is not known any more. */
export function keepOwners(owners: readonly Owner[], differenceAt: DifferenceAt): readonly Owner[] {
  const kept: Owner[] = []
  for (const owner of owners) {
    const lost = differenceAt(owner.apiVersion)
    if (lost !== 'unknown') kept.push(lost === undefined ? owner : withSet(owner, without(owner.set, lost)))
  }
  return kept
}

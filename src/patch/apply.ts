// Server-side apply: the client says everything it has an opinion about, and the server finds out what that changes, who else
// owns it, and what the client has stopped saying.

import { structTopology } from '../schema/topology.js'
import { type Config, type ConfigInput, readConfig } from './apply-config.js'
import { compare } from './compare.js'
import { type Conflict, conflictError } from './conflicts.js'
import { type DifferenceAt, differences, reconcileOwners, without } from './disown.js'
import { difference, differenceBelow, type FieldSet, intersection, isSameSet, nonEmpty } from './field-set.js'
import { type ClientSideApply, claimedByAnnotation, refreshAnnotation } from './last-applied.js'
import { UnkeyedListError } from './list-items.js'
import {
  isSameOwner,
  type ManagedFieldsEntry,
  type Owner,
  type OwnerName,
  ownerOf,
  readStoredEntries,
  withSet,
  writeEntries,
} from './managed-entries.js'
import type { Members } from './members.js'
import { mergeConfig } from './merge.js'
import { changesUnowned, ownable, ownableTopology } from './ownable.js'
import { PatchError } from './patch-error.js'
import { prune } from './prune.js'

export interface ApplyInput extends ConfigInput {
  /** What is stored, in the version of the request; undefined where the object does not exist. */
  readonly live: object | undefined
  readonly liveManagedFields: readonly ManagedFieldsEntry[] | undefined
  readonly manager: string
  readonly force: boolean
  /** Empty for the main resource. */
  readonly subresource: string
  /** RFC 3339, whole seconds. */
  readonly time: string
  /** The fields that this endpoint does not write. */
  readonly reset?: FieldSet | undefined
  readonly clientSideApply?: ClientSideApply | undefined
}

export interface ApplyOutcome {
  /** The live object itself if nothing in it changes; else it has yet to be read by its schema and defaulted. */
  readonly object: object
  readonly managedFields: readonly ManagedFieldsEntry[] | undefined
  readonly isChanged: boolean
}

/** Throws a PatchError: `malformed` or `untyped` for a configuration that cannot be applied, `conflict` where others own fields. */
export function apply(input: ApplyInput): ApplyOutcome {
  const config = readConfig(input)
  try {
    const plan = planOf(input, config)
    const conflicts = input.force ? [] : unresolved(input, conflictsOf(plan))
    if (conflicts.length > 0) throw conflictError(conflicts)
    return refreshAnnotation(outcomeOf(input, plan), config.object, input)
  } catch (thrown) {
    if (thrown instanceof UnkeyedListError) throw new PatchError('unprocessable', `failed to create typed live object: ${thrown.message}`)
    throw thrown
  }
}

/** What an apply would do. */
interface Plan {
  readonly object: Members
  readonly applier: Owner
  /** The applier before this. */
  readonly last: Owner | undefined
  readonly others: readonly Owner[]
  readonly differenceAt: DifferenceAt
  readonly isChanged: boolean
}

function planOf(input: ApplyInput, config: Config): Plan {
  const live = (input.live ?? {}) as Members
  const ignored = nonEmpty(input.reset)
  const topology = structTopology(input.schema)
  const name: OwnerName = { manager: input.manager, operation: 'Apply', apiVersion: input.apiVersion, subresource: input.subresource }
  const before = reconcileOwners(input, ownersBefore(input, ignored))
  const last = before.find((owner) => isSameOwner(owner, name))
  const others = before.filter((owner) => owner !== last)
  const said = differenceBelow(config.set, ignored)
  const wanted = ownable(said)
  // The same opinion as before is recognised by being the same value.
  const set = isSameSet(wanted, last?.set) ? last?.set : wanted
  const applier = ownerOf(name, set, last?.time)
  const merged = mergeConfig(topology, live, config.object)
  // Pruning counts all that the configuration says, its name included: metadata that it names stay, whatever it no longer says in them.
  const object = prune({ kind: input, topology, merged, owners: [...others, { ...applier, set: said }], last, next: set })
  const differenceAt = differences({ kind: input, live, next: object, ignored, isOutcome: true })
  const change = differenceAt(input.apiVersion)
  const isChanged = change === undefined || change === 'unknown' || (change.changed ?? change.removed) !== undefined
  return { object, applier, last, others, differenceAt, isChanged: isChanged || changesUnowned(live, config.object) }
}

const beforeFirstApply = 'before-first-apply'

/** The owners so far. What an object without owners holds at its first apply gets one, so that it can conflict. */
function ownersBefore(input: ApplyInput, ignored: FieldSet | undefined): readonly Owner[] {
  const owners = readStoredEntries(input.liveManagedFields)
  if (owners.length > 0 || input.live === undefined) return owners
  const { changed } = compare(ownableTopology(input.schema), undefined, input.live as Members)
  const { apiVersion, subresource, time } = input
  const set = differenceBelow(changed, ignored)
  return set === undefined ? [] : [ownerOf({ manager: beforeFirstApply, operation: 'Update', apiVersion, subresource }, set, time)]
}

function conflictsOf({ others, differenceAt }: Plan): readonly Conflict[] {
  return others.flatMap((owner) => {
    const change = differenceAt(owner.apiVersion)
    if (change === undefined || change === 'unknown') return []
    const set = intersection(owner.set, change.changed)
    return set === undefined ? [] : [{ owner, set }]
  })
}

/** Conflicts with what the same client wrote before it knew of apply are none, if they are the only ones. */
function unresolved(input: ApplyInput, conflicts: readonly Conflict[]): readonly Conflict[] {
  if (conflicts.length === 0) return conflicts
  const claimed = claimedByAnnotation(input)
  return conflicts.flatMap(({ owner, set }) => {
    const left = difference(set, claimed)
    return left === undefined ? [] : [{ owner, set: left }]
  })
}

function outcomeOf(input: ApplyInput, { object, applier, last, others, differenceAt, isChanged }: Plan): ApplyOutcome {
  const kept = others.flatMap((owner) => {
    const change = differenceAt(owner.apiVersion)
    if (change === 'unknown') return []
    return change === undefined ? [owner] : [withSet(owner, without(owner.set, change))]
  })
  const owner = isChanged ? ownerOf(applier, applier.set, input.time) : unchanged(applier, last)
  return {
    object: isChanged || input.live === undefined ? object : input.live,
    managedFields: writeEntries([...kept, owner]),
    isChanged,
  }
}

/** A change of opinion that changes nothing keeps its time; the same opinion keeps its entry. */
const unchanged = (applier: Owner, last: Owner | undefined): Owner =>
  last !== undefined && last.apiVersion === applier.apiVersion && last.set === applier.set ? last : applier

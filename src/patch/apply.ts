// Server-side apply: the client says everything it has an opinion about, and the server finds out what that changes, who else
// owns it, and what the client has stopped saying.

import { structTopology } from '../schema/topology.js'
import { type Config, type ConfigInput, readConfig } from './apply-config.js'
import { compare } from './compare.js'
import { type Conflict, conflictError } from './conflicts.js'
import { type DifferenceAt, differences, keepOwners, reconcileOwners } from './disown.js'
import { difference, differenceBelow, type FieldSet, intersection, intersects, isSameSet, nonEmpty } from './field-set.js'
import { type ClientSideApply, claimedByAnnotation, refreshAnnotation } from './last-applied.js'
import { UnkeyedListError } from './list-items.js'
import {
  isSameOwner,
  type ManagedFieldsEntry,
  type Owner,
  type OwnerName,
  ownerOf,
  ownersBut,
  readStoredEntries,
  writeEntries,
} from './managed-entries.js'
import type { Members } from './members.js'
import { mergeConfig } from './merge.js'
import { changesUnowned, ownable, ownableTopology } from './ownable.js'
import { PatchError } from './patch-error.js'
import { prune } from './prune.js'
import { setOf } from './set-of.js'

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
export const apply = (input: ApplyInput): ApplyOutcome => applyWith(input, true)

/** The same without a quick look whether the configuration sets what it set the last time: the longer way to the same outcome. */
export const applyAtLength = (input: ApplyInput): ApplyOutcome => applyWith(input, false)

function applyWith(input: ApplyInput, isQuick: boolean): ApplyOutcome {
  const stored = reconcileOwners(input, readStoredEntries(input.liveManagedFields))
  const name: OwnerName = { manager: input.manager, operation: 'Apply', apiVersion: input.apiVersion, subresource: input.subresource }
  const last = stored.find((owner) => isSameOwner(owner, name))
  const ignored = nonEmpty(input.reset)
  const known = isQuick && last !== undefined && differenceBelow(last.set, ignored) === last.set ? last.set : undefined
  const config = readConfig(input, known)
  try {
    const plan = planOf(input, { config, name, last, stored, ignored })
    const conflicts = input.force ? none : unresolved(input, conflictsOf(plan))
    if (conflicts.length > 0) throw conflictError(conflicts)
    return refreshAnnotation(outcomeOf(input, plan), config.object, input)
  } catch (thrown) {
    if (thrown instanceof UnkeyedListError) throw new PatchError('unprocessable', `failed to create typed live object: ${thrown.message}`)
    throw thrown
  }
}

const none: readonly Conflict[] = []

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

/** What is known before it is planned. */
interface Beginning {
  readonly config: Config
  readonly name: OwnerName
  /** The owners that are recorded. */
  readonly stored: readonly Owner[]
  /** The applier among them. */
  readonly last: Owner | undefined
  readonly ignored: FieldSet | undefined
}

function planOf(input: ApplyInput, { config, name, stored, last, ignored }: Beginning): Plan {
  const live = (input.live ?? {}) as Members
  const topology = structTopology(input.schema)
  const others = stored.length === 0 ? reconcileOwners(input, firstOwners(input, ignored)) : ownersBut(stored, last)
  const said = config.isAgain ? config.set : differenceBelow(config.set, ignored)
  const wanted = config.isAgain ? config.set : ownable(said)
  // The same opinion as before is recognised by being the same value.
  const set = isSameSet(wanted, last?.set) ? last?.set : wanted
  const applier = ownerOf(name, set, last?.time)
  const merged = mergeConfig(topology, live, config.object)
  const object = prune({ kind: input, topology, merged, others, applier, said: () => saidBy(input, config, said), last })
  const differenceAt = differences({ kind: input, live, next: object, ignored, isOutcome: true })
  const change = differenceAt(input.apiVersion)
  const isChanged = change === undefined || change === 'unknown' || (change.changed ?? change.removed) !== undefined
  return { object, applier, last, others, differenceAt, isChanged: isChanged || changesUnowned(live, config.object) }
}

/** All that a configuration says, what has no owner included. */
const saidBy = (input: ApplyInput, config: Config, said: FieldSet | undefined): FieldSet | undefined =>
  config.isAgain ? differenceBelow(setOf(structTopology(input.schema), config.object), nonEmpty(input.reset)) : said

const beforeFirstApply = 'before-first-apply'

/** What an object without owners holds at its first apply gets one, so that it can conflict. */
function firstOwners(input: ApplyInput, ignored: FieldSet | undefined): readonly Owner[] {
  if (input.live === undefined) return []
  const { changed } = compare(ownableTopology(input.schema), undefined, input.live as Members)
  const { apiVersion, subresource, time } = input
  const set = differenceBelow(changed, ignored)
  return set === undefined ? [] : [ownerOf({ manager: beforeFirstApply, operation: 'Update', apiVersion, subresource }, set, time)]
}

function conflictsOf({ others, differenceAt }: Plan): readonly Conflict[] {
  const conflicts: Conflict[] = []
  for (const owner of others) {
    const change = differenceAt(owner.apiVersion)
    if (change === undefined || change === 'unknown' || !intersects(owner.set, change.changed)) continue
    const set = intersection(owner.set, change.changed)
    if (set !== undefined) conflicts.push({ owner, set })
  }
  return conflicts
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
  const kept = keepOwners(others, differenceAt)
  const owner = isChanged ? keepIfSame(ownerOf(applier, applier.set, input.time), last) : keepIfSame(applier, last)
  return {
    object: isChanged || input.live === undefined ? object : input.live,
    managedFields: writeEntries([...kept, owner], input.liveManagedFields),
    isChanged,
  }
}

/** A change of opinion that changes nothing keeps its time; the same opinion keeps its entry, within the same second even if it changes something. */
const keepIfSame = (applier: Owner, last: Owner | undefined): Owner =>
  last !== undefined && last.apiVersion === applier.apiVersion && last.set === applier.set && last.time === applier.time ? last : applier

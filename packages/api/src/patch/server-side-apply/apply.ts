// Server-side apply: merges the configuration into the live object, removes fields that it no longer contains, and updates managedFields.

import { structTopology } from '../../schema/topology.js'
import { compare } from '../field-set/compare.js'
import { difference, differenceBelow, type FieldSet, isSameSet, nonEmpty } from '../field-set/field-set.js'
import { UnkeyedListError } from '../field-set/list-item-keys.js'
import { toFieldSet } from '../field-set/to-field-set.js'
import type { Members } from '../json-value.js'
import {
  type DifferenceAt,
  differences,
  type FieldOwner,
  isSameOwner,
  keepOwners,
  type ManagedFieldsEntry,
  type OwnerIdentity,
  ownerOf,
  ownersExcept,
  readStoredEntries,
  reconcileOwners,
  writeEntries,
} from '../managed-fields/managed-fields-entries.js'
import { changesUnowned, ownable, ownableTopology } from '../managed-fields/ownable-fields.js'
import { PatchError } from '../patch-error.js'
import { type Config, type ConfigInput, readConfig } from './apply-config.js'
import { type Conflict, conflictError, conflictsOf } from './apply-conflict.js'
import { type AnnotatedApply, claimedByAnnotation, refreshAnnotation } from './last-applied-annotation.js'
import { mergeConfig } from './merge-config.js'
import { prune } from './prune.js'

export interface ApplyInput extends ConfigInput, AnnotatedApply {
  readonly liveManagedFields: readonly ManagedFieldsEntry[] | undefined
  readonly force: boolean
  readonly subresource: string
  readonly time: string
  /** Fields that the endpoint neither writes nor owns. */
  readonly reset?: FieldSet | undefined
}

export interface ApplyOutcome {
  /** The live object if nothing changes; otherwise the merged object, which still needs decoding and defaulting. */
  readonly object: object
  readonly managedFields: readonly ManagedFieldsEntry[] | undefined
  readonly isChanged: boolean
}

/** Throws PatchError: `malformed`, `untyped`, `unprocessable` or `conflict`. */
export const apply = (input: ApplyInput): ApplyOutcome => applyWith(input, true)

/** Apply without the shortcut for a repeated configuration; tests compare both. */
export const applyWithoutShortcut = (input: ApplyInput): ApplyOutcome => applyWith(input, false)

function applyWith(input: ApplyInput, usesShortcut: boolean): ApplyOutcome {
  const stored = reconcileOwners(input, readStoredEntries(input.liveManagedFields))
  const identity: OwnerIdentity = {
    manager: input.manager,
    operation: 'Apply',
    apiVersion: input.apiVersion,
    subresource: input.subresource,
  }
  const last = stored.find((owner) => isSameOwner(owner, identity))
  const ignored = nonEmpty(input.reset)
  const lastSet = usesShortcut && last !== undefined && differenceBelow(last.set, ignored) === last.set ? last.set : undefined
  const config = readConfig(input, lastSet)
  try {
    const plan = planApply(input, { config, identity, last, stored, ignored })
    const conflicts = input.force ? noConflicts : withoutClaimed(input, conflictsOf(plan.others, plan.differenceAt))
    if (conflicts.length > 0) throw conflictError(conflicts)
    return refreshAnnotation(outcomeOf(input, plan), config.object, input)
  } catch (thrown) {
    if (thrown instanceof UnkeyedListError) throw new PatchError('unprocessable', `failed to create typed live object: ${thrown.message}`)
    throw thrown
  }
}

const noConflicts: readonly Conflict[] = []

interface Plan {
  readonly object: Members
  readonly applier: FieldOwner
  readonly last: FieldOwner | undefined
  readonly others: readonly FieldOwner[]
  readonly differenceAt: DifferenceAt
  readonly isChanged: boolean
}

interface PlanInput {
  readonly config: Config
  readonly identity: OwnerIdentity
  readonly stored: readonly FieldOwner[]
  readonly last: FieldOwner | undefined
  readonly ignored: FieldSet | undefined
}

function planApply(input: ApplyInput, { config, identity, stored, last, ignored }: PlanInput): Plan {
  const live = (input.live ?? {}) as Members
  const topology = structTopology(input.schema)
  const others = stored.length === 0 ? reconcileOwners(input, ownersBeforeFirstApply(input, ignored)) : ownersExcept(stored, last)
  const appliedSet = config.isRepeated ? config.set : differenceBelow(config.set, ignored)
  const newSet = config.isRepeated ? config.set : ownable(appliedSet)
  const set = isSameSet(newSet, last?.set) ? last?.set : newSet
  const applier = ownerOf(identity, set, last?.time)
  const merged = mergeConfig(topology, live, config.object)
  const object = prune({ kind: input, topology, merged, others, applier, appliedSet: () => appliedSetOf(input, config, appliedSet), last })
  const differenceAt = differences({ kind: input, live, next: object, ignored, isApplied: true })
  const change = differenceAt(input.apiVersion)
  const isChanged = change === undefined || change === 'unknown' || (change.changed ?? change.removed) !== undefined
  return { object, applier, last, others, differenceAt, isChanged: isChanged || changesUnowned(live, config.object) }
}

const appliedSetOf = (input: ApplyInput, config: Config, appliedSet: FieldSet | undefined): FieldSet | undefined =>
  config.isRepeated ? differenceBelow(toFieldSet(structTopology(input.schema), config.object), nonEmpty(input.reset)) : appliedSet

const beforeFirstApply = 'before-first-apply'

/** Existing fields of an untracked object are owned by `before-first-apply`, so that they can conflict. */
function ownersBeforeFirstApply(input: ApplyInput, ignored: FieldSet | undefined): readonly FieldOwner[] {
  if (input.live === undefined) return []
  const { changed } = compare(ownableTopology(input.schema), undefined, input.live as Members)
  const { apiVersion, subresource, time } = input
  const set = differenceBelow(changed, ignored)
  return set === undefined ? [] : [ownerOf({ manager: beforeFirstApply, operation: 'Update', apiVersion, subresource }, set, time)]
}

/** Drops conflicts about fields that the same client applied on the client side. */
function withoutClaimed(input: ApplyInput, conflicts: readonly Conflict[]): readonly Conflict[] {
  if (conflicts.length === 0) return conflicts
  const claimed = claimedByAnnotation(input)
  return conflicts.flatMap(({ owner, set }) => {
    const remaining = difference(set, claimed)
    return remaining === undefined ? [] : [{ owner, set: remaining }]
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

/** Keeps the stored entry if set and time are the same. */
const keepIfSame = (applier: FieldOwner, last: FieldOwner | undefined): FieldOwner =>
  last !== undefined && last.apiVersion === applier.apiVersion && last.set === applier.set && last.time === applier.time ? last : applier

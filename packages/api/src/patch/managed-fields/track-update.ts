// Ownership after a write that is not an apply: the writer owns what it changed, and everybody else loses it.

import type { StructNode } from '../schema/node.js'
import { capOwners } from './cap-owners.js'
import type { Difference } from './compare.js'
import { differences, keepOwners, reconcileOwners } from './disown.js'
import { difference, type FieldSet, nonEmpty, union } from './field-set.js'
import { UnkeyedListError } from './list-items.js'
import {
  isReset,
  isSameOwner,
  type ManagedFieldsEntry,
  type Owner,
  type OwnerName,
  ownerOf,
  ownersBut,
  readSentEntries,
  readStoredEntries,
  withSet,
  writeEntries,
} from './managed-entries.js'
import type { Members } from './members.js'
import { isEqual } from './plain.js'
import type { KindVersions } from './versions.js'

export { resetFieldSet } from './ownable.js'

export interface TrackUpdateInput extends KindVersions {
  /** The schema of `next`. */
  readonly schema: StructNode
  /** What is stored, in the version of `next`; undefined when the object is created. */
  readonly live: object | undefined
  readonly next: object
  readonly liveManagedFields: readonly ManagedFieldsEntry[] | undefined
  /** What the client sent; undefined if it said nothing. */
  readonly sentManagedFields: readonly ManagedFieldsEntry[] | undefined
  readonly manager: string
  /** Empty for the main resource. */
  readonly subresource: string
  /** RFC 3339, whole seconds. */
  readonly time: string
  /** The fields that this endpoint does not write. */
  readonly reset?: FieldSet | undefined
}

/** The managedFields to store; undefined for none. */
export function trackUpdate(input: TrackUpdateInput): readonly ManagedFieldsEntry[] | undefined {
  const before = ownersBefore(input)
  // An object of which nobody keeps track stays so until somebody applies or resets.
  if (input.live !== undefined && before.owners.length === 0 && !before.isFresh) return undefined
  const owners = ownersAfter(input, before.owners)
  return writeEntries(owners === undefined ? before.owners : capOwners(owners))
}

interface OwnersBefore {
  readonly owners: readonly Owner[]
  /** Ownership begins anew, with this write. */
  readonly isFresh: boolean
}

function ownersBefore(input: TrackUpdateInput): OwnersBefore {
  const { liveManagedFields: live, sentManagedFields: sent, subresource } = input
  // Only the main resource can write managedFields, and silence about them keeps them.
  if (subresource === '' && sent !== undefined && sent.length > 0 && sent !== live) {
    if (isReset(sent)) return { owners: [], isFresh: true }
    const owners = isEqual(sent, live) ? undefined : readSentEntries(sent)
    if (owners !== undefined) return { owners, isFresh: false }
  }
  return { owners: readStoredEntries(live), isFresh: false }
}

/** The owners once the write is done; undefined if fields of the object cannot be told apart, and so have no owners. */
function ownersAfter(input: TrackUpdateInput, before: readonly Owner[]): readonly Owner[] | undefined {
  const live = input.live as Members | undefined
  const differenceAt = differences({ kind: input, live, next: input.next as Members, ignored: nonEmpty(input.reset), isOutcome: false })
  try {
    const name = writerName(input)
    const owners = reconcileOwners(input, before)
    const writer = owners.find((owner) => isSameOwner(owner, name))
    const others = keepOwners(ownersBut(owners, writer), differenceAt)
    const change = differenceAt(input.apiVersion)
    const written =
      change === undefined || change === 'unknown' ? undefined : gainFields(writer ?? ownerOf(name, undefined, undefined), change, input)
    return written === undefined ? others : [...others, written]
  } catch (thrown) {
    if (thrown instanceof UnkeyedListError) return undefined
    throw thrown
  }
}

const writerName = ({ manager, apiVersion, subresource }: TrackUpdateInput): OwnerName => ({
  manager: manager === '' ? 'unknown' : manager,
  operation: 'Update',
  apiVersion,
  subresource,
})

/** The writer with what it changed; without a change it keeps its time. */
function gainFields(writer: Owner, { changed, removed }: Difference, input: TrackUpdateInput): Owner {
  const kept = withSet(writer, difference(writer.set, removed))
  if (changed === undefined) return kept
  const set = union(kept.set, changed)
  return set === writer.set && input.time === writer.time ? writer : ownerOf(writer, set, input.time)
}

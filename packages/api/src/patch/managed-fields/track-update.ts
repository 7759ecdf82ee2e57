// managedFields after an update, patch or create: the writer owns the fields that it changed, and other owners lose them.

import type { StructNode } from '../../schema/node.js'
import type { Difference } from '../field-set/compare.js'
import { difference, type FieldSet, nonEmpty, union } from '../field-set/field-set.js'
import { UnkeyedListError } from '../field-set/list-item-keys.js'
import { isEqual, type Members } from '../json-value.js'
import {
  capUpdateOwners,
  differences,
  type FieldOwner,
  isReset,
  isSameOwner,
  keepOwners,
  type ManagedFieldsEntry,
  type OwnerIdentity,
  ownerOf,
  ownersExcept,
  readSentEntries,
  readStoredEntries,
  reconcileOwners,
  withSet,
  writeEntries,
} from './managed-fields-entries.js'
import type { KindVersions } from './ownable-fields.js'

export { resetFieldSet } from './ownable-fields.js'

interface TrackUpdateInput extends KindVersions {
  readonly schema: StructNode
  readonly live: object | undefined
  readonly next: object
  readonly liveManagedFields: readonly ManagedFieldsEntry[] | undefined
  readonly sentManagedFields: readonly ManagedFieldsEntry[] | undefined
  readonly manager: string
  readonly subresource: string
  readonly time: string
  readonly reset?: FieldSet | undefined
}

export function trackUpdate(input: TrackUpdateInput): readonly ManagedFieldsEntry[] | undefined {
  const before = ownersBefore(input)
  // An object without managedFields stays untracked until an apply or a reset.
  if (input.live !== undefined && before.owners.length === 0 && !before.hasReset) return undefined
  const owners = ownersAfter(input, before.owners)
  return owners && writeEntries(capUpdateOwners(owners))
}

interface OwnersBefore {
  readonly owners: readonly FieldOwner[]
  /** The client reset managedFields, so ownership starts with this write. */
  readonly hasReset: boolean
}

function ownersBefore(input: TrackUpdateInput): OwnersBefore {
  const { liveManagedFields: live, sentManagedFields: sent, subresource } = input
  // Subresources cannot write managedFields. Absent, empty or invalid managedFields in the request keep the live entries.
  if (subresource === '' && sent !== undefined && sent.length > 0 && sent !== live) {
    if (isReset(sent)) return { owners: [], hasReset: true }
    const owners = isEqual(sent, live) ? undefined : readSentEntries(sent)
    if (owners !== undefined) return { owners, hasReset: false }
  }
  return { owners: readStoredEntries(live), hasReset: false }
}

/** Returns undefined if list items have no distinct keys: the object is then untracked, as in kube-apiserver. */
function ownersAfter(input: TrackUpdateInput, before: readonly FieldOwner[]): readonly FieldOwner[] | undefined {
  const live = input.live as Members | undefined
  const differenceAt = differences({ kind: input, live, next: input.next as Members, ignored: nonEmpty(input.reset), isApplied: false })
  try {
    const identity = writerIdentity(input)
    const owners = reconcileOwners(input, before)
    const writer = owners.find((owner) => isSameOwner(owner, identity))
    const others = keepOwners(ownersExcept(owners, writer), differenceAt)
    const change = differenceAt(input.apiVersion)
    const written =
      change === undefined || change === 'unknown'
        ? undefined
        : gainFields(writer ?? ownerOf(identity, undefined, undefined), change, input)
    return written === undefined ? others : [...others, written]
  } catch (thrown) {
    if (thrown instanceof UnkeyedListError) return undefined
    throw thrown
  }
}

const writerIdentity = ({ manager, apiVersion, subresource }: TrackUpdateInput): OwnerIdentity => ({
  manager: manager === '' ? 'unknown' : manager,
  operation: 'Update',
  apiVersion,
  subresource,
})

/** Adds changed fields to the writer and drops removed ones. Keeps its time if no field was changed. */
function gainFields(writer: FieldOwner, { changed, removed }: Difference, input: TrackUpdateInput): FieldOwner {
  const kept = withSet(writer, difference(writer.set, removed))
  if (changed === undefined) return kept
  const set = union(kept.set, changed)
  return set === writer.set && input.time === writer.time ? writer : ownerOf(writer, set, input.time)
}

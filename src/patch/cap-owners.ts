// A bound on how many updaters an object remembers: the oldest share one entry for each version.

import { type FieldSet, union } from './field-set.js'
import { compareOwners, isSameOwner, type Owner, type OwnerName, ownerOf, secondsOf } from './managed-entries.js'

const maxUpdateOwners = 10
const ancientChanges = 'ancient-changes'

export function capOwners(owners: readonly Owner[]): readonly Owner[] {
  const updaters = owners.filter((owner) => owner.operation === 'Update' && owner.set !== undefined)
  if (updaters.length <= maxUpdateOwners) return owners
  const oldestFirst = updaters.sort((a, b) => secondsOf(a.time) - secondsOf(b.time) || compareOwners(a, b))
  let capped = owners
  let excess = updaters.length - maxUpdateOwners
  const firstOfVersion = new Map<string, Owner>()
  for (const owner of oldestFirst) {
    if (excess === 0) break
    // What has been merged already is not there any more.
    if (!capped.includes(owner)) continue
    const first = firstOfVersion.get(owner.apiVersion)
    // One entry alone saves nothing by taking another name.
    if (first === undefined) firstOfVersion.set(owner.apiVersion, owner)
    else {
      capped = intoBucket(capped, first, owner)
      excess--
    }
  }
  return capped
}

/** Moves what an owner has into the entry for ancient changes, and the first owner of that version before it. */
function intoBucket(owners: readonly Owner[], first: Owner, owner: Owner): readonly Owner[] {
  const name: OwnerName = { manager: ancientChanges, operation: 'Update', apiVersion: owner.apiVersion, subresource: '' }
  const bucket = owners.find((other) => isSameOwner(other, name)) ?? first
  const moved = bucket === owner ? [first, owner] : [bucket, owner]
  const set = moved.reduce((all, { set }) => union(all, set), undefined as FieldSet | undefined)
  return [...owners.filter((other) => !moved.includes(other)), ownerOf(name, set, owner.time)]
}

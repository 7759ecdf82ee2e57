// A bound on how many updaters an object remembers: the oldest share one entry for each version.

import { type FieldSet, unionAll } from './field-set.js'
import { compareOwners, isSameOwner, type Owner, ownerOf, secondsOf } from './managed-entries.js'

const maxUpdateOwners = 10
const ancientChanges = 'ancient-changes'

/** What becomes the entry for ancient changes of a version. */
interface Bucket {
  readonly sets: (FieldSet | undefined)[]
  time: string | undefined
}

export function capOwners(owners: readonly Owner[]): readonly Owner[] {
  const updaters = owners.filter((owner) => owner.operation === 'Update' && owner.set !== undefined)
  if (updaters.length <= maxUpdateOwners) return owners
  const oldestFirst = updaters.sort((a, b) => secondsOf(a.time) - secondsOf(b.time) || compareOwners(a, b))
  let excess = updaters.length - maxUpdateOwners
  const firstOfVersion = new Map<string, Owner>()
  const buckets = new Map<string, Bucket>()
  const moved = new Set<Owner>()
  for (const owner of oldestFirst) {
    if (excess === 0) break
    if (moved.has(owner)) continue
    const first = firstOfVersion.get(owner.apiVersion)
    // One entry alone saves nothing by taking another name.
    if (first === undefined) firstOfVersion.set(owner.apiVersion, owner)
    else {
      moveInto(buckets, { owners, moved, first, owner })
      excess--
    }
  }
  const merged = [...buckets].map(([apiVersion, { sets, time }]) =>
    ownerOf({ manager: ancientChanges, operation: 'Update', apiVersion, subresource: '' }, unionAll(sets), time),
  )
  return [...owners.filter((owner) => !moved.has(owner)), ...merged]
}

interface Move {
  readonly owners: readonly Owner[]
  readonly moved: Set<Owner>
  readonly first: Owner
  readonly owner: Owner
}

/** Moves what an owner has into the entry for ancient changes, and whoever had that before, or the first owner of that version, with it. */
function moveInto(buckets: Map<string, Bucket>, { owners, moved, first, owner }: Move): void {
  const { apiVersion } = owner
  const known = buckets.get(apiVersion)
  const bucket: Bucket = known ?? { sets: [], time: undefined }
  if (known === undefined) {
    const ancient = owners.find((other) =>
      isSameOwner(other, { manager: ancientChanges, operation: 'Update', apiVersion, subresource: '' }),
    )
    const former = ancient === undefined || ancient === owner ? first : ancient
    bucket.sets.push(former.set)
    moved.add(former)
  }
  bucket.sets.push(owner.set)
  bucket.time = owner.time
  moved.add(owner)
  // The one that was written last is the last.
  buckets.delete(apiVersion)
  buckets.set(apiVersion, bucket)
}

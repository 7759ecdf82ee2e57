// Who is owned by whom, from the headers of entries: no body is looked at. For whoever collects what has lost its owners.

import type { KeyRange, Storage } from '../storage/storage.js'
import { isOwnedBy, ownersOf } from './entry-header.js'
import { keyAfter } from './keys.js'

export interface OwnedKey {
  readonly key: string
  readonly revision: number
  /** Uids, each once. */
  readonly owners: readonly string[]
}

/** Looked at between two yields: less than a millisecond. */
const entriesPerStep = 1000

/** All entries of a range that have owners. It yields what it found in a step, which may be nothing, so that others can have a turn in between. */
export function* scanOwners(storage: Storage, range: KeyRange): Generator<readonly OwnedKey[], void, void> {
  yield* inSteps(storage, range, (scanned) => {
    const owners = ownersOf(scanned)
    return owners.length === 0 ? undefined : { key: scanned.key, revision: scanned.revision, owners }
  })
}

/** The keys of a range whose entries have an owner of this uid, step by step as well. */
export function* scanOwnedBy(storage: Storage, range: KeyRange, uid: string): Generator<readonly string[], void, void> {
  const bytes = Buffer.from(uid)
  yield* inSteps(storage, range, (scanned) => (isOwnedBy(scanned, bytes) ? scanned.key : undefined))
}

type Scanned = Parameters<Parameters<Storage['scan']>[1]>[0]

function* inSteps<T>(storage: Storage, range: KeyRange, pick: (scanned: Scanned) => T | undefined): Generator<readonly T[], void, void> {
  for (let start: string | undefined = range.start; start !== undefined; ) {
    const found: T[] = []
    let left = entriesPerStep
    let next: string | undefined
    storage.scan({ start, end: range.end }, (scanned) => {
      const picked = pick(scanned)
      if (picked !== undefined) found.push(picked)
      left -= 1
      if (left === 0) next = keyAfter(scanned.key)
      return left > 0
    })
    yield found
    start = next
  }
}

// When each collection last changed, so that a read of the past knows where nothing has happened since: then what is there now is what was there.
// Somebody always writes something, such as the leases of those who are at work, and most collections are not concerned.

import type { Storage } from '../storage/storage.js'
import { collectionOf } from './keys.js'

/** Kinds that are defined and removed again leave their records behind: beyond these, all begin anew. */
const mostCollections = 2000

export class LastChanges {
  readonly #storage: Pick<Storage, 'revision'>
  readonly #revisions = new Map<string, number>()
  /** What has no record has not changed since this revision. */
  #knownSince: number

  constructor(storage: Pick<Storage, 'revision'>) {
    this.#storage = storage
    this.#knownSince = storage.revision
  }

  /** A key has changed, and the storage has moved on to include that. */
  note(key: string): void {
    const collection = collectionOf(key)
    if (this.#revisions.size >= mostCollections && !this.#revisions.has(collection)) {
      this.#revisions.clear()
      this.#knownSince = Math.max(this.#knownSince, this.#storage.revision)
    }
    this.#revisions.set(collection, this.#storage.revision)
  }

  /** Whether everything in the collection of a key is as it was at a revision. */
  isAsAt(revision: number, key: string): boolean {
    if (revision === this.#storage.revision) return true
    return revision < this.#storage.revision && revision >= (this.#revisions.get(collectionOf(key)) ?? this.#knownSince)
  }
}

// Revision of the last change of each collection: shows whether a list at an older revision equals the newest state.

import type { Storage } from '../../storage/storage.js'
import { collectionOf } from '../object-keys.js'

/** The number of custom resources is unbounded: beyond this number all records are dropped. */
const maxCollections = 2000

export class LastChanges {
  readonly #storage: Pick<Storage, 'revision'>
  readonly #revisions = new Map<string, number>()
  /** Collections without a record have not changed since this revision. */
  #knownSince: number

  constructor(storage: Pick<Storage, 'revision'>) {
    this.#storage = storage
    this.#knownSince = storage.revision
  }

  record(key: string): void {
    const collection = collectionOf(key)
    if (this.#revisions.size >= maxCollections && !this.#revisions.has(collection)) {
      this.#revisions.clear()
      this.#knownSince = Math.max(this.#knownSince, this.#storage.revision)
    }
    this.#revisions.set(collection, this.#storage.revision)
  }

  isUnchangedSince(revision: number, key: string): boolean {
    if (revision === this.#storage.revision) return true
    return revision < this.#storage.revision && revision >= (this.#revisions.get(collectionOf(key)) ?? this.#knownSince)
  }
}

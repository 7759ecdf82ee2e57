// The kinds whose objects are in the index of owners. They stay when they are not served any more, for what is left of them and for what their last
// objects owned; then they are forgotten: kinds come and go under other names without an end, each with its schema.

import type { Catalog, Resource } from '../../api/catalog.js'
import { getOrInsert } from '../../base/get-or-insert.js'

/** For longer than it takes to collect what the last objects of a kind owned, also where that fails for a while. */
export const rememberedMs = 5 * 60_000

export class FollowedKinds {
  /** By collection. */
  readonly #followed = new Map<string, Resource>()
  /** Since when those of them are not served. */
  readonly #unserved = new Map<string, number>()

  has(collection: string): boolean {
    return this.#followed.has(collection)
  }

  /** Whether it is a new one. */
  put(resource: Resource): boolean {
    const isNew = !this.#followed.has(resource.collection)
    this.#followed.set(resource.collection, resource)
    return isNew
  }

  all(): Iterable<Resource> {
    return this.#followed.values()
  }

  /** `isEmpty`: whether nothing of a kind is stored. */
  forgetUnserved(catalog: Catalog, nowMs: number, isEmpty: (resource: Resource) => boolean): void {
    for (const [collection, resource] of this.#followed) {
      if (catalog.inCollection(collection) !== undefined) {
        this.#unserved.delete(collection)
        continue
      }
      const sinceMs = getOrInsert(this.#unserved, collection, () => nowMs)
      if (nowMs - sinceMs < rememberedMs || !isEmpty(resource)) continue
      this.#followed.delete(collection)
      this.#unserved.delete(collection)
    }
  }
}

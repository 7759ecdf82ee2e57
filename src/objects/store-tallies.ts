// What the store was asked for, by collection, for metrics: how long that took, and how much lists had to look at.

import { getOrInsert } from '../base/get-or-insert.js'
import { Histogram } from '../base/histogram.js'

export type StoreOperation = 'get' | 'list' | 'create' | 'update' | 'delete' | 'readIndex'

/** In seconds, as dashboards know them. */
const bounds: readonly number[] = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]

/** Kinds that are defined and removed again leave their records behind: beyond these, what is new is counted together. */
const mostCollections = 2_000

export class CollectionTally {
  readonly collection: string
  readonly durations = new Map<StoreOperation, Histogram>()
  lists = 0
  /** Objects that were read for lists, those that a selector was asked about, and those that were listed. */
  fetched = 0
  evaluated = 0
  returned = 0
  /** What watchers were sent of the time before they came. */
  initEvents = 0

  constructor(collection: string) {
    this.collection = collection
  }

  /** Notes an operation that began at a moment of performance.now(). */
  took(operation: StoreOperation, begunMs: number): void {
    getOrInsert(this.durations, operation, newHistogram).add((performance.now() - begunMs) / 1000)
  }
}

const newHistogram = (): Histogram => new Histogram(bounds)

export class StoreTallies {
  readonly #byCollection = new Map<string, CollectionTally>()

  /** Empty: what concerns no collection. */
  of(collection: string): CollectionTally {
    const known = this.#byCollection.get(collection)
    if (known !== undefined) return known
    const name = this.#byCollection.size < mostCollections ? collection : 'other'
    return getOrInsert(this.#byCollection, name, () => new CollectionTally(name))
  }

  all(): Iterable<CollectionTally> {
    return this.#byCollection.values()
  }
}

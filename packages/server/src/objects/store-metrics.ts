// Metrics of the object store by collection: durations of operations, and objects read and returned by lists.

import { Histogram } from '@cluster-apiserver/api/base/histogram.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'

export type StoreOperation = 'get' | 'list' | 'create' | 'update' | 'delete' | 'readIndex'

/** Seconds; the buckets of kube-apiserver. */
const durationBounds: readonly number[] = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]

/** The number of custom resources is unbounded: further collections are counted as `other`. */
const maxCollections = 2_000

export class CollectionCounter {
  readonly collection: string
  readonly durations = new Map<StoreOperation, Histogram>()
  lists = 0
  /** Objects read for lists, tested with selectors, and returned. */
  fetched = 0
  evaluated = 0
  returned = 0
  /** Events that watches started with, before their first change. */
  initEvents = 0

  constructor(collection: string) {
    this.collection = collection
  }

  observe(operation: StoreOperation, startMs: number): void {
    getOrInsert(this.durations, operation, newHistogram).add((performance.now() - startMs) / 1000)
  }
}

const newHistogram = (): Histogram => new Histogram(durationBounds)

export class StoreCounters {
  readonly #byCollection = new Map<string, CollectionCounter>()

  of(collection: string): CollectionCounter {
    const counter = this.#byCollection.get(collection)
    if (counter !== undefined) return counter
    const name = this.#byCollection.size < maxCollections ? collection : 'other'
    return getOrInsert(this.#byCollection, name, () => new CollectionCounter(name))
  }

  all(): Iterable<CollectionCounter> {
    return this.#byCollection.values()
  }
}

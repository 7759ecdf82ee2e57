// Index of object keys by label, built at the first selection from a collection. If all indexes together exceed their byte limit, one is
// suspended: dropped, and not built again for some periods.

import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { compareText, sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { Change, Storage } from '../../storage/storage.js'
import { StoredObject } from '../entry/stored-object.js'
import { collectionOf, keyAfter } from '../object-keys.js'
import { type KeyList, keyListOf, mergedKeys, OrderedKeys } from './ordered-keys.js'

export interface PositiveRequirement {
  readonly key: string
  /** Undefined: any value. */
  readonly values: readonly string[] | undefined
}

interface CollectionIndex {
  readonly labels: Map<string, Map<string, OrderedKeys>>
  /** First key that is not indexed yet; undefined if the index is complete. */
  missingFrom: string | undefined
  bytes: number
  lastUsedPeriod: number
  /** Periods for which the index is suspended if it exceeds the limit. */
  readonly pausePeriods: number
}

interface Suspension {
  readonly until: number
  readonly pausePeriods: number
}

const firstPausePeriods = 2
const maxPausePeriods = 64

/** Entries per step: less than a millisecond. */
const entriesPerStep = 128
const bytesPerStep = 1 << 20
const bytesPerPair = 120
/** Keys of up to this many label values are merged while they are read; of more values they are sorted first. */
const maxMergedValues = 8
const maxSortedKeys = 4000

export class LabelIndex {
  private readonly storage: Storage
  private readonly maxBytes: number
  private readonly collections = new Map<string, CollectionIndex>()
  private readonly suspensions = new Map<string, Suspension>()
  private indexBytes = 0
  private period = 0

  constructor(storage: Storage, maxBytes: number) {
    this.storage = storage
    this.maxBytes = maxBytes
  }

  get bytes(): number {
    return this.indexBytes
  }

  isBuilt(collection: string): boolean {
    const index = this.collections.get(collection)
    return index === undefined ? this.isSuspended(collection) : index.missingFrom === undefined
  }

  /** Builds the missing part of an index. Concurrent callers share the work. */
  async build(collection: string, budget: TurnBudget, check?: () => void): Promise<void> {
    while (!this.isBuilt(collection)) {
      this.buildMore(collection)
      if (budget.isSpent) await budget.nextTurn()
      check?.()
    }
  }

  /** Sorted keys with the label. Undefined: no complete index, or too many keys to sort. */
  keys(collection: string, requirement: PositiveRequirement): KeyList | undefined {
    const index = this.collections.get(collection)
    if (index === undefined || index.missingFrom !== undefined) return undefined
    index.lastUsedPeriod = this.period
    const values = index.labels.get(requirement.key)
    if (values === undefined) return noKeys
    const found: OrderedKeys[] = []
    for (const keys of requirement.values === undefined ? values.values() : requirement.values.map((value) => values.get(value))) {
      if (keys !== undefined && found.push(keys) > maxSortedKeys) return undefined
    }
    if (found.length <= maxMergedValues) return found.length === 1 ? found[0] : mergedKeys(found)
    if (mergedKeys(found).size > maxSortedKeys) return undefined
    return keyListOf(sortTexts(found.flatMap((keys) => [...keys.from('')])))
  }

  update(change: Change): void {
    const index = this.collections.get(collectionOf(change.key))
    if (index === undefined) return
    if (index.missingFrom !== undefined && compareText(change.key, index.missingFrom) >= 0) return
    const before = change.previous === undefined ? undefined : new StoredObject(change.previous).labels()
    const after = change.value === undefined ? undefined : new StoredObject({ ...change, value: change.value }).labels()
    for (const [label, value] of Object.entries(before ?? {})) {
      if (after?.[label] !== value) this.remove(index, { key: change.key, label, value })
    }
    for (const [label, value] of Object.entries(after ?? {})) {
      if (before?.[label] !== value) this.add(index, { key: change.key, label, value })
    }
    if (this.indexBytes > this.maxBytes) this.suspendLargest()
  }

  /** Drops indexes that were not used in this period and the one before, and old suspensions. */
  endPeriod(): void {
    for (const [collection, index] of this.collections) if (index.lastUsedPeriod < this.period - 1) this.drop(collection, index)
    this.period += 1
    for (const [collection, { until, pausePeriods }] of this.suspensions)
      if (this.period >= until + pausePeriods) this.suspensions.delete(collection)
  }

  private buildMore(collection: string): void {
    const existing = this.collections.get(collection)
    const index = existing ?? {
      labels: new Map(),
      missingFrom: `${collection}/`,
      bytes: 0,
      lastUsedPeriod: this.period,
      pausePeriods: this.pausePeriodsOf(collection),
    }
    if (existing === undefined) this.collections.set(collection, index)
    if (index.missingFrom === undefined) return
    index.lastUsedPeriod = this.period
    let entriesLeft = entriesPerStep
    let readBytes = 0
    let next: string | undefined
    this.storage.scan({ start: index.missingFrom, end: `${collection}0` }, ({ key, revision, bytes, start, end }) => {
      // No copy of the bytes: only the labels outlive the scan.
      const value = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
      for (const [label, labelValue] of Object.entries(new StoredObject({ key, revision, value }).labels() ?? {}))
        this.add(index, { key, label, value: labelValue })
      entriesLeft -= 1
      readBytes += end - start
      if (entriesLeft > 0 && readBytes < bytesPerStep) return true
      next = keyAfter(key)
      return false
    })
    index.missingFrom = next
    // The new index is suspended, not an existing one: otherwise two indexes that do not fit would evict each other.
    if (this.indexBytes > this.maxBytes) this.suspend(collection, index)
  }

  private suspendLargest(): void {
    let largest: readonly [string, CollectionIndex] | undefined
    for (const each of this.collections) if (largest === undefined || each[1].bytes > largest[1].bytes) largest = each
    if (largest !== undefined) this.suspend(...largest)
  }

  private suspend(collection: string, index: CollectionIndex): void {
    this.drop(collection, index)
    this.suspensions.set(collection, { until: this.period + index.pausePeriods, pausePeriods: index.pausePeriods })
  }

  private drop(collection: string, index: CollectionIndex): void {
    this.collections.delete(collection)
    this.indexBytes -= index.bytes
  }

  private isSuspended(collection: string): boolean {
    const suspension = this.suspensions.get(collection)
    return suspension !== undefined && this.period < suspension.until
  }

  private pausePeriodsOf(collection: string): number {
    const suspension = this.suspensions.get(collection)
    return suspension === undefined ? firstPausePeriods : Math.min(suspension.pausePeriods * 2, maxPausePeriods)
  }

  private add(index: CollectionIndex, pair: LabelledKey): void {
    const values = getOrInsert(index.labels, pair.label, () => new Map<string, OrderedKeys>())
    if (!getOrInsert(values, pair.value, () => new OrderedKeys()).add(pair.key)) return
    index.bytes += bytesPerPair
    this.indexBytes += bytesPerPair
  }

  private remove(index: CollectionIndex, pair: LabelledKey): void {
    const values = index.labels.get(pair.label)
    const keys = values?.get(pair.value)
    if (values === undefined || keys === undefined || !keys.delete(pair.key)) return
    if (keys.size === 0) values.delete(pair.value)
    if (values.size === 0) index.labels.delete(pair.label)
    index.bytes -= bytesPerPair
    this.indexBytes -= bytesPerPair
  }
}

interface LabelledKey {
  readonly key: string
  readonly label: string
  readonly value: string
}

const noKeys = keyListOf([])

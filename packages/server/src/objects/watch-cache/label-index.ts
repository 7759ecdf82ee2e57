// Which objects of a collection carry a label, so that a selector that picks few of many does not look at all of them.
// Built step by step when a collection is first selected from, kept true by changes, and given up for a while when all of them would grow past their bound.

import { getOrInsert } from '../base/get-or-insert.js'
import { compareText, sortTexts } from '../base/text-order.js'
import type { Change, Storage } from '../storage/storage.js'
import { collectionOf, keyAfter } from './keys.js'
import { type KeyList, keyListOf, mergedKeys, OrderedKeys } from './ordered-keys.js'
import { StoredObject } from './stored-object.js'

/** One condition that an object can meet only by carrying the label. */
export interface PositiveRequirement {
  readonly key: string
  /** The values that will do; undefined: any. */
  readonly values: readonly string[] | undefined
}

interface CollectionIndex {
  /** Label, then value. */
  readonly labels: Map<string, Map<string, OrderedKeys>>
  /** Keys before this one are in the index, and those from it on are not yet; undefined when all are. */
  missingFrom: string | undefined
  bytes: number
  /** The period in which it was last asked for: see release. */
  usedIn: number
  /** For how many periods it is given up where there is no room for it. */
  readonly pause: number
}

/** There was no room for it. */
interface GivenUp {
  /** The first period in which it may be built again. */
  readonly until: number
  /** How many there are until then, twice as many each time: to build what has no room costs as much as to build what has. */
  readonly pause: number
}

const firstPause = 2
const longestPause = 64

/** Entries that are looked at between two yields: less than a millisecond. */
const entriesPerStep = 128
const bytesPerStep = 1 << 20
const bytesPerPair = 120
/** So many values are merged as they are read; more of them are put in order first, when they have few keys together. */
const mostMerged = 8
const mostSorted = 4000

export class LabelIndex {
  private readonly storage: Storage
  private readonly maxBytes: number
  private readonly collections = new Map<string, CollectionIndex>()
  private readonly givenUp = new Map<string, GivenUp>()
  private heldBytes = 0
  private period = 0

  constructor(storage: Storage, maxBytes: number) {
    this.storage = storage
    this.maxBytes = maxBytes
  }

  get bytes(): number {
    return this.heldBytes
  }

  /** Whether there is nothing to build. */
  isBuilt(collection: string): boolean {
    const index = this.collections.get(collection)
    return index === undefined ? this.isGivenUp(collection) : index.missingFrom === undefined
  }

  /**
   * Builds the index of a collection, or what is missing of it. Whoever else wants it at the same time builds the same one, and whoever comes
   * after somebody that gave up goes on where that one stopped.
   */
  *building(collection: string): Generator<undefined, void, void> {
    while (!this.isBuilt(collection)) {
      this.buildMore(collection)
      yield undefined
    }
  }

  /** The keys of a collection that carry the label, in order; undefined when there is no index to ask, or too much to be put in order. */
  keys(collection: string, requirement: PositiveRequirement): KeyList | undefined {
    const index = this.collections.get(collection)
    if (index === undefined || index.missingFrom !== undefined) return undefined
    index.usedIn = this.period
    const values = index.labels.get(requirement.key)
    if (values === undefined) return nothing
    const found: OrderedKeys[] = []
    for (const keys of requirement.values === undefined ? values.values() : requirement.values.map((value) => values.get(value))) {
      if (keys !== undefined && found.push(keys) > mostSorted) return undefined
    }
    if (found.length <= mostMerged) return found.length === 1 ? found[0] : mergedKeys(found)
    if (mergedKeys(found).size > mostSorted) return undefined
    return keyListOf(sortTexts(found.flatMap((keys) => [...keys.from('')])))
  }

  update(change: Change): void {
    const index = this.collections.get(collectionOf(change.key))
    if (index === undefined) return
    // What is not in the index yet will be found there as it is then.
    if (index.missingFrom !== undefined && compareText(change.key, index.missingFrom) >= 0) return
    const before = change.previous === undefined ? undefined : new StoredObject(change.previous).labels()
    const after = change.value === undefined ? undefined : new StoredObject({ ...change, value: change.value }).labels()
    for (const [label, value] of Object.entries(before ?? {})) {
      if (after?.[label] !== value) this.remove(index, { key: change.key, label, value })
    }
    for (const [label, value] of Object.entries(after ?? {})) {
      if (before?.[label] !== value) this.add(index, { key: change.key, label, value })
    }
    if (this.heldBytes > this.maxBytes) this.giveUpLargest()
  }

  /** Ends a period: an index that was not asked in this one and the one before goes, and what was given up long ago is forgotten. */
  release(): void {
    for (const [collection, index] of this.collections) if (index.usedIn < this.period - 1) this.drop(collection, index)
    this.period += 1
    for (const [collection, { until, pause }] of this.givenUp) if (this.period >= until + pause) this.givenUp.delete(collection)
  }

  private buildMore(collection: string): void {
    const known = this.collections.get(collection)
    const index = known ?? {
      labels: new Map(),
      missingFrom: `${collection}/`,
      bytes: 0,
      usedIn: this.period,
      pause: this.pauseOf(collection),
    }
    if (known === undefined) this.collections.set(collection, index)
    if (index.missingFrom === undefined) return
    index.usedIn = this.period
    let left = entriesPerStep
    let looked = 0
    let next: string | undefined
    this.storage.scan({ start: index.missingFrom, end: `${collection}0` }, ({ key, revision, bytes, start, end }) => {
      // Nothing but the labels outlives the scan, so the bytes need no copy.
      const value = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
      for (const [label, labelled] of Object.entries(new StoredObject({ key, revision, value }).labels() ?? {}))
        this.add(index, { key, label, value: labelled })
      left -= 1
      looked += end - start
      if (left > 0 && looked < bytesPerStep) return true
      next = keyAfter(key)
      return false
    })
    index.missingFrom = next
    // Whoever comes last makes no room at the cost of those who are there: otherwise two that do not fit would drive each other out.
    if (this.heldBytes > this.maxBytes) this.giveUp(collection, index)
  }

  /** Of those that have grown, whichever was the last to. */
  private giveUpLargest(): void {
    let largest: readonly [string, CollectionIndex] | undefined
    for (const each of this.collections) if (largest === undefined || each[1].bytes > largest[1].bytes) largest = each
    if (largest !== undefined) this.giveUp(...largest)
  }

  private giveUp(collection: string, index: CollectionIndex): void {
    this.drop(collection, index)
    this.givenUp.set(collection, { until: this.period + index.pause, pause: index.pause })
  }

  private drop(collection: string, index: CollectionIndex): void {
    this.collections.delete(collection)
    this.heldBytes -= index.bytes
  }

  private isGivenUp(collection: string): boolean {
    const given = this.givenUp.get(collection)
    return given !== undefined && this.period < given.until
  }

  private pauseOf(collection: string): number {
    const given = this.givenUp.get(collection)
    return given === undefined ? firstPause : Math.min(given.pause * 2, longestPause)
  }

  private add(index: CollectionIndex, pair: LabelledKey): void {
    const values = getOrInsert(index.labels, pair.label, () => new Map<string, OrderedKeys>())
    if (!getOrInsert(values, pair.value, () => new OrderedKeys()).add(pair.key)) return
    index.bytes += bytesPerPair
    this.heldBytes += bytesPerPair
  }

  private remove(index: CollectionIndex, pair: LabelledKey): void {
    const values = index.labels.get(pair.label)
    const keys = values?.get(pair.value)
    if (values === undefined || keys === undefined || !keys.delete(pair.key)) return
    if (keys.size === 0) values.delete(pair.value)
    if (values.size === 0) index.labels.delete(pair.label)
    index.bytes -= bytesPerPair
    this.heldBytes -= bytesPerPair
  }
}

interface LabelledKey {
  readonly key: string
  readonly label: string
  readonly value: string
}

const nothing = keyListOf([])

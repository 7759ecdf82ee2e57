// Which objects of a collection carry a label, so that a selector that picks few of many does not look at all of them.
// Built when a collection is first selected from, kept true by changes, and given up when it would grow past its bound.

import { getOrInsert } from '../base/get-or-insert.js'
import { sortTexts } from '../base/text-order.js'
import type { Change, Storage } from '../storage/storage.js'
import { collectionOf } from './keys.js'
import { StoredObject } from './stored-object.js'

/** One condition that an object can meet only by carrying the label. */
export interface PositiveRequirement {
  readonly key: string
  /** The values that will do; undefined: any. */
  readonly values: readonly string[] | undefined
}

interface Posting {
  readonly keys: Set<string>
  /** The same in order, until the next change. */
  sorted: readonly string[] | undefined
}

interface CollectionIndex {
  /** Label, then value. */
  readonly labels: Map<string, Map<string, Posting>>
  bytes: number
  /** The period in which it was last asked for: see release. */
  usedIn: number
}

const scanPage = 1000
const scanBytes = 4 << 20
const bytesPerPair = 120

export class LabelIndex {
  private readonly storage: Storage
  private readonly maxBytes: number
  private readonly collections = new Map<string, CollectionIndex | 'too-large'>()
  private heldBytes = 0
  private period = 0

  constructor(storage: Storage, maxBytes: number) {
    this.storage = storage
    this.maxBytes = maxBytes
  }

  /** The keys of a collection that carry the label, in order; undefined when there is no index to ask. */
  keys(collection: string, requirement: PositiveRequirement): readonly string[] | undefined {
    const index = this.collections.get(collection) ?? this.build(collection)
    if (index === 'too-large') return undefined
    index.usedIn = this.period
    const values = index.labels.get(requirement.key)
    if (values === undefined) return []
    const postings = requirement.values === undefined ? [...values.values()] : requirement.values.map((value) => values.get(value))
    const found = postings.filter((posting) => posting !== undefined)
    if (found.length === 1) return sortedKeys(found[0] as Posting)
    return sortTexts(found.flatMap((posting) => [...posting.keys]))
  }

  update(change: Change): void {
    const index = this.collections.get(collectionOf(change.key))
    if (index === undefined || index === 'too-large') return
    const before = change.previous === undefined ? undefined : new StoredObject(change.previous).labels()
    const after = change.value === undefined ? undefined : new StoredObject({ ...change, value: change.value }).labels()
    for (const [label, value] of Object.entries(before ?? {})) {
      if (after?.[label] !== value) this.remove(index, { key: change.key, label, value })
    }
    for (const [label, value] of Object.entries(after ?? {})) {
      if (before?.[label] !== value) this.add(index, { key: change.key, label, value })
    }
    if (this.heldBytes > this.maxBytes) this.giveUp(collectionOf(change.key), index)
  }

  /** Ends a period: an index that was not asked in this one and the one before goes. */
  release(): void {
    for (const [collection, index] of this.collections) {
      if (index === 'too-large' || index.usedIn >= this.period - 1) continue
      this.collections.delete(collection)
      this.heldBytes -= index.bytes
    }
    this.period += 1
  }

  private build(collection: string): CollectionIndex | 'too-large' {
    const index: CollectionIndex = { labels: new Map(), bytes: 0, usedIn: this.period }
    let start = `${collection}/`
    for (;;) {
      const page = this.storage.range({ start, end: `${collection}0`, limit: scanPage, maxBytes: scanBytes })
      for (const entry of page.entries) {
        for (const [label, value] of Object.entries(new StoredObject(entry).labels() ?? {}))
          this.add(index, { key: entry.key, label, value })
        start = `${entry.key}\0`
      }
      if (this.heldBytes > this.maxBytes) return this.giveUp(collection, index)
      if (!page.more) break
    }
    this.collections.set(collection, index)
    return index
  }

  private giveUp(collection: string, index: CollectionIndex): 'too-large' {
    this.heldBytes -= index.bytes
    this.collections.set(collection, 'too-large')
    return 'too-large'
  }

  private add(index: CollectionIndex, pair: LabelledKey): void {
    const values = getOrInsert(index.labels, pair.label, () => new Map<string, Posting>())
    const posting = getOrInsert(values, pair.value, (): Posting => ({ keys: new Set(), sorted: undefined }))
    posting.keys.add(pair.key)
    posting.sorted = undefined
    index.bytes += bytesPerPair
    this.heldBytes += bytesPerPair
  }

  private remove(index: CollectionIndex, pair: LabelledKey): void {
    const values = index.labels.get(pair.label)
    const posting = values?.get(pair.value)
    if (values === undefined || posting === undefined || !posting.keys.delete(pair.key)) return
    posting.sorted = undefined
    if (posting.keys.size === 0) values.delete(pair.value)
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

function sortedKeys(posting: Posting): readonly string[] {
  posting.sorted ??= sortTexts([...posting.keys])
  return posting.sorted
}

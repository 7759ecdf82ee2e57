// Watch cache of encoded objects in representations other than stored JSON, bounded by bytes.

import type { ItemEncoding } from '@cluster-apiserver/api/codec/item-encoding.js'
import type { ItemStore, StoredObject } from '../entry/stored-object.js'

interface CachedItems {
  readonly revision: number
  readonly items: Map<ItemEncoding, Uint8Array>
  cost: number
}

const objectOverheadBytes = 256
const itemOverheadBytes = 160

class Generation {
  readonly entries = new Map<string, CachedItems>()
  bytes = 0

  take(key: string): CachedItems | undefined {
    const cached = this.entries.get(key)
    if (cached === undefined) return undefined
    this.entries.delete(key)
    this.bytes -= cached.cost
    return cached
  }
}

/** Two generations; the old one is dropped as a whole. A Map in LRU order would scan its removed entries on every eviction. */
export class ItemCache implements ItemStore {
  private readonly halfBytes: number
  private young = new Generation()
  private old = new Generation()

  constructor(maxBytes: number) {
    this.halfBytes = Math.floor(maxBytes / 2)
  }

  get bytes(): number {
    return this.young.bytes + this.old.bytes
  }

  item(object: StoredObject, encoding: ItemEncoding): Uint8Array {
    const found = this.find(object, encoding)
    if (found !== undefined) return found
    const item = object.encodeItem(encoding)
    this.add(object, encoding, item)
    return item
  }

  /** Does not replace an item of a newer revision: pages of older revisions are read once. */
  add(object: StoredObject, encoding: ItemEncoding, item: Uint8Array): void {
    if ((this.lookUp(object.key)?.revision ?? 0) <= object.revision) this.insert(object, encoding, item)
  }

  find({ key, revision }: StoredObject, encoding: ItemEncoding): Uint8Array | undefined {
    const cached = this.lookUp(key)
    const found = cached?.revision === revision ? cached.items.get(encoding) : undefined
    if (cached === undefined || found === undefined) return undefined
    if (this.old.take(key) !== undefined) this.put(key, cached)
    return found
  }

  drop(key: string): void {
    if (this.young.take(key) === undefined) this.old.take(key)
  }

  /** Evicts objects that were not read in this period and the one before. */
  endPeriod(): void {
    this.old = this.young
    this.young = new Generation()
  }

  clear(): void {
    this.endPeriod()
    this.endPeriod()
  }

  private lookUp(key: string): CachedItems | undefined {
    return this.young.entries.get(key) ?? this.old.entries.get(key)
  }

  /** Copies the item: it may be part of a larger buffer, which the cache would keep in memory. */
  private insert({ key, revision }: StoredObject, encoding: ItemEncoding, item: Uint8Array): void {
    const cost = item.length + itemOverheadBytes
    const before = this.young.take(key) ?? this.old.take(key)
    const cached =
      before?.revision === revision ? before : { revision, items: new Map<ItemEncoding, Uint8Array>(), cost: objectOverheadBytes }
    if (!cached.items.has(encoding) && cached.cost + cost <= this.halfBytes) {
      cached.items.set(encoding, item.slice())
      cached.cost += cost
    }
    if (cached.items.size > 0) this.put(key, cached)
  }

  private put(key: string, cached: CachedItems): void {
    if (this.young.bytes + cached.cost > this.halfBytes) this.endPeriod()
    this.young.entries.set(key, cached)
    this.young.bytes += cached.cost
  }
}

// Watch cache of single objects and their decoded values, bounded by bytes and updated by every change.

import type { Change } from '../../storage/storage.js'
import { committing } from '../entry/encoded-object.js'
import { StoredObject } from '../entry/stored-object.js'
import type { ItemCache } from './item-cache.js'

/** Estimate for a decoded or converted object. */
const decodedCost = (size: number): number => 6 * size
const costOf = ({ size, conversions }: StoredObject): number => 512 + decodedCost(size) * (1 + conversions)

export class ObjectCache {
  private readonly maxBytes: number
  private readonly itemCache: ItemCache | undefined
  private readonly objects = new Map<string, StoredObject>()
  private cachedBytes = 0

  constructor(maxBytes: number, itemCache?: ItemCache) {
    this.maxBytes = maxBytes
    this.itemCache = itemCache
  }

  get bytes(): number {
    return this.cachedBytes
  }

  get(key: string): StoredObject | undefined {
    return this.objects.get(key)
  }

  add(object: StoredObject): void {
    const cost = costOf(object)
    this.drop(object.key)
    if (cost > this.maxBytes) return
    this.objects.set(object.key, object)
    this.cachedBytes += cost
    object.owningCache = this
    this.shrink()
  }

  /** Returns the object before the change, if it was cached. */
  update({ key, revision, value }: Change): StoredObject | undefined {
    const before = this.objects.get(key)
    if (before === undefined) return undefined
    if (value === undefined) this.drop(key)
    else this.add(new StoredObject({ key, revision, value }, this.itemCache).setSource(committing.get(value)))
    return before
  }

  clear(): void {
    for (const key of [...this.objects.keys()]) this.drop(key)
  }

  grow({ size }: StoredObject): void {
    this.cachedBytes += decodedCost(size)
    this.shrink()
  }

  private shrink(): void {
    for (const key of this.objects.keys()) {
      if (this.cachedBytes <= this.maxBytes) break
      this.drop(key)
    }
  }

  private drop(key: string): void {
    const cached = this.objects.get(key)
    if (cached === undefined) return
    this.objects.delete(key)
    this.cachedBytes -= costOf(cached)
    cached.owningCache = undefined
  }
}

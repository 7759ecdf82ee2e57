// Objects that are wanted again and again, such as those that somebody keeps reading or changing, and their namespaces: found here
// without a look into the store. Kept true by changes, within a bound on bytes.

import type { Change } from '../storage/storage.js'
import type { ItemCache } from './item-cache.js'
import { StoredObject } from './stored-object.js'

/** An object may be held decoded as well, which takes a multiple of its bytes, and so may what it was converted to. */
const formCost = (size: number): number => 6 * size
const costOf = ({ size, conversions }: StoredObject): number => 512 + formCost(size) * (1 + conversions)

export class ObjectCache {
  private readonly maxBytes: number
  private readonly items: ItemCache | undefined
  /** Those that were kept or changed longest ago first. */
  private readonly objects = new Map<string, StoredObject>()
  private heldBytes = 0

  /** `items`: where other forms of these objects are kept. */
  constructor(maxBytes: number, items?: ItemCache) {
    this.maxBytes = maxBytes
    this.items = items
  }

  get bytes(): number {
    return this.heldBytes
  }

  get(key: string): StoredObject | undefined {
    return this.objects.get(key)
  }

  keep(object: StoredObject): void {
    const cost = costOf(object)
    this.drop(object.key)
    if (cost > this.maxBytes) return
    this.objects.set(object.key, object)
    this.heldBytes += cost
    object.heldBy = this
    this.shrink()
  }

  /** What is held here follows what is stored. */
  update({ key, revision, value }: Change): void {
    if (!this.objects.has(key)) return
    if (value === undefined) this.drop(key)
    else this.keep(new StoredObject({ key, revision, value }, this.items))
  }

  clear(): void {
    for (const key of [...this.objects.keys()]) this.drop(key)
  }

  /** An object that is held here was converted to one version more. */
  grow({ size }: StoredObject): void {
    this.heldBytes += formCost(size)
    this.shrink()
  }

  private shrink(): void {
    if (this.heldBytes <= this.maxBytes) return
    for (const key of this.objects.keys()) {
      if (this.heldBytes <= this.maxBytes) break
      this.drop(key)
    }
  }

  private drop(key: string): void {
    const held = this.objects.get(key)
    if (held === undefined) return
    this.objects.delete(key)
    this.heldBytes -= costOf(held)
    held.heldBy = undefined
  }
}

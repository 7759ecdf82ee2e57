// Single objects in other forms than stored JSON, kept from one read to the next within a bound on bytes: what GET and selections ask for
// again and again is decoded and encoded once per version. Lists of whole ranges have a cache of their own.

import type { ItemForm } from '../codec/item-form.js'
import type { StoredObject } from './stored-object.js'

interface Kept {
  readonly revision: number
  readonly items: Map<ItemForm, Uint8Array>
  cost: number
  /** The period in which it was last asked for: see release. */
  usedIn: number
}

/** What the bookkeeping takes, for each object and for each form of it. */
const objectCost = 256
const itemCost = 160

export class ItemCache {
  private readonly maxBytes: number
  /** By key, the least recently used first. */
  private readonly kept = new Map<string, Kept>()
  private heldBytes = 0
  private period = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  get bytes(): number {
    return this.heldBytes
  }

  /** The item of this version of an object, made if it is not there. */
  item(object: StoredObject, form: ItemForm): Uint8Array {
    const found = this.find(object, form)
    if (found !== undefined) return found
    const made = object.makeItem(form)
    this.add(object, form, made)
    return made
  }

  /** Keeps what was made. A past version that is read by pages is not worth the room that the newest one has. */
  add(object: StoredObject, form: ItemForm, made: Uint8Array): void {
    if ((this.kept.get(object.key)?.revision ?? 0) <= object.revision) this.keep(object, form, made)
  }

  /** The item of this version of an object, if it is there. */
  find({ key, revision }: StoredObject, form: ItemForm): Uint8Array | undefined {
    const known = this.kept.get(key)
    const found = known?.revision === revision ? known.items.get(form) : undefined
    if (known === undefined || found === undefined) return undefined
    this.kept.delete(key)
    this.kept.set(key, known)
    known.usedIn = this.period
    return found
  }

  /** A key has changed: what is kept of it will not be asked for again. */
  drop(key: string): void {
    const known = this.kept.get(key)
    if (known === undefined) return
    this.kept.delete(key)
    this.heldBytes -= known.cost
  }

  /** Ends a period: what was not asked for in this one and the one before goes. */
  release(): void {
    for (const [key, { usedIn }] of this.kept) {
      if (usedIn >= this.period - 1) break
      this.drop(key)
    }
    this.period += 1
  }

  clear(): void {
    this.kept.clear()
    this.heldBytes = 0
  }

  /** In memory of its own: what was just made may lie in a slab with others, all of which it would hold. */
  private keep({ key, revision }: StoredObject, form: ItemForm, made: Uint8Array): void {
    const cost = made.length + itemCost
    if (cost + objectCost > this.maxBytes) return
    if (this.kept.get(key)?.revision !== revision) this.drop(key)
    const kept = this.kept.get(key) ?? { revision, items: new Map(), cost: 0, usedIn: this.period }
    const added = cost + (kept.cost === 0 ? objectCost : 0)
    kept.items.set(form, made.slice())
    kept.cost += added
    kept.usedIn = this.period
    this.heldBytes += added
    this.kept.delete(key)
    this.kept.set(key, kept)
    for (const oldest of this.kept.keys()) {
      if (this.heldBytes <= this.maxBytes) break
      this.drop(oldest)
    }
  }
}

// Single objects in other forms than stored JSON, kept from one read to the next within a bound on bytes: what GET and selections ask for
// again and again is decoded and encoded once per version. Lists of whole ranges have a cache of their own.

import type { ItemForm } from '../codec/item-form.js'
import type { StoredObject } from './stored-object.js'

interface Kept {
  readonly revision: number
  readonly items: Map<ItemForm, Uint8Array>
  cost: number
}

/** What the bookkeeping takes, for each object and for each form of it. */
const objectCost = 256
const itemCost = 160

/** By key. */
class Generation {
  readonly kept = new Map<string, Kept>()
  bytes = 0

  take(key: string): Kept | undefined {
    const known = this.kept.get(key)
    if (known === undefined) return undefined
    this.kept.delete(key)
    this.bytes -= known.cost
    return known
  }
}

/**
 * What was asked for since the last change of generations is in the young one, and what was asked for before that in the old one, which goes as a
 * whole. An order of all keys would cost more with every key: the platform's maps pass over all that was removed from their beginning.
 */
export class ItemCache {
  private readonly halfBytes: number
  private young = new Generation()
  private old = new Generation()

  constructor(maxBytes: number) {
    this.halfBytes = Math.floor(maxBytes / 2)
  }

  get bytes(): number {
    return this.young.bytes + this.old.bytes
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
    if ((this.known(object.key)?.revision ?? 0) <= object.revision) this.keep(object, form, made)
  }

  /** The item of this version of an object, if it is there. */
  find({ key, revision }: StoredObject, form: ItemForm): Uint8Array | undefined {
    const known = this.known(key)
    const found = known?.revision === revision ? known.items.get(form) : undefined
    if (known === undefined || found === undefined) return undefined
    if (this.old.take(key) !== undefined) this.put(key, known)
    return found
  }

  /** A key has changed: what is kept of it will not be asked for again. */
  drop(key: string): void {
    if (this.young.take(key) === undefined) this.old.take(key)
  }

  /** Ends a period: what was not asked for in this one and the one before goes. */
  release(): void {
    this.old = this.young
    this.young = new Generation()
  }

  clear(): void {
    this.release()
    this.release()
  }

  private known(key: string): Kept | undefined {
    return this.young.kept.get(key) ?? this.old.kept.get(key)
  }

  /** In memory of its own: what was just made may lie in a slab with others, all of which it would hold. */
  private keep({ key, revision }: StoredObject, form: ItemForm, made: Uint8Array): void {
    const cost = made.length + itemCost
    const before = this.young.take(key) ?? this.old.take(key)
    const kept = before?.revision === revision ? before : { revision, items: new Map<ItemForm, Uint8Array>(), cost: objectCost }
    if (!kept.items.has(form) && kept.cost + cost <= this.halfBytes) {
      kept.items.set(form, made.slice())
      kept.cost += cost
    }
    if (kept.items.size > 0) this.put(key, kept)
  }

  private put(key: string, kept: Kept): void {
    if (this.young.bytes + kept.cost > this.halfBytes) this.release()
    this.young.kept.set(key, kept)
    this.young.bytes += kept.cost
  }
}

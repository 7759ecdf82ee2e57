// Items of large objects in other representations than stored JSON: made in a worker thread before a list or watch needs them.

import { getOrInsert } from '../base/get-or-insert.js'
import { isLarge } from '../base/large.js'
import type { ItemForm } from '../codec/item-form.js'
import type { ScannedEntry } from '../storage/storage.js'
import { isCurrent, type StoredObject } from './stored-object.js'

/** Encodes items in worker threads. */
export interface ItemMaker {
  /** False for representations that cannot be described to a worker thread. */
  knows(form: ItemForm): boolean
  make(form: ItemForm, object: StoredObject): Promise<Uint8Array>
}

export class LargeItems {
  /** Left out: all items are made on the event loop. */
  maker: ItemMaker | undefined
  /** Items being made, shared by all who want the same. */
  readonly #making = new Map<ItemForm, Map<string, Promise<Uint8Array>>>()

  /** False for items that are copied from the store. */
  isLarge(form: ItemForm, scanned: Pick<ScannedEntry, 'bytes' | 'start' | 'end'>): boolean {
    if (this.maker === undefined || scanned.end - scanned.start < minLargeBytes) return false
    if (form.isStored && isCurrent(scanned, form.resource)) return false
    return isLarge(scanned.bytes.subarray(scanned.start, scanned.end)) && this.maker.knows(form)
  }

  /** Makes the item if the object is large and its item is not cached; undefined if there is nothing to await. */
  ahead(object: StoredObject, form: ItemForm): Promise<void> | undefined {
    const { value } = object.entry
    if (value.length < minLargeBytes || this.maker === undefined) return undefined
    if (!this.isLarge(form, { bytes: value, start: 0, end: value.length }) || object.keptItem(form) !== undefined) return undefined
    const making = this.#make(this.maker, object, form)
    // Callers that await it get the error; a caller that failed earlier because of another object does not await it.
    making.catch(() => undefined)
    return making
  }

  async #make(maker: ItemMaker, object: StoredObject, form: ItemForm): Promise<void> {
    const making = getOrInsert(this.#making, form, () => new Map<string, Promise<Uint8Array>>())
    const id = `${object.revision} ${object.key}`
    const made = getOrInsert(making, id, () =>
      maker.make(form, object).finally(() => {
        making.delete(id)
        if (making.size === 0) this.#making.delete(form)
      }),
    )
    object.keepItem(form, await made)
  }
}

/** Objects below this size are never large. */
export const minLargeBytes = 8 << 10

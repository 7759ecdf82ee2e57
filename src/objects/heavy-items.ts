// Items that are too heavy to be made on the event loop, made elsewhere before anybody asks for them: what is made of one large object cannot
// be cut into pieces.

import { getOrInsert } from '../base/get-or-insert.js'
import { isHeavy } from '../base/weight.js'
import type { ItemForm } from '../codec/item-form.js'
import type { ScannedEntry } from '../storage/storage.js'
import { isCurrent, type StoredObject } from './stored-object.js'

/** Whoever makes items beside the event loop. */
export interface ItemMaker {
  /** Whether it knows the kind, and the form. */
  knows(form: ItemForm): boolean
  make(form: ItemForm, object: StoredObject): Promise<Uint8Array>
}

export class HeavyItems {
  /** Left out: everything is made where it is asked for. */
  maker: ItemMaker | undefined
  /** What is being made, for all who want the same. */
  readonly #making = new Map<ItemForm, Map<string, Promise<Uint8Array>>>()

  /** Whether the item of an entry is to be made ahead. One that is copied from the store weighs nothing. */
  isHeavy(form: ItemForm, scanned: Pick<ScannedEntry, 'bytes' | 'start' | 'end'>): boolean {
    if (this.maker === undefined || scanned.end - scanned.start < leastHeavyBytes) return false
    if (form.isStored && isCurrent(scanned, form.resource)) return false
    return isHeavy(scanned.bytes.subarray(scanned.start, scanned.end)) && this.maker.knows(form)
  }

  /** Makes the item of an object ready, if it is heavy and not at hand; undefined where nothing has to be waited for. */
  ahead(object: StoredObject, form: ItemForm): Promise<void> | undefined {
    const { value } = object.entry
    if (value.length < leastHeavyBytes || this.maker === undefined) return undefined
    if (!this.isHeavy(form, { bytes: value, start: 0, end: value.length }) || object.keptItem(form) !== undefined) return undefined
    const making = this.#make(this.maker, object, form)
    // Whoever waits for it hears of a failure; who gave up before, because of another object, has told of that.
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

/** Of so little nobody needs to look at more than the length. */
export const leastHeavyBytes = 16 << 10

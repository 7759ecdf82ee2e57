// Encodes large objects for lists and watches in a worker thread, in representations other than stored JSON.

import { isLarge } from '@cluster-apiserver/api/base/large-input.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import type { ItemEncoding } from '@cluster-apiserver/api/codec/item-encoding.js'
import type { ScannedEntry } from '../../storage/storage.js'
import { isCurrent, type StoredObject } from '../entry/stored-object.js'

export interface ItemEncoder {
  /** False for representations that cannot be sent to a worker thread. */
  canEncodeItem(encoding: ItemEncoding): boolean
  encodeItem(encoding: ItemEncoding, object: StoredObject): Promise<Uint8Array>
}

export class LargeItems {
  /** Undefined: all items are encoded on the event loop. */
  encoder: ItemEncoder | undefined
  readonly #pendingItems = new Map<ItemEncoding, Map<string, Promise<Uint8Array>>>()

  /** True if the worker thread must encode the item; false for small objects and for items that are copied from the store. */
  isLarge(encoding: ItemEncoding, scanned: Pick<ScannedEntry, 'bytes' | 'start' | 'end'>): boolean {
    if (this.encoder === undefined || scanned.end - scanned.start < minLargeBytes) return false
    if (encoding.isStored && isCurrent(scanned, encoding.resource)) return false
    return isLarge(scanned.bytes.subarray(scanned.start, scanned.end)) && this.encoder.canEncodeItem(encoding)
  }

  /** Encodes the item if the object is large and its item is not cached. Undefined: nothing to await. */
  prepare(object: StoredObject, encoding: ItemEncoding): Promise<void> | undefined {
    const { value } = object.entry
    if (value.length < minLargeBytes || this.encoder === undefined) return undefined
    if (!this.isLarge(encoding, { bytes: value, start: 0, end: value.length }) || object.cachedItem(encoding) !== undefined)
      return undefined
    const encoded = this.#encode(this.encoder, object, encoding)
    encoded.catch(() => undefined)
    return encoded
  }

  async #encode(itemEncoder: ItemEncoder, object: StoredObject, encoding: ItemEncoding): Promise<void> {
    const pending = getOrInsert(this.#pendingItems, encoding, () => new Map<string, Promise<Uint8Array>>())
    const id = `${object.revision} ${object.key}`
    const item = getOrInsert(pending, id, () =>
      itemEncoder.encodeItem(encoding, object).finally(() => {
        pending.delete(id)
        if (pending.size === 0) this.#pendingItems.delete(encoding)
      }),
    )
    object.cacheItem(encoding, await item)
  }
}

/** Objects below this size are never large. */
export const minLargeBytes = 8 << 10

// ItemEncoding: encodes an object as one item of a list, in one representation. ListEncoding: encodes a list of encoded items.

import type { Resource } from '../api/catalog/resource.js'
import type { ListMeta } from '../api/meta.schema.js'
import type { ApiObject } from '../api/object.js'
import type { Representation } from './content-negotiation.js'
import type { IncludeObject } from './table/table.js'

export interface EncodingChoice extends Pick<Representation, 'format' | 'as'> {
  readonly includeObject?: IncludeObject
}

/** One value per kind and representation, because caches of encoded items use it as a key. */
export interface ItemEncoding {
  readonly resource: Resource
  /** Undefined: items cannot be encoded in a worker thread. */
  readonly choice?: EncodingChoice
  /** True if items are the stored JSON with its resourceVersion: nothing is decoded or cached. */
  readonly isStored?: boolean
  /** Start of an item with its kind and apiVersion, which the stored JSON lacks. */
  readonly storedHead?: Uint8Array
  /** True if zero and absent fields are encoded alike. */
  readonly ignoresZeros?: boolean
  readonly separator: Uint8Array
  /** Default: by name. */
  readonly order?: ((a: ApiObject, b: ApiObject) => number) | undefined
  item(object: ApiObject): Uint8Array
}

export interface ListEncoding extends ItemEncoding {
  /** `now`: milliseconds since 1970, for ages in tables. */
  list(metadata: ListMeta, items: EncodedItems, now: number): AsyncIterable<Uint8Array>
}

export const comma = Uint8Array.of(0x2c)
export const noSeparator = new Uint8Array()

export interface ItemSource {
  item(encoding: ItemEncoding): Uint8Array
  /** Returns `head`, the members of the stored JSON with the resourceVersion, and `end`. */
  render(head: Uint8Array, end: Uint8Array, resource: Resource): Uint8Array
}

/** Encoded items with separators. Can be iterated once. */
export interface EncodedItems extends AsyncIterable<Uint8Array> {
  /** Returns the total bytes, undefined if more than `maxBytes`. Call it before iterating. */
  measure(maxBytes: number): Promise<number | undefined>
}

// Forms of objects of which a list is made item by item, so that items can be kept under them.

import type { Resource } from '../api/catalog.js'
import type { ListMeta } from '../api/meta.schema.js'
import type { ApiObject } from '../api/object.js'
import type { Promised } from '../base/promised.js'
import type { Representation } from './negotiation.js'
import type { IncludeObject } from './table.js'

/** Which form of a kind it is, as a value: what is made of the same words elsewhere is the same form. */
export interface FormWish extends Pick<Representation, 'format' | 'as'> {
  readonly includeObject?: IncludeObject
}

/** There is one value for each form of a kind: what was made in it is found again by it. */
export interface ItemForm {
  /** The kind, in the version that is shown. */
  readonly resource: Resource
  /** Left out: items can be made here alone. */
  readonly wish?: FormWish
  /** Items are the JSON that is stored, with its version: nothing is decoded for them, and to keep one would save nothing. */
  readonly isStored?: boolean
  /** What such an item begins with; left out: a brace. */
  readonly storedHead?: Uint8Array
  /** Whether a field that is zero is written like one that is absent, so that it does not matter which it is. */
  readonly ignoresZeros?: boolean
  /** What stands between two items of a list. */
  readonly separator: Uint8Array
  /** The order of items in a list, as they are stored, where it is not that of names. */
  readonly order?: ((a: ApiObject, b: ApiObject) => number) | undefined
  /** One object, in the version that is shown, as it stands in a list. */
  item(object: ApiObject): Uint8Array
}

/** A form in which whole lists go out. */
export interface ListForm extends ItemForm {
  /** The list in pieces. `now`: milliseconds since 1970, for what depends on it. */
  list(metadata: ListMeta, items: ItemSlices, now: number): Promised<Pieces>
}

export const comma = Uint8Array.of(0x2c)
export const noSeparator = new Uint8Array()

/** An object of which forms make bytes. */
export interface ItemSource {
  /** As it stands in a list. */
  item(form: ItemForm): Uint8Array
  /** The members of its JSON in the version that the kind is stored in, with its resourceVersion, between two other pieces. */
  render(head: Uint8Array, end: Uint8Array, resource: Resource): Uint8Array
}

/** One piece after the other; undefined behind the last. */
export type Pieces = () => Promised<Uint8Array | undefined>

/** The items of a page with what stands between them, cut into slices in front of a separator. Gone through once. */
export interface ItemSlices {
  readonly next: Pieces
  /** How many bytes they have together, found by reading ahead; undefined if more than `most`. To be asked before `next`. */
  measure(most: number): Promised<number | undefined>
}

/** Pieces between a first and a last one. */
export function piecesAround(head: Uint8Array, inner: Pieces, end: Uint8Array): Pieces {
  let step: 'head' | 'inner' | 'done' = 'head'
  const orEnd = (piece: Uint8Array | undefined): Uint8Array => {
    if (piece === undefined) step = 'done'
    return piece ?? end
  }
  return () => {
    if (step === 'done') return undefined
    if (step === 'inner') {
      const piece = inner()
      return piece instanceof Promise ? piece.then(orEnd) : orEnd(piece)
    }
    step = 'inner'
    return head
  }
}

export function onePiece(piece: Uint8Array): Pieces {
  let left: Uint8Array | undefined = piece
  return () => {
    const given = left
    left = undefined
    return given
  }
}

// The items of a page on their way to a client: the one place where a list is held. The beginning stays in memory when somebody has to know
// the end before the answer can begin; what follows it is read again while it is sent.

import type { ApiObject } from '../api/object.js'
import { nowOrInPieces, type PieceClock, uncut } from '../base/pieces.js'
import type { Promised } from '../base/promised.js'
import type { ItemForm, ItemSlices } from '../codec/item-form.js'
import { keyAfter } from './keys.js'

/** Items of a list, each with what separates it from the one before it in front. */
export interface ListSlice {
  readonly bytes: Uint8Array
  readonly count: number
  readonly lastKey: string
}

/**
 * Where a page is read from: the slices from a key on, of which `taken` objects were read before. It gives undefined where much was looked at
 * without anything to show for it, so that others can have a turn.
 */
export type OpenSlices = (start: string, taken: number) => Iterator<Promised<ListSlice | undefined>>

export interface PageSource {
  readonly open: OpenSlices
  readonly start: string
  readonly separator: Uint8Array
  /** How the reading is cut; left out: not at all. */
  readonly pieces?: PieceClock | undefined
}

/** How much of a page is kept while its end is looked for. */
const mostKeptBytes = 4 << 20

export class PageSlices implements ItemSlices {
  readonly #open: OpenSlices
  readonly #separatorBytes: number
  readonly #pieces: PieceClock
  /** Read ahead, and not given yet. */
  #begun: Uint8Array[] = []
  #source: Iterator<Promised<ListSlice | undefined>> | undefined
  /** Where those that are not kept begin, and how many are in front of it. */
  #rest: { start: string; taken: number }
  #isFirst = true
  #total: number | undefined
  #lastKey: string | undefined
  #count = 0

  constructor({ open, start, separator, pieces }: PageSource) {
    this.#open = open
    this.#pieces = pieces ?? uncut
    this.#rest = { start, taken: 0 }
    this.#separatorBytes = separator.length
  }

  /** The last key of all, once they have been measured. */
  get lastKey(): string | undefined {
    return this.#lastKey
  }

  /** How many there are, once they have been measured. */
  get count(): number {
    return this.#count
  }

  readonly next = (): Promised<Uint8Array | undefined> => {
    const begun = this.#begun.shift()
    if (begun !== undefined) return begun
    for (;;) {
      if (this.#pieces.isOver) return this.#pieces.next().then(this.next)
      const slice = this.#read()
      if (slice === 'end') return undefined
      if (slice instanceof Promise) return slice.then((later) => (later === undefined ? this.next() : this.#bytesOf(later)))
      if (slice !== undefined) return this.#bytesOf(slice)
    }
  }

  measure(most: number): Promised<number | undefined> {
    return nowOrInPieces(this.measuring(most), this.#pieces)
  }

  /** The same, step by step. */
  *measuring(most: number): Generator<Promise<void> | undefined, number | undefined, void> {
    if (this.#total !== undefined) return this.#total <= most ? this.#total : undefined
    let total = 0
    for (const bytes of this.#begun) total += bytes.length
    let isKept = true
    let dropped = 0
    while (total <= most) {
      const read = this.#read()
      if (read === 'end') {
        this.#total = total
        this.#count = this.#rest.taken + dropped
        break
      }
      let slice = read instanceof Promise ? undefined : read
      yield read instanceof Promise
        ? read.then((later) => {
            slice = later
          })
        : undefined
      if (slice === undefined) continue
      const bytes = this.#bytesOf(slice)
      isKept &&= total < mostKeptBytes
      total += bytes.length
      this.#lastKey = slice.lastKey
      if (isKept) {
        this.#begun.push(bytes)
        this.#rest = { start: keyAfter(slice.lastKey), taken: this.#rest.taken + slice.count }
      } else dropped += slice.count
    }
    if (!isKept) this.#source = undefined
    return this.#total
  }

  #read(): Promised<ListSlice | undefined> | 'end' {
    this.#source ??= this.#open(this.#rest.start, this.#rest.taken)
    const next = this.#source.next()
    return next.done ? 'end' : next.value
  }

  /** In front of the first of all there is nothing that it could be separated from. */
  #bytesOf({ bytes }: ListSlice): Uint8Array {
    if (!this.#isFirst) return bytes
    this.#isFirst = false
    return bytes.subarray(this.#separatorBytes)
  }
}

/** The items of objects that are at hand and not stored. */
export const slicesOf = (objects: readonly ApiObject[], form: ItemForm): ItemSlices =>
  slicesOfItems(
    objects.map((object) => form.item(object)),
    form.separator,
  )

export function slicesOfItems(items: readonly Uint8Array[], separator: Uint8Array): ItemSlices {
  const pieces = items.flatMap((item, i) => (i === 0 ? [item] : [separator, item]))
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0)
  return { next: () => pieces.shift(), measure: (most) => (bytes <= most ? bytes : undefined) }
}

// The items of a page on their way to a client: the one place where a list is held. The beginning stays in memory when somebody has to know
// the end before the answer can begin; what follows it is read again while it is sent.

import type { ApiObject } from '../api/object.js'
import type { Promised } from '../base/promised.js'
import type { ItemForm, ItemSlices } from '../codec/item-form.js'
import { keyAfter } from './keys.js'

/** Items of a list, each with what separates it from the one before it in front. */
export interface ListSlice {
  readonly bytes: Uint8Array
  readonly count: number
  readonly lastKey: string
}

/** Where a page is read from: the slices from a key on, of which `taken` objects were read before. */
export type OpenSlices = (start: string, taken: number) => Iterator<Promised<ListSlice>>

/** How far a page has been read ahead. */
interface Measured {
  total: number
  /** Whether all of it is in memory. */
  isKept: boolean
  /** How many objects are not. */
  dropped: number
}

/** How much of a page is kept while its end is looked for. */
const mostKeptBytes = 4 << 20

export class PageSlices implements ItemSlices {
  readonly #open: OpenSlices
  readonly #separatorBytes: number
  /** Read ahead, and not given yet. */
  #begun: Uint8Array[] = []
  #source: Iterator<Promised<ListSlice>> | undefined
  /** Where those that are not kept begin, and how many are in front of it. */
  #rest: { start: string; taken: number }
  #isFirst = true
  #total: number | undefined
  #lastKey: string | undefined
  #count = 0

  constructor(open: OpenSlices, start: string, separator: Uint8Array) {
    this.#open = open
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
    const slice = this.#read()
    return slice instanceof Promise ? slice.then((later) => this.#bytesOf(later)) : slice && this.#bytesOf(slice)
  }

  measure(most: number): Promised<number | undefined> {
    if (this.#total !== undefined) return this.#total <= most ? this.#total : undefined
    return this.#readAhead(most, { total: this.#begun.reduce((sum, { length }) => sum + length, 0), isKept: true, dropped: 0 })
  }

  #readAhead(most: number, so: Measured): Promised<number | undefined> {
    while (so.total <= most) {
      const slice = this.#read()
      if (slice instanceof Promise) {
        return slice.then((later) => {
          this.#account(later, so)
          return this.#readAhead(most, so)
        })
      }
      if (slice === undefined) {
        this.#total = so.total
        this.#count = this.#rest.taken + so.dropped
        break
      }
      this.#account(slice, so)
    }
    if (!so.isKept) this.#source = undefined
    return this.#total
  }

  #account(slice: ListSlice, so: Measured): void {
    const bytes = this.#bytesOf(slice)
    so.isKept &&= so.total < mostKeptBytes
    so.total += bytes.length
    this.#lastKey = slice.lastKey
    if (so.isKept) {
      this.#begun.push(bytes)
      this.#rest = { start: keyAfter(slice.lastKey), taken: this.#rest.taken + slice.count }
    } else so.dropped += slice.count
  }

  #read(): Promised<ListSlice> | undefined {
    this.#source ??= this.#open(this.#rest.start, this.#rest.taken)
    const next = this.#source.next()
    return next.done ? undefined : next.value
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

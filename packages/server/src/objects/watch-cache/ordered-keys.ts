// A set of keys in order, as a list of short sorted runs: it is read from any key on, and a change moves at most one run. Made for keys that
// arrive in order, of which each is appended.

import { comparisonOf, countBefore } from '../base/text-order.js'

const longestRun = 512

/** Keys that can be gone through in order, from one of them on. */
export interface KeyList {
  readonly size: number
  from(start: string): Iterable<string>
}

export class OrderedKeys implements KeyList {
  /** None of them is empty. */
  readonly #runs: string[][] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Whether it was not there. */
  add(key: string): boolean {
    const at = this.#runAt(key)
    const run = this.#runs[at]
    if (run === undefined) {
      this.#runs.push([key])
      this.#size += 1
      return true
    }
    const place = countBefore(run, key)
    if (run[place] === key) return false
    if (place === run.length) run.push(key)
    else run.splice(place, 0, key)
    this.#size += 1
    if (run.length > longestRun) this.#split(at, run)
    return true
  }

  /** Whether it was there. */
  delete(key: string): boolean {
    const at = this.#runAt(key)
    const run = this.#runs[at]
    const place = run === undefined ? 0 : countBefore(run, key)
    if (run === undefined || run[place] !== key) return false
    run.splice(place, 1)
    if (run.length === 0) this.#runs.splice(at, 1)
    this.#size -= 1
    return true
  }

  /** Whoever has begun must not go on when the set has changed. */
  *from(start: string): Generator<string> {
    let at = this.#runAt(start)
    let place = countBefore(this.#runs[at] ?? [], start)
    for (let run = this.#runs[at]; run !== undefined; run = this.#runs[++at], place = 0) {
      for (; place < run.length; place++) yield run[place] as string
    }
  }

  /** Of the run in which a key is, or would be inserted: the last one that does not begin after it. */
  #runAt(key: string): number {
    const compare = comparisonOf(key)
    let low = 0
    let high = this.#runs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compare((this.#runs[middle] as string[])[0] as string, key) <= 0) low = middle + 1
      else high = middle
    }
    return Math.max(0, low - 1)
  }

  /** The last run is split at its end: keys that arrive in order leave full runs behind. */
  #split(at: number, run: string[]): void {
    this.#runs.splice(at + 1, 0, run.splice(at === this.#runs.length - 1 ? longestRun : longestRun >> 1))
  }
}

/** A few keys that are in order. */
export const keyListOf = (keys: readonly string[]): KeyList => ({
  size: keys.length,
  from: (start) => keys.slice(countBefore(keys, start)),
})

/** Several lists without common keys as one. */
export const mergedKeys = (lists: readonly KeyList[]): KeyList => ({
  size: lists.reduce((sum, { size }) => sum + size, 0),
  from: (start) => merge(lists.map((list) => list.from(start)[Symbol.iterator]())),
})

function* merge(sources: readonly Iterator<string>[]): Generator<string> {
  const heads = sources.map((source) => source.next())
  for (;;) {
    let least = -1
    for (const [i, head] of heads.entries()) {
      if (head.done) continue
      const before = heads[least]
      if (before === undefined || before.done || comparisonOf(head.value)(head.value, before.value) < 0) least = i
    }
    const head = heads[least]
    if (head === undefined || head.done) return
    yield head.value
    heads[least] = (sources[least] as Iterator<string>).next()
  }
}

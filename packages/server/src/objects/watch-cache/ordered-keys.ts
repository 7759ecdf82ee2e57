// Sorted set of keys as a list of short sorted runs, so that a change moves at most one run.

import { comparatorFor, countLeading, lowerBound } from '@cluster-apiserver/api/base/text-order.js'

const maxRunLength = 512

export interface KeyList {
  readonly size: number
  from(start: string): Iterable<string>
}

export class OrderedKeys implements KeyList {
  readonly #runs: string[][] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  add(key: string): boolean {
    const runIndex = this.#runAt(key)
    const run = this.#runs[runIndex]
    if (run === undefined) {
      this.#runs.push([key])
      this.#size += 1
      return true
    }
    const index = lowerBound(run, key)
    if (run[index] === key) return false
    if (index === run.length) run.push(key)
    else run.splice(index, 0, key)
    this.#size += 1
    if (run.length > maxRunLength) this.#split(runIndex, run)
    return true
  }

  delete(key: string): boolean {
    const runIndex = this.#runAt(key)
    const run = this.#runs[runIndex]
    const index = run === undefined ? 0 : lowerBound(run, key)
    if (run === undefined || run[index] !== key) return false
    run.splice(index, 1)
    if (run.length === 0) this.#runs.splice(runIndex, 1)
    this.#size -= 1
    return true
  }

  /** The set must not change during the iteration. */
  *from(start: string): Generator<string> {
    let runIndex = this.#runAt(start)
    let index = lowerBound(this.#runs[runIndex] ?? [], start)
    for (let run = this.#runs[runIndex]; run !== undefined; run = this.#runs[++runIndex], index = 0) {
      for (; index < run.length; index++) yield run[index] as string
    }
  }

  #runAt(key: string): number {
    const compare = comparatorFor(key)
    return Math.max(0, countLeading(this.#runs, ([first = '']) => compare(first, key) <= 0) - 1)
  }

  /** Splits the last run at its end, other runs in the middle, so that keys added in order fill the runs. */
  #split(runIndex: number, run: string[]): void {
    this.#runs.splice(runIndex + 1, 0, run.splice(runIndex === this.#runs.length - 1 ? maxRunLength : maxRunLength >> 1))
  }
}

export const keyListOf = (keys: readonly string[]): KeyList => ({
  size: keys.length,
  from: (start) => keys.slice(lowerBound(keys, start)),
})

export const mergedKeys = (lists: readonly KeyList[]): KeyList => ({
  size: lists.reduce((sum, { size }) => sum + size, 0),
  from: (start) => merge(lists.map((list) => list.from(start)[Symbol.iterator]())),
})

function* merge(sources: readonly Iterator<string>[]): Generator<string> {
  const heads = sources.map((source) => source.next())
  for (;;) {
    let smallest = -1
    for (const [i, head] of heads.entries()) {
      if (head.done) continue
      const before = heads[smallest]
      if (before === undefined || before.done || comparatorFor(head.value)(head.value, before.value) < 0) smallest = i
    }
    const head = heads[smallest]
    if (head === undefined || head.done) return
    yield head.value
    heads[smallest] = (sources[smallest] as Iterator<string>).next()
  }
}

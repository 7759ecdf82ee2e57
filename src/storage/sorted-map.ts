// A map ordered by key, as a list of short sorted runs: the memory engine and the undo views iterate ranges of it.
// With runs of at most 512 keys an insert moves at most one run, and 100,000 keys need about 400 of them.

import { compareText, countBefore } from '../base/text-order.js'
import type { KeyRange } from './storage.js'

const longestRun = 512

interface Run<V> {
  readonly keys: string[]
  readonly values: V[]
}

export interface SortedEntry<V> {
  readonly key: string
  readonly value: V
}

export interface SortedMap<V> {
  readonly size: number
  get(key: string): V | undefined
  set(key: string, value: V): void
  delete(key: string): void
  /** Lazily, in order. The map must not change while the iteration is under way. */
  entries(range: KeyRange): Generator<SortedEntry<V>, void, undefined>
  first(): SortedEntry<V> | undefined
}

export function createSortedMap<V>(): SortedMap<V> {
  const runs: Run<V>[] = []
  let size = 0

  /** Where `key` is, or would be inserted. */
  const locate = (key: string) => {
    const runIndex = Math.max(0, countNotAfter(runs, (run) => compareText(run.keys[0] ?? '', key)) - 1)
    const keys = runs[runIndex]?.keys ?? []
    const index = countBefore(keys, key)
    return { runIndex, index, found: keys[index] === key }
  }

  return {
    get size() {
      return size
    },
    get(key) {
      const { runIndex, index, found } = locate(key)
      return found ? runs[runIndex]?.values[index] : undefined
    },
    set(key, value) {
      const { runIndex, index, found } = locate(key)
      const run = runs[runIndex] ?? addRun(runs)
      run.keys.splice(index, found ? 1 : 0, key)
      run.values.splice(index, found ? 1 : 0, value)
      if (!found) size += 1
      if (run.keys.length > longestRun) splitRun(runs, runIndex)
    },
    delete(key) {
      const { runIndex, index, found } = locate(key)
      const run = runs[runIndex]
      if (!found || !run) return
      run.keys.splice(index, 1)
      run.values.splice(index, 1)
      size -= 1
      if (run.keys.length === 0) runs.splice(runIndex, 1)
    },
    *entries({ start, end }) {
      let { runIndex, index } = locate(start)
      for (let run = runs[runIndex]; run; run = runs[++runIndex], index = 0) {
        for (; index < run.keys.length; index += 1) {
          const key = run.keys[index] as string
          if (compareText(key, end) >= 0) return
          yield { key, value: run.values[index] as V }
        }
      }
    },
    first() {
      const run = runs[0]
      return run && { key: run.keys[0] as string, value: run.values[0] as V }
    },
  }
}

function addRun<V>(runs: Run<V>[]): Run<V> {
  const run: Run<V> = { keys: [], values: [] }
  runs.push(run)
  return run
}

function splitRun<V>(runs: Run<V>[], index: number): void {
  const run = runs[index]
  if (!run) return
  // Keys that arrive in order fill the last run only: splitting it at its end leaves full runs behind.
  const at = index === runs.length - 1 ? longestRun - 16 : longestRun >> 1
  runs.splice(index + 1, 0, { keys: run.keys.splice(at), values: run.values.splice(at) })
}

/** How many leading items compare as not greater than zero. */
function countNotAfter<T>(items: readonly T[], compare: (item: T) => number): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compare(items[middle] as T) <= 0) low = middle + 1
    else high = middle
  }
  return low
}

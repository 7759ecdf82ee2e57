// Memtable: writes that are not in the data file yet, in order, and the newest of each key. SortedMap: a map in key order.

import { compareText, countLeading, lowerBound } from '@cluster-apiserver/api/base/text-order.js'
import type { StagedWrite } from './commit-queue.js'
import type { KeyRange } from './storage.js'

/** A checkpoint starts at this size; it takes about two milliseconds of the event loop. */
const checkpointWrites = 256
const checkpointBytes = 2 << 20
/** Commits wait for the checkpoint at this size. */
const maxWrites = 512
const maxBytes = 16 << 20

export class Memtable {
  readonly #writes: StagedWrite[] = []
  readonly #newest = new Map<string, StagedWrite>()
  /** The newest write of each key, in key order; undefined after a change. */
  #ordered: readonly StagedWrite[] | undefined
  #bytes = 0
  #checkpointed: number

  constructor(checkpointed: number) {
    this.#checkpointed = checkpointed
  }

  /** Revision up to which all writes are in the data file. */
  get checkpointed(): number {
    return this.#checkpointed
  }

  get size(): number {
    return this.#writes.length
  }

  get isCheckpointDue(): boolean {
    return this.#writes.length >= checkpointWrites || this.#bytes >= checkpointBytes
  }

  get isFull(): boolean {
    return this.#writes.length >= maxWrites || this.#bytes >= maxBytes
  }

  get writes(): readonly StagedWrite[] {
    return this.#writes
  }

  get revision(): number {
    return this.#writes.at(-1)?.change.revision ?? this.#checkpointed
  }

  add(staged: readonly StagedWrite[]): void {
    for (const write of staged) {
      this.#writes.push(write)
      this.#newest.set(write.change.key, write)
      this.#bytes += bytesOf(write)
    }
    this.#ordered = undefined
  }

  /** The newest change of a key, without a row if it is a deletion; undefined if only the data file has the key. */
  newest(key: string): StagedWrite | undefined {
    return this.#newest.get(key)
  }

  newestOfAll(): Iterable<StagedWrite> {
    return this.#newest.values()
  }

  within({ start, end }: KeyRange): readonly StagedWrite[] {
    if (this.#newest.size === 0) return []
    this.#ordered ??= [...this.#newest.values()].sort((a, b) => compareText(a.change.key, b.change.key))
    return this.#ordered.slice(
      countLeading(this.#ordered, ({ change }) => compareText(change.key, start) < 0),
      countLeading(this.#ordered, ({ change }) => compareText(change.key, end) < 0),
    )
  }

  after(revision: number): readonly StagedWrite[] {
    return this.#writes.slice(countLeading(this.#writes, ({ change }) => change.revision <= revision))
  }

  find(revision: number, key: string): StagedWrite | undefined {
    const first = countLeading(this.#writes, ({ change }) => change.revision < revision)
    for (let index = first; this.#writes[index]?.change.revision === revision; index++) {
      if (this.#writes[index]?.change.key === key) return this.#writes[index]
    }
    return undefined
  }

  drop(upTo: number): void {
    const dropped = this.#writes.splice(
      0,
      countLeading(this.#writes, ({ change }) => change.revision <= upTo),
    )
    for (const write of dropped) {
      this.#bytes -= bytesOf(write)
      if (this.#newest.get(write.change.key) === write) this.#newest.delete(write.change.key)
    }
    this.#ordered = undefined
    this.#checkpointed = Math.max(this.#checkpointed, upTo)
  }
}

const bytesOf = ({ row, previousRow }: StagedWrite): number => (row?.value.length ?? 0) + (previousRow?.value.length ?? 0)

const maxRunLength = 512

/** Changed in place only by its owner; other maps copy the run before they change it. */
interface Run<V> {
  readonly owner: object
  readonly keys: string[]
  readonly values: V[]
}

interface SortedEntry<V> {
  readonly key: string
  readonly value: V
}

export interface SortedMap<V> {
  readonly size: number
  get(key: string): V | undefined
  set(key: string, value: V): void
  delete(key: string): void
  /** Lazy, in key order. The map must not change during the iteration. */
  entries(range: KeyRange): Generator<SortedEntry<V>, void, undefined>
  first(): SortedEntry<V> | undefined
  /** Shares all runs until this map or the copy changes them. */
  copy(): SortedMap<V>
  readonly runs: readonly Run<V>[]
}

export function createSortedMap<V>(runs: Run<V>[] = [], initialSize = 0): SortedMap<V> {
  let size = initialSize
  let owner = {}

  const ownRun = (index: number): Run<V> => {
    const run = runs[index]
    if (run?.owner === owner) return run
    const own: Run<V> = { owner, keys: run?.keys.slice() ?? [], values: run?.values.slice() ?? [] }
    runs[index] = own
    return own
  }

  const locate = (key: string) => {
    const runIndex = Math.max(0, countLeading(runs, (run) => compareText(run.keys[0] ?? '', key) <= 0) - 1)
    const keys = runs[runIndex]?.keys ?? []
    const index = lowerBound(keys, key)
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
      const run = ownRun(runIndex)
      run.keys.splice(index, found ? 1 : 0, key)
      run.values.splice(index, found ? 1 : 0, value)
      if (!found) size += 1
      if (run.keys.length > maxRunLength) splitRun(runs, runIndex)
    },
    delete(key) {
      const { runIndex, index, found } = locate(key)
      if (!found) return
      const run = ownRun(runIndex)
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
    copy() {
      owner = {}
      return createSortedMap([...runs], size)
    },
    runs,
  }
}

export interface Difference<V> {
  readonly key: string
  readonly before: V | undefined
  readonly after: V | undefined
}

/** Keys whose values are not identical, in key order. Skips runs that both maps share. */
export function* differencesOf<V>(before: SortedMap<V>, after: SortedMap<V>): Generator<Difference<V>, void, undefined> {
  const old: Cursor<V> = { runs: before.runs, run: 0, index: 0 }
  const current: Cursor<V> = { runs: after.runs, run: 0, index: 0 }
  for (;;) {
    const oldRun = old.runs[old.run]
    const currentRun = current.runs[current.run]
    if (oldRun === undefined && currentRun === undefined) return
    if (oldRun === currentRun && old.index === 0 && current.index === 0) {
      old.run += 1
      current.run += 1
      continue
    }
    const order = oldRun === undefined ? 1 : currentRun === undefined ? -1 : compareText(keyAt(old), keyAt(current))
    const key = keyAt(order <= 0 ? old : current)
    const beforeValue = order <= 0 ? takeNext(old) : undefined
    const afterValue = order >= 0 ? takeNext(current) : undefined
    if (beforeValue !== afterValue) yield { key, before: beforeValue, after: afterValue }
  }
}

interface Cursor<V> {
  readonly runs: readonly Run<V>[]
  run: number
  index: number
}

const keyAt = <V>({ runs, run, index }: Cursor<V>): string => runs[run]?.keys[index] ?? ''

function takeNext<V>(cursor: Cursor<V>): V | undefined {
  const run = cursor.runs[cursor.run]
  const value = run?.values[cursor.index]
  cursor.index += 1
  if (run === undefined || cursor.index < run.keys.length) return value
  cursor.run += 1
  cursor.index = 0
  return value
}

function splitRun<V>(runs: Run<V>[], index: number): void {
  const run = runs[index]
  if (!run) return
  // Split the last run near its end, so that keys added in order fill the runs.
  const splitIndex = index === runs.length - 1 ? maxRunLength - 16 : maxRunLength >> 1
  runs.splice(index + 1, 0, { owner: run.owner, keys: run.keys.splice(splitIndex), values: run.values.splice(splitIndex) })
}

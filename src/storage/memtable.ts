// What is in the log and not yet in the data file: the changes in the order in which they came, and the newest of each key.

import { compareText } from '../base/text-order.js'
import type { StagedWrite } from './commit-batch.js'
import type { KeyRange } from './storage.js'

/** With so much a checkpoint begins. It takes a turn of the event loop of about two milliseconds. */
const manyWrites = 256
const manyBytes = 2 << 20
/** With so much commits wait for it. */
const mostWrites = 512
const mostBytes = 16 << 20

export class Memtable {
  readonly #writes: StagedWrite[] = []
  readonly #newest = new Map<string, StagedWrite>()
  /** The newest of each key in the order of keys, as long as nothing has changed. */
  #ordered: readonly StagedWrite[] | undefined
  #bytes = 0
  #checkpointed: number

  constructor(checkpointed: number) {
    this.#checkpointed = checkpointed
  }

  /** Everything up to this revision is in the data file. */
  get checkpointed(): number {
    return this.#checkpointed
  }

  get size(): number {
    return this.#writes.length
  }

  get isLarge(): boolean {
    return this.#writes.length >= manyWrites || this.#bytes >= manyBytes
  }

  get isFull(): boolean {
    return this.#writes.length >= mostWrites || this.#bytes >= mostBytes
  }

  /** In the order of their revisions. */
  get writes(): readonly StagedWrite[] {
    return this.#writes
  }

  /** The newest revision in it. */
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

  /** The newest change of a key: without a row the key is gone; undefined: the data file knows. */
  newest(key: string): StagedWrite | undefined {
    return this.#newest.get(key)
  }

  /** The newest change of each key, in no order. */
  newestOfAll(): Iterable<StagedWrite> {
    return this.#newest.values()
  }

  /** The newest changes of the keys of a range, in the order of keys. */
  within({ start, end }: KeyRange): readonly StagedWrite[] {
    if (this.#newest.size === 0) return []
    this.#ordered ??= [...this.#newest.values()].sort((a, b) => compareText(a.change.key, b.change.key))
    return this.#ordered.slice(
      countWhile(this.#ordered, ({ change }) => compareText(change.key, start) < 0),
      countWhile(this.#ordered, ({ change }) => compareText(change.key, end) < 0),
    )
  }

  /** The changes after a revision. */
  after(revision: number): readonly StagedWrite[] {
    return this.#writes.slice(countWhile(this.#writes, ({ change }) => change.revision <= revision))
  }

  /** The change that a revision made to a key. */
  find(revision: number, key: string): StagedWrite | undefined {
    const first = countWhile(this.#writes, ({ change }) => change.revision < revision)
    for (let index = first; this.#writes[index]?.change.revision === revision; index++) {
      if (this.#writes[index]?.change.key === key) return this.#writes[index]
    }
    return undefined
  }

  /** Everything up to this revision has come into the data file. */
  drop(upTo: number): void {
    const dropped = this.#writes.splice(
      0,
      countWhile(this.#writes, ({ change }) => change.revision <= upTo),
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

/** How many items at the beginning are so; all behind them are not. */
function countWhile<T>(items: readonly T[], isSo: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isSo(items[middle] as T)) low = middle + 1
    else high = middle
  }
  return low
}

// Rows that were written over lately: who writes a key again and again finds here what the next condition is about, and what was before.
// Only an engine that is the only one to write can keep them.

import type { Row, StagedWrite } from './commit-batch.js'

const mostRows = 512
const mostBytes = 4 << 20

export class RowCache {
  /** The one that was written longest ago first. */
  readonly #rows = new Map<string, Row>()
  #bytes = 0

  get(key: string): Row | undefined {
    return this.#rows.get(key)
  }

  /** Takes in what has become durable. A key that is new is not worth room: most are never written again. */
  update(staged: readonly StagedWrite[]): void {
    for (const { change, row, previousRow } of staged) {
      this.#drop(change.key)
      if (row && previousRow) this.#keep(change.key, row)
    }
    for (const key of this.#rows.keys()) {
      if (this.#rows.size <= mostRows && this.#bytes <= mostBytes) return
      this.#drop(key)
    }
  }

  clear(): void {
    this.#rows.clear()
    this.#bytes = 0
  }

  #keep(key: string, row: Row): void {
    this.#rows.set(key, row)
    this.#bytes += row.value.length
  }

  #drop(key: string): void {
    this.#bytes -= this.#rows.get(key)?.value.length ?? 0
    this.#rows.delete(key)
  }
}

// Many things that all have the same time to end, under one timer: to set and clear one for each costs more than to keep them in a row.

import { timerMs } from '../base/clock.js'

/** Those that have not been deleted when their time is up are told of, once. */
export class Deadlines<T extends object> {
  readonly afterMs: number
  readonly #expire: (item: T) => void
  /** When each was added. A map keeps them in that order, which is the one in which they expire. */
  readonly #items = new Map<T, number>()
  #timer: NodeJS.Timeout | undefined

  constructor(afterMs: number, expire: (item: T) => void) {
    this.afterMs = timerMs(afterMs)
    this.#expire = expire
  }

  add(item: T): void {
    this.#items.set(item, performance.now())
    this.#timer ??= setTimeout(this.#look, this.afterMs).unref()
  }

  delete(item: T): void {
    this.#items.delete(item)
  }

  readonly #look = (): void => {
    this.#timer = undefined
    const dueMs = performance.now() - this.afterMs
    for (const [item, addedMs] of this.#items) {
      // The clock of timers is coarser than this one: what is due within its step is due.
      if (addedMs - dueMs > 1) {
        this.#timer = setTimeout(this.#look, addedMs - dueMs).unref()
        return
      }
      this.#items.delete(item)
      this.#expire(item)
    }
  }
}

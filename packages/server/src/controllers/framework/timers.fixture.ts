// Time that stands still until a test moves it.

import type { Timers } from './timers.js'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Lets everything happen that waits for no timer. */
export async function flushTurns(): Promise<void> {
  for (let turns = 0; turns < 10; turns++) await turn()
}

export class FakeTimers implements Timers {
  #nowMs = 0
  readonly #pending = new Set<{ readonly atMs: number; readonly run: () => void }>()

  readonly now = (): number => this.#nowMs

  after(ms: number, run: () => void): () => void {
    const timer = { atMs: this.#nowMs + ms, run }
    this.#pending.add(timer)
    return () => void this.#pending.delete(timer)
  }

  /** How many timers run. */
  get size(): number {
    return this.#pending.size
  }

  /** Lets time pass without anybody noticing: work takes long. */
  spend(ms: number): void {
    this.#nowMs += ms
  }

  async advance(ms: number): Promise<void> {
    await flushTurns()
    const endMs = this.#nowMs + ms
    for (;;) {
      let nextMs = Number.POSITIVE_INFINITY
      for (const { atMs } of this.#pending) nextMs = Math.min(nextMs, atMs)
      if (nextMs > endMs) break
      this.#nowMs = Math.max(this.#nowMs, nextMs)
      // Those of one moment run together, but for those that another one takes back.
      for (const timer of [...this.#pending]) if (timer.atMs === nextMs && this.#pending.delete(timer)) timer.run()
      await flushTurns()
    }
    this.#nowMs = endMs
  }
}

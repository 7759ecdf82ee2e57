// Fake timers, which advance only when a test calls `advance`.

import { repeatAfter, type Timers } from '@cluster-apiserver/api/base/clock.js'

const nextIteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Waits ten event-loop iterations, in which work that waits for no timer should end. */
export async function flushTurns(): Promise<void> {
  for (let iterations = 0; iterations < 10; iterations++) await nextIteration()
}

export class FakeTimers implements Timers {
  #nowMs = 0
  readonly #pending = new Set<{ readonly atMs: number; readonly run: () => unknown }>()

  readonly now = (): number => this.#nowMs

  after(ms: number, run: () => unknown): () => void {
    const timer = { atMs: this.#nowMs + ms, run }
    this.#pending.add(timer)
    return () => void this.#pending.delete(timer)
  }

  every(ms: number, run: () => unknown): () => void {
    return repeatAfter((delayMs, next) => this.after(delayMs, next), ms, run)
  }

  get size(): number {
    return this.#pending.size
  }

  /** Advances the clock without running timers. */
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
      for (const timer of [...this.#pending]) if (timer.atMs === nextMs && this.#pending.delete(timer)) timer.run()
      await flushTurns()
    }
    this.#nowMs = endMs
  }
}

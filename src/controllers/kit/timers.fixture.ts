// Time that stands still until a test moves it.

import type { Timers } from './timers.js'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Lets everything happen that waits for no timer. */
export async function settle(): Promise<void> {
  for (let turns = 0; turns < 10; turns++) await turn()
}

export class FakeTimers implements Timers {
  #nowMs = 0
  #pending: { readonly atMs: number; readonly run: () => void }[] = []

  readonly now = (): number => this.#nowMs

  after(ms: number, run: () => void): () => void {
    const timer = { atMs: this.#nowMs + ms, run }
    this.#pending.push(timer)
    return () => {
      this.#pending = this.#pending.filter((other) => other !== timer)
    }
  }

  /** How many timers run. */
  get size(): number {
    return this.#pending.length
  }

  /** Lets time pass without anybody noticing: work takes long. */
  spend(ms: number): void {
    this.#nowMs += ms
  }

  async advance(ms: number): Promise<void> {
    await settle()
    const endMs = this.#nowMs + ms
    for (;;) {
      const [next] = this.#pending.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)
      if (next === undefined) break
      this.#pending = this.#pending.filter((other) => other !== next)
      this.#nowMs = Math.max(this.#nowMs, next.atMs)
      next.run()
      await settle()
    }
    this.#nowMs = endMs
  }
}

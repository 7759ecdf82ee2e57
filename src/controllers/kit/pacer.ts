// Work in pieces: whoever has much to do asks between two steps whether the event loop has been held long enough.

import { pieceMs } from '../../base/pieces.js'
import { systemTimers, type Timers } from './timers.js'

/** The time that all loops together hold the event loop: several works take turns, and their steps count as one piece. */
export class Pacer {
  readonly #timers: Timers
  readonly #waiting: (() => void)[] = []
  #begunMs = 0
  /** Whether the end of the turn is waited for, in which time is measured. */
  #isBegun = false

  constructor(timers: Timers = systemTimers) {
    this.#timers = timers
  }

  /** Undefined: go on. Otherwise wait for it first: `const pause = pacer.pause(); if (pause !== undefined) await pause`. */
  pause(): Promise<void> | undefined {
    if (!this.#isBegun) {
      this.#begin()
      return undefined
    }
    if (this.#hasTime && this.#waiting.length === 0) return undefined
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  get #hasTime(): boolean {
    return this.#timers.now() - this.#begunMs < pieceMs
  }

  #begin(): void {
    this.#isBegun = true
    this.#begunMs = this.#timers.now()
    void this.#timers.nextTurn().then(() => {
      this.#isBegun = false
      if (this.#waiting.length === 0) return
      this.#begin()
      this.#release()
    })
  }

  /** One after the other, each when the one before has done its step: all at once would take more than their time. */
  #release(): void {
    if (!this.#hasTime) return
    this.#waiting.shift()?.()
    if (this.#waiting.length > 0) process.nextTick(() => this.#release())
  }
}

/** One for the process: all loops share its event loop. */
export const sharedPacer = new Pacer()

// Time as loops use it: what passes, and what comes later; tests move it by hand.
import { timerMs } from '../../base/clock.js'

export interface Timers {
  /** Milliseconds that only grow. */
  readonly now: () => number
  /** Runs something once after a while; what it returns takes that back. */
  after(ms: number, run: () => void): () => void
}

/** Nothing that a loop waits for keeps the process alive. Whoever is early looks and waits again. */
export const systemTimers: Timers = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, timerMs(ms)).unref()
    return () => clearTimeout(timer)
  },
}

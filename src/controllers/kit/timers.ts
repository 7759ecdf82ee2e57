// Time as loops use it: what passes, and what comes later; tests move it by hand.

export interface Timers {
  /** Milliseconds that only grow. */
  readonly now: () => number
  /** Runs something once after a while; what it returns takes that back. */
  after(ms: number, run: () => void): () => void
}

/** No timer of the platform is longer; whoever is early looks and waits again. */
const mostMs = 2 ** 31 - 1

/** Nothing that a loop waits for keeps the process alive. */
export const systemTimers: Timers = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(ms, mostMs)).unref()
    return () => clearTimeout(timer)
  },
}

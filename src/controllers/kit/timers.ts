// Time as loops use it: what passes, what comes later and the next turn of the event loop; tests move it by hand.

export interface Timers {
  /** Milliseconds that only grow. */
  now(): number
  /** Runs something once after a while; what it returns takes that back. */
  after(ms: number, run: () => void): () => void
  /** Resolves in a later turn of the event loop, after what waits there had its chance. */
  nextTurn(): Promise<void>
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
  nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
}

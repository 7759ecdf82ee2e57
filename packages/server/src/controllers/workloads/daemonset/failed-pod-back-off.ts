// Delays between deletions of failed daemon pods: a node that rejects every pod must not cause an endless stream of pods.

const firstMs = 1000
const maxMs = 15 * 60 * 1000
/** Time without a failure after which the delay starts again. */
const forgetMs = 2 * maxMs

interface Delay {
  readonly ms: number
  readonly sinceMs: number
}

export class FailedPodBackOff {
  readonly #delays = new Map<string, Delay>()

  /** Milliseconds until the next pod of this key may be deleted; 0 if it may be deleted now. */
  remainingMs(key: string, nowMs: number): number {
    const delay = this.#delays.get(key)
    return delay === undefined ? 0 : Math.max(0, delay.sinceMs + delay.ms - nowMs)
  }

  /** Starts the delay that follows a deletion, twice as long as the previous one. */
  start(key: string, nowMs: number): void {
    for (const [each, { sinceMs }] of this.#delays) {
      if (nowMs - sinceMs <= forgetMs) break
      this.#delays.delete(each)
    }
    const previous = this.#delays.get(key)
    // Keeps the map in the order of `sinceMs`.
    this.#delays.delete(key)
    this.#delays.set(key, { ms: previous === undefined ? firstMs : Math.min(2 * previous.ms, maxMs), sinceMs: nowMs })
  }
}

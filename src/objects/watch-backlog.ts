// What waits for watchers that read too slowly: bounded in bytes for all of them together. An event counts once, however many wait for it.

import type { WatchEvent } from './watch-events.js'

/** Somebody with events in store; `letGo` ends it and releases them. */
export interface Laggard {
  letGo(): void
}

/** The value as it is stored, and the frame that is made of it. */
const costOf = (event: WatchEvent): number => 2 * event.object.size + 256

export class WatchBacklog {
  readonly #maxBytes: number
  /** In the order in which they fell behind. */
  readonly #laggards = new Set<Laggard>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  get laggards(): number {
    return this.#laggards.size
  }

  /** Events wait for somebody. When that is too much, those go first who have waited longest. */
  hold(events: readonly WatchEvent[], by: Laggard): void {
    this.#laggards.add(by)
    for (const event of events) {
      event.waiting += 1
      if (event.waiting === 1) this.#bytes += costOf(event)
    }
    for (const laggard of this.#laggards) {
      if (this.#bytes <= this.#maxBytes) return
      this.caughtUp(laggard)
      laggard.letGo()
    }
  }

  release(events: readonly WatchEvent[]): void {
    for (const event of events) {
      event.waiting -= 1
      if (event.waiting === 0) this.#bytes -= costOf(event)
    }
  }

  /** Nothing waits for it any more. */
  caughtUp(by: Laggard): void {
    this.#laggards.delete(by)
  }
}

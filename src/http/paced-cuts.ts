// Connections and streams that are ended by the server, a few in each turn of the event loop: to end one takes 0.1 ms, and one of HTTP/2 ends all of
// its streams.

/** For how long that is done in a turn. */
const turnMs = 3

export class PacedCuts {
  #waiting: (() => void)[] = []

  /** Calls it in one of the next turns. */
  add(cut: () => void): void {
    if (this.#waiting.push(cut) === 1) setImmediate(() => this.#takeTurn())
  }

  #takeTurn(): void {
    const until = performance.now() + turnMs
    let next = 0
    do this.#waiting[next++]?.()
    while (next < this.#waiting.length && performance.now() < until)
    this.#waiting = this.#waiting.slice(next)
    if (this.#waiting.length > 0) setImmediate(() => this.#takeTurn())
  }
}

// Large events go to many watchers at once, and each piece of them is encrypted for each: some megabytes are written in a turn of the event loop,
// and the others wait for the next one.

/** To encrypt and write so much takes a few milliseconds. */
const bytesPerTurn = 1 << 20

export class PacedWrites {
  #left = bytesPerTurn
  #waiting: (() => void)[] = []
  #isTurnCounted = false

  /** Whether so much may be written now. Otherwise calls back in a turn in which it may be tried again, the first of those that wait first. */
  take(bytes: number, tryAgain: () => void): boolean {
    if (!this.#isTurnCounted) this.#countTurn()
    if (this.#left > 0) {
      this.#left -= bytes
      return true
    }
    this.#waiting.push(tryAgain)
    return false
  }

  #countTurn(): void {
    this.#isTurnCounted = true
    setImmediate(() => this.#endTurn())
  }

  #endTurn(): void {
    this.#isTurnCounted = false
    this.#left = bytesPerTurn
    if (this.#waiting.length === 0) return
    this.#countTurn()
    const waiting = this.#waiting
    this.#waiting = []
    let next = 0
    while (next < waiting.length && this.#left > 0) waiting[next++]?.()
    // Those that went on may wait again, behind the others.
    this.#waiting = [...waiting.slice(next), ...this.#waiting]
  }
}

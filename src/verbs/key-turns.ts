// Turns at an object that many change at once: whoever lost to another waits for those before him, so that each is tried about twice, and not
// once for each of the others.

/** Who has the turn may wait for a webhook: the next one waits for him no longer than this. */
const usualMostMs = 2000

export interface Turn {
  /** Resolves when it is one's turn. */
  readonly begun: Promise<void>
  readonly end: () => void
}

export class KeyTurns {
  /** Ends with the last turn, by key. */
  readonly #last = new Map<string, Promise<void>>()
  readonly #mostMs: number

  constructor(mostMs = usualMostMs) {
    this.#mostMs = mostMs
  }

  /** Whether somebody has a turn. */
  areTaken(key: string): boolean {
    return this.#last.size > 0 && this.#last.has(key)
  }

  take(key: string): Turn {
    const begun = this.#last.get(key) ?? Promise.resolve()
    let isOver = false
    let end = (): void => {
      isOver = true
    }
    const last = begun.then(
      () =>
        new Promise<void>((resolve) => {
          if (isOver) {
            resolve()
            return
          }
          const timer = setTimeout(resolve, this.#mostMs)
          end = () => {
            clearTimeout(timer)
            resolve()
          }
        }),
    )
    this.#last.set(key, last)
    void last.then(() => {
      if (this.#last.get(key) === last) this.#last.delete(key)
    })
    return { begun, end: () => end() }
  }
}

// Time budget of long work per turn (iteration) of the event loop. Work that has spent the budget continues in a later turn.

/** Shared by all work of one turn. */
const budgetMs = 5

export class TurnBudget {
  readonly #now: () => number
  #startMs: number | undefined
  #turn = 0
  readonly #waiting: (() => void)[] = []

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  get turn(): number {
    return this.#turn
  }

  get isSpent(): boolean {
    const now = this.#now()
    return now - this.#started(now) >= budgetMs
  }

  /** Resolves in a later turn. Waiters resume in order, one per turn. */
  nextTurn(): Promise<void> {
    return new Promise((resolve) => {
      // The first immediate runs before sockets are polled again, so a second one is needed.
      if (this.#waiting.push(resolve) === 1) setImmediate(() => setImmediate(this.#resume))
    })
  }

  /** Must be awaited between two steps of long work. */
  async yieldIfSpent(): Promise<void> {
    if (this.isSpent) await this.nextTurn()
  }

  readonly #resume = (): void => {
    this.#end()
    this.#waiting.shift()?.()
    if (this.#waiting.length > 0) setImmediate(this.#resume)
  }

  #started(now: number): number {
    if (this.#startMs === undefined) {
      this.#startMs = now
      setImmediate(this.#end)
    }
    return this.#startMs
  }

  readonly #end = (): void => {
    this.#startMs = undefined
    this.#turn++
  }
}

export const turnBudget = new TurnBudget()

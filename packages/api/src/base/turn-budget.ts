// Time budget of long work per turn (iteration) of the event loop. Work that has spent the budget continues in a later turn.

/** Shared by all work of one turn. */
const defaultBudgetMs = 5
/** Short, because requests of clients wait for it; with 1 ms, smaller commit batches cost 10 % more CPU time. */
const backgroundBudgetMs = 2

export class TurnBudget {
  readonly #now: () => number
  readonly #budgetMs: number
  #startMs: number | undefined
  #turn = 0
  readonly #waiting: (() => void)[] = []
  readonly #slots: (() => void)[] = []
  #isSlotTaken = false

  constructor(now: () => number = () => performance.now(), budgetMs = defaultBudgetMs) {
    this.#now = now
    this.#budgetMs = budgetMs
  }

  get turn(): number {
    return this.#turn
  }

  get isSpent(): boolean {
    const now = this.#now()
    return now - this.#started(now) >= this.#budgetMs
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

  /**
   * Must be awaited before a step that many callers may start together, such as a write of a controller. Steps start one after the other, each
   * in a callback of its own, and those that find the budget spent start in a later turn. `yieldIfSpent` would let all of them start at once.
   */
  takeSlot(): Promise<void> {
    if (this.#slots.length === 0 && !this.#isSlotTaken && !this.isSpent) {
      this.#isSlotTaken = true
      setImmediate(this.#releaseSlot)
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      this.#slots.push(resolve)
      setImmediate(this.#nextSlot)
    })
  }

  readonly #releaseSlot = (): void => {
    this.#isSlotTaken = false
  }

  readonly #nextSlot = (): void => {
    if (this.isSpent) setImmediate(this.#nextSlot)
    else this.#slots.shift()?.()
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

/** For work that no client waits for, such as that of controllers. */
export const backgroundBudget = new TurnBudget(undefined, backgroundBudgetMs)

// How many requests are answered at once: others wait for a while, and beyond that are sent away with a word when to come again.

import type { Exchange } from './exchange.js'
import type { RequestHooks } from './lifecycle.js'
import type { Answered, Filter } from './pipeline.js'
import { OverloadedError, type Pressure } from './pressure.js'
import { isExempt, isProbe, isReading } from './priority.js'

export interface Limits {
  readonly maxReadOnly: number
  readonly maxMutating: number
  readonly pressure: Pick<Pressure, 'isFull'>
  /** How many may wait for those that are being answered, of each kind. */
  readonly maxWaiting?: number
  readonly maxWaitMs?: number
}

const defaultWaiting = 1_000
const defaultWaitMs = 5_000

interface Waiting {
  begin(): void
}

/** The requests of one kind. */
class Seats {
  /** All that are being answered, and those of them that count towards the limit. */
  taken = 0
  counted = 0
  readonly waiting = new Set<Waiting>()
  readonly limit: number
  readonly #kind: 'readOnly' | 'mutating'
  constructor(kind: 'readOnly' | 'mutating', limit: number) {
    this.#kind = kind
    this.limit = limit
  }

  take(exchange: Exchange): Answered {
    this.taken++
    if (exchange.isLimited) this.counted++
    exchange.counted = this.#kind
    return false
  }
}

export class Inflight {
  readonly #limits: Limits
  readonly #readOnly: Seats
  readonly #mutating: Seats

  constructor(limits: Limits) {
    this.#limits = limits
    this.#readOnly = new Seats('readOnly', limits.maxReadOnly)
    this.#mutating = new Seats('mutating', limits.maxMutating)
  }

  get readOnly(): number {
    return this.#readOnly.taken
  }

  get mutating(): number {
    return this.#mutating.taken
  }

  get waiting(): number {
    return this.#readOnly.waiting.size + this.#mutating.waiting.size
  }

  readonly filter: Filter = (exchange) => {
    if (exchange.info.verb === 'watch' || isProbe(exchange)) return false
    // Memory is bounded for everybody.
    if (this.#limits.pressure.isFull) throw new OverloadedError()
    const seats = isReading(exchange) ? this.#readOnly : this.#mutating
    exchange.isLimited = seats.limit !== Number.POSITIVE_INFINITY && !isExempt(exchange)
    if (exchange.isLimited && (seats.counted >= seats.limit || seats.waiting.size > 0)) return this.#wait(seats, exchange)
    return seats.take(exchange)
  }

  /** Whoever is through makes room for another. */
  readonly hooks: RequestHooks = { delegated: (exchange) => this.leave(exchange), responseComplete: (exchange) => this.leave(exchange) }

  /** The exchange is over. */
  leave(exchange: Exchange): void {
    exchange.releaseBody()
    const kind = exchange.counted
    if (kind === undefined) return
    exchange.counted = undefined
    const seats = kind === 'readOnly' ? this.#readOnly : this.#mutating
    seats.taken--
    if (!exchange.isLimited) return
    seats.counted--
    const [next] = seats.waiting
    next?.begin()
  }

  /** Somebody who leaves hands the seat on. */
  #wait(seats: Seats, exchange: Exchange): Promise<Answered> {
    const { maxWaiting = defaultWaiting, maxWaitMs = defaultWaitMs } = this.#limits
    if (seats.waiting.size >= maxWaiting) throw new OverloadedError()
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        if (!seats.waiting.delete(waiting)) return
        clearTimeout(timer)
        settle()
      }
      const refuse = (): void => end(() => reject(new OverloadedError()))
      const waiting: Waiting = { begin: () => end(() => resolve(seats.take(exchange))) }
      const timer = setTimeout(refuse, maxWaitMs).unref()
      seats.waiting.add(waiting)
      exchange.onLeave(refuse)
    })
  }
}

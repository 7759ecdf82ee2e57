// Maximum numbers of read-only and mutating requests in flight (--max-requests-inflight), for servers without priority and fairness.
// A request beyond the limit waits for a while, and is then refused with 429.

import { type MemoryPressure, OverloadedError } from './memory-pressure.js'
import { type FlowRequest, isExempt, isProbe, isReadOnly } from './request.js'

export interface LimitedRequest extends FlowRequest {
  /** The limit that the request counts towards. */
  counted: 'readOnly' | 'mutating' | undefined
  /** False for administrators, and if there is no limit: such requests are counted, but never wait. */
  isLimited: boolean
}

/** Infinity: no limit. */
export interface InFlightLimits {
  readonly maxReadOnly: number
  readonly maxMutating: number
}

interface MaxInFlightOptions extends InFlightLimits {
  readonly pressure: Pick<MemoryPressure, 'isFullFor'>
  /** Maximum number of waiting requests, for read-only and mutating requests each. */
  readonly maxWaiting?: number
  readonly maxWaitMs?: number
}

const defaultMaxWaiting = 1_000
const defaultMaxWaitMs = 5_000

interface WaitingRequest {
  begin(): void
}

class Seats {
  /** All requests in flight. */
  taken = 0
  /** Requests in flight that the limit applies to. */
  limited = 0
  readonly waiting = new Set<WaitingRequest>()
  readonly limit: number
  readonly #kind: 'readOnly' | 'mutating'
  constructor(kind: 'readOnly' | 'mutating', limit: number) {
    this.#kind = kind
    this.limit = limit
  }

  take(request: LimitedRequest): false {
    this.taken++
    if (request.isLimited) this.limited++
    request.counted = this.#kind
    return false
  }
}

export class MaxInFlight {
  readonly #limits: MaxInFlightOptions
  readonly #readOnly: Seats
  readonly #mutating: Seats

  constructor(limits: MaxInFlightOptions) {
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

  readonly filter = async (request: LimitedRequest): Promise<false> => {
    if (request.info.verb === 'watch' || isProbe(request)) return false
    if (this.#limits.pressure.isFullFor(request.user.name)) throw new OverloadedError()
    const seats = isReadOnly(request) ? this.#readOnly : this.#mutating
    request.isLimited = seats.limit !== Number.POSITIVE_INFINITY && !isExempt(request)
    if (request.isLimited && (seats.limited >= seats.limit || seats.waiting.size > 0)) return this.#wait(seats, request)
    return seats.take(request)
  }

  readonly hooks = {
    delegated: (request: LimitedRequest): void => this.leave(request),
    responseComplete: (request: LimitedRequest): void => this.leave(request),
  }

  /** Releases the body and the seat of a request, and starts the first waiting request. */
  leave(request: LimitedRequest): void {
    request.releaseBody()
    const kind = request.counted
    if (kind === undefined) return
    request.counted = undefined
    const seats = kind === 'readOnly' ? this.#readOnly : this.#mutating
    seats.taken--
    if (!request.isLimited) return
    seats.limited--
    const [next] = seats.waiting
    next?.begin()
  }

  #wait(seats: Seats, request: LimitedRequest): Promise<false> {
    const { maxWaiting = defaultMaxWaiting, maxWaitMs = defaultMaxWaitMs } = this.#limits
    if (seats.waiting.size >= maxWaiting) throw new OverloadedError()
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        if (!seats.waiting.delete(waiting)) return
        clearTimeout(timer)
        settle()
      }
      const refuse = (): void => end(() => reject(new OverloadedError()))
      const waiting: WaitingRequest = { begin: () => end(() => resolve(seats.take(request))) }
      const timer = setTimeout(refuse, maxWaitMs).unref()
      seats.waiting.add(waiting)
      request.onClose(refuse)
    })
  }
}

// One priority level: how many seats its requests take at once, and the queues in which others wait. Among queues the one is next whose requests
// have had least so far, in a time that passes only while they are served (start-time fair queuing).

import { getOrInsert } from '../../base/get-or-insert.js'
import type { Exchange } from '../exchange.js'
import type { Flow } from './flow.js'
import type { LimitedLevel, PriorityLevelObject } from './flow-objects.js'

/** A request that waits. */
export interface Waiting {
  readonly exchange: Exchange
  readonly flow: Flow
  readonly seats: number
  /** What tells its flow from others of the schema. */
  readonly distinguisher: string
  readonly arrivedMs: number
  readonly begin: () => void
  readonly refuse: () => void
}

export interface FlowQueue {
  readonly index: number
  readonly waiting: Waiting[]
  seatsWaiting: number
  executing: number
  seatsInUse: number
  /** When its next request would begin, in the time of the level. */
  nextStart: number
}

/** What a request is taken to cost before it is known, in milliseconds of a seat. */
const expectedMs = 1
/** Requests that find seats and wait for their turn of the event loop alone are not what the length of queues is about: so many may. */
const mostForTurn = 10_000
/** So many requests of a level begin within a millisecond without waiting for a turn. */
const freePerMs = 16

export type Refusal = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled'

export class PriorityLevel {
  readonly name: string
  uid = ''
  limited: LimitedLevel | undefined
  /** Seats of its own; those of them that others may have; how many it may have of others. */
  nominal = Number.POSITIVE_INFINITY
  lendable = 0
  mostBorrowed = Number.POSITIVE_INFINITY
  executing = 0
  seatsInUse = 0
  waitingCount = 0
  dispatched = 0
  refused = 0
  timedOut = 0
  cancelled = 0
  /** Those in which somebody waits or from which somebody came who is at work, by index: there may be millions of others, and they are the same. */
  readonly queues = new Map<number, FlowQueue>()
  #now = 0
  #windowMs = Number.NEGATIVE_INFINITY
  #begunInWindow = 0

  constructor(name: string) {
    this.name = name
  }

  /** Requests that wait keep their places, whatever becomes of the level. */
  configure({ uid, limited }: Pick<PriorityLevelObject, 'uid' | 'limited'>): void {
    this.uid = uid
    this.limited = limited
  }

  /** How many there are altogether. */
  get queueCount(): number {
    return this.limited?.queuing?.queues ?? 1
  }

  get isExempt(): boolean {
    return this.limited === undefined
  }

  /** Whether a request may begin in this turn of the event loop: a flood of those that are answered at once takes no seats, but all the time. */
  mayBeginAt(ms: number): boolean {
    if (ms - this.#windowMs >= 1) {
      this.#windowMs = ms
      this.#begunInWindow = 1
      return true
    }
    return ++this.#begunInWindow <= freePerMs
  }

  take(seats: number): void {
    this.executing++
    this.seatsInUse += seats
    this.dispatched++
  }

  /** `queue`: where it waited, if it did. */
  release(seats: number, { queue, tookMs }: { readonly queue: FlowQueue | undefined; readonly tookMs: number }): void {
    this.executing--
    this.seatsInUse -= seats
    if (queue === undefined) return
    queue.executing--
    queue.seatsInUse -= seats
    // What it took in fact takes the place of what was expected.
    queue.nextStart += (tookMs - expectedMs) * seats
    this.#forgetIdle(queue)
  }

  /** Nobody who comes later is behind for what was before: its time begins anew, as in the reference. */
  #forgetIdle(queue: FlowQueue): void {
    if (queue.waiting.length === 0 && queue.executing === 0) this.queues.delete(queue.index)
  }

  /** The queue for a request of a flow whose hand is given; undefined: all of them are full. */
  enqueue(waiting: Waiting, { hand, hasSeats }: { readonly hand: readonly number[]; readonly hasSeats: boolean }): FlowQueue | undefined {
    const index = this.#shortest(hand)
    const most = this.limited?.queuing?.queueLengthLimit ?? 0
    if (hasSeats ? this.waitingCount >= mostForTurn : this.#waitingIn(index) >= most) return undefined
    const queue = getOrInsert(this.queues, index, () => newQueue(index, this.#now))
    queue.waiting.push(waiting)
    queue.seatsWaiting += waiting.seats
    this.waitingCount++
    return queue
  }

  /** Whether in all of these queues somebody waits. */
  isWaitedIn(hand: readonly number[]): boolean {
    return this.#waitingIn(this.#shortest(hand)) > 0
  }

  #waitingIn(index: number): number {
    return this.queues.get(index)?.waiting.length ?? 0
  }

  /** Where least waits or is at work, by its index; the first of several. */
  #shortest(hand: readonly number[]): number {
    let best = 0
    let least = Number.POSITIVE_INFINITY
    for (const card of hand) {
      const queue = this.queues.get(card)
      const load = queue === undefined ? 0 : loadOf(queue)
      if (load >= least) continue
      best = card
      least = load
    }
    return best
  }

  /** Takes out the request that is next, if there is room for it. */
  next(hasRoom: (seats: number) => boolean): { readonly waiting: Waiting; readonly queue: FlowQueue } | undefined {
    let queue: FlowQueue | undefined
    for (const each of this.queues.values()) {
      if (each.waiting.length > 0 && (queue === undefined || each.nextStart < queue.nextStart)) queue = each
    }
    const waiting = queue?.waiting[0]
    if (queue === undefined || waiting === undefined || !hasRoom(waiting.seats)) return undefined
    queue.waiting.shift()
    queue.seatsWaiting -= waiting.seats
    this.waitingCount--
    this.#now = Math.max(this.#now, queue.nextStart)
    queue.nextStart = this.#now + expectedMs * waiting.seats
    queue.executing++
    queue.seatsInUse += waiting.seats
    return { waiting, queue }
  }

  /** Takes out those that shall not wait any longer. */
  takeOut(isOver: (waiting: Waiting) => boolean): readonly Waiting[] {
    const out: Waiting[] = []
    for (const queue of this.queues.values()) {
      for (let i = queue.waiting.length - 1; i >= 0; i--) {
        const waiting = queue.waiting[i] as Waiting
        if (!isOver(waiting)) continue
        queue.waiting.splice(i, 1)
        queue.seatsWaiting -= waiting.seats
        this.waitingCount--
        out.push(waiting)
      }
      this.#forgetIdle(queue)
    }
    return out
  }
}

export const newQueue = (index: number, nextStart: number): FlowQueue => ({
  index,
  waiting: [],
  seatsWaiting: 0,
  executing: 0,
  seatsInUse: 0,
  nextStart,
})

const loadOf = ({ seatsWaiting, seatsInUse }: FlowQueue): number => seatsWaiting + seatsInUse

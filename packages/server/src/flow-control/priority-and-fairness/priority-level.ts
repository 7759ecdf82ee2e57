// A priority level: its seats, and its queues, which are served by start-time fair queuing.

import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import type { FlowRequest } from '../request.js'
import type { FlowCounter } from './flow-counters.js'
import type { LimitedLevel, PriorityLevelConfig } from './flow-schema-config.js'

export interface QueuedRequest {
  readonly request: FlowRequest
  readonly flowSchema: { readonly name: string; readonly counter: FlowCounter }
  readonly seats: number
  readonly distinguisher: string
  readonly arrivedMs: number
  readonly begin: (queue: FlowQueue) => void
  readonly refuse: () => void
}

export interface FlowQueue {
  readonly index: number
  readonly waiting: QueuedRequest[]
  seatsWaiting: number
  executing: number
  seatsInUse: number
  /** Virtual time at which the next request of the queue starts. */
  nextStart: number
}

/** Duration that fair queuing assumes for a request until its end. */
const assumedMs = 1
/** Waiting requests of a level up to which a request with free seats may wait for the event loop; queueLengthLimit does not apply to it. */
const maxWaitingForEventLoop = 10_000

export type Refusal = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled'

export class PriorityLevel {
  readonly name: string
  uid = ''
  limited: LimitedLevel | undefined
  /** Nominal concurrency limit in seats; how many of these seats are lendable; how many seats the level may borrow. */
  nominal = Number.POSITIVE_INFINITY
  lendable = 0
  maxBorrowed = Number.POSITIVE_INFINITY
  executing = 0
  seatsInUse = 0
  waitingCount = 0
  dispatched = 0
  refused = 0
  timedOut = 0
  cancelled = 0
  /** Queues in use, by index: a level may have millions. */
  readonly queues = new Map<number, FlowQueue>()
  #virtualTime = 0

  constructor(name: string) {
    this.name = name
  }

  /** Applies a new configuration; queued requests stay in their queues. */
  configure({ uid, limited }: Pick<PriorityLevelConfig, 'uid' | 'limited'>): void {
    this.uid = uid
    this.limited = limited
  }

  get queueCount(): number {
    return this.limited?.queuing?.queues ?? 1
  }

  get isExempt(): boolean {
    return this.limited === undefined
  }

  take(seats: number): void {
    this.executing++
    this.seatsInUse += seats
    this.dispatched++
  }

  release(seats: number, { queue, tookMs }: { readonly queue: FlowQueue | undefined; readonly tookMs: number }): void {
    this.executing--
    this.seatsInUse -= seats
    if (queue === undefined) return
    queue.executing--
    queue.seatsInUse -= seats
    // Replaces the assumed duration by the actual one.
    queue.nextStart += (tookMs - assumedMs) * seats
    this.#deleteIfIdle(queue)
  }

  /** An idle queue is dropped: as in kube-apiserver, its next request starts at the current virtual time. */
  #deleteIfIdle(queue: FlowQueue): void {
    if (queue.waiting.length === 0 && queue.executing === 0) this.queues.delete(queue.index)
  }

  /** Adds a request to the shortest queue of its hand (the queue indexes dealt by shuffle sharding). Undefined: too many requests wait. */
  enqueue(
    waiting: QueuedRequest,
    { hand, hasSeats }: { readonly hand: readonly number[]; readonly hasSeats: boolean },
  ): FlowQueue | undefined {
    const index = this.#shortestOf(hand)
    const maxLength = this.limited?.queuing?.queueLengthLimit ?? 0
    if (hasSeats ? this.waitingCount >= maxWaitingForEventLoop : this.#waitingIn(index) >= maxLength) return undefined
    const queue = getOrInsert(this.queues, index, () => newQueue(index, this.#virtualTime))
    queue.waiting.push(waiting)
    queue.seatsWaiting += waiting.seats
    this.waitingCount++
    return queue
  }

  /** True if requests wait even in the shortest queue of the hand. */
  hasBacklog(hand: readonly number[]): boolean {
    return this.#waitingIn(this.#shortestOf(hand)) > 0
  }

  #waitingIn(index: number): number {
    return this.queues.get(index)?.waiting.length ?? 0
  }

  #shortestOf(hand: readonly number[]): number {
    let best = 0
    let least = Number.POSITIVE_INFINITY
    for (const index of hand) {
      const queue = this.queues.get(index)
      const load = queue === undefined ? 0 : loadOf(queue)
      if (load >= least) continue
      best = index
      least = load
    }
    return best
  }

  /** Dequeues the next request; undefined if none waits or there are too few free seats for it. */
  dequeue(hasFreeSeats: (seats: number) => boolean): { readonly waiting: QueuedRequest; readonly queue: FlowQueue } | undefined {
    let queue: FlowQueue | undefined
    for (const each of this.queues.values()) {
      if (each.waiting.length > 0 && (queue === undefined || each.nextStart < queue.nextStart)) queue = each
    }
    const waiting = queue?.waiting[0]
    if (queue === undefined || waiting === undefined || !hasFreeSeats(waiting.seats)) return undefined
    queue.waiting.shift()
    queue.seatsWaiting -= waiting.seats
    this.waitingCount--
    this.#virtualTime = Math.max(this.#virtualTime, queue.nextStart)
    queue.nextStart = this.#virtualTime + assumedMs * waiting.seats
    queue.executing++
    queue.seatsInUse += waiting.seats
    return { waiting, queue }
  }

  removeWaiting(shouldRemove: (waiting: QueuedRequest) => boolean): readonly QueuedRequest[] {
    const removed: QueuedRequest[] = []
    for (const queue of this.queues.values()) {
      for (let i = queue.waiting.length - 1; i >= 0; i--) {
        const waiting = queue.waiting[i] as QueuedRequest
        if (!shouldRemove(waiting)) continue
        queue.waiting.splice(i, 1)
        queue.seatsWaiting -= waiting.seats
        this.waitingCount--
        removed.push(waiting)
      }
      this.#deleteIfIdle(queue)
    }
    return removed
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

// Priority and fairness: a FlowSchema assigns each request to a priority level, which has a share of the seats.
// A request without a free seat waits in one of the level's fair queues, or is refused with 429.

import { readQuery } from '@cluster-apiserver/api/api/options/query.js'
import { type TurnBudget, turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { EventLoopLag } from '../event-loop-lag.js'
import { type MemoryPressure, OverloadedError } from '../memory-pressure.js'
import { type FlowRequest, isLongRunning, isProbe, isReadOnly } from '../request.js'
import type { CompiledFlowSchema } from './compiled-flow-schema.js'
import { type FlowConfig, hasFreeSeats } from './flow-config.js'
import type { FlowQueue, PriorityLevel, QueuedRequest, Refusal } from './priority-level.js'

interface PriorityAndFairnessParts {
  readonly pressure: Pick<MemoryPressure, 'isFullFor'>
  readonly config: FlowConfig
  /** Number of objects that a LIST reads. */
  readonly countOf: (request: FlowRequest) => number
  readonly maxWaitMs: number
  /** Requests that arrive when the budget is spent wait for the next event-loop iteration. */
  readonly budget?: TurnBudget
  readonly lag: Pick<EventLoopLag, 'touch' | 'isOverloaded' | 'isStillOverloaded'>
}

export interface Seating {
  readonly seats: number
  readonly queue: FlowQueue | undefined
}

export interface SeatedRequest extends FlowRequest {
  flowSchema: CompiledFlowSchema | undefined
  seating: Seating | undefined
  /** When the request got its seats, by performance.now(). */
  seatedMs: number
}

const objectsPerListSeat = 100
const maxListSeats = 10
const sweepIntervalMs = 500
/** Queued requests that begin in each event-loop iteration even if its time budget is spent. */
const minDispatchesPerIteration = 2
/** Delay of refusals, so that clients that retry at once do not keep the server busy with refusals. */
const refusalDelayMs = 50
const maxDelayedRefusals = 2_000
const refusalsPerIteration = 4

export class PriorityAndFairness {
  config: FlowConfig
  readOnly = 0
  mutating = 0
  readonly #parts: PriorityAndFairnessParts
  readonly #budget: TurnBudget
  readonly #waitingLevels = new Set<PriorityLevel>()
  #isDispatchPlanned = false
  #sweeper: NodeJS.Timeout | undefined
  readonly #refusals: { readonly dueMs: number; readonly refuse: () => void }[] = []
  #refuser: NodeJS.Timeout | undefined

  constructor(parts: PriorityAndFairnessParts) {
    this.#parts = parts
    this.#budget = parts.budget ?? turnBudget
    this.config = parts.config
  }

  get waiting(): number {
    let count = 0
    for (const { waitingCount } of this.#waitingLevels) count += waitingCount
    return count
  }

  readonly filter = async (request: SeatedRequest): Promise<false> => {
    const { info } = request
    this.#parts.lag.touch()
    if (info.verb !== 'watch' && isLongRunning(info)) return false
    const schema = this.config.classify(request.user, info) ?? this.config.catchAll
    request.flowSchema = schema
    const { level } = schema
    const isUnlimited = level.isExempt || isProbe(request)
    // Memory is limited for exempt requests as well.
    if (this.#parts.pressure.isFullFor(request.user.name) && info.verb !== 'watch' && !isProbe(request))
      throw this.#refused(schema, 'concurrency-limit')
    if (isUnlimited) return this.#seat(request, schema, 0)
    if (this.#parts.lag.isOverloaded && info.verb !== 'watch' && this.#isShed(request, schema))
      return await new Promise<false>((_resolve, reject) => this.#refuseLater(schema, reject))
    const seats = this.#seatsOf(request, level)
    const hasSeats = hasFreeSeats(level, seats, this.config.levels.values())
    if (hasSeats && level.waitingCount === 0 && !this.#budget.isSpent) {
      schema.counter.waits.add(0)
      return this.#seat(request, schema, seats)
    }
    if (!hasSeats && level.limited?.queuing === undefined) throw this.#refused(schema, 'concurrency-limit')
    return await this.#wait(request, schema, { seats, hasSeats })
  }

  /** A watch gives its seats back when its stream has begun, a request to an extension API server before it is forwarded. */
  readonly hooks = {
    delegated: (request: SeatedRequest): void => this.#leave(request),
    responseStarted: (request: SeatedRequest): void => {
      if (request.info.verb === 'watch') this.#leave(request)
    },
    responseComplete: (request: SeatedRequest): void => {
      request.releaseBody()
      this.#leave(request)
    },
  }

  close(): void {
    this.#stopSweeping()
    clearTimeout(this.#refuser)
    for (const { refuse } of this.#refusals.splice(0)) refuse()
  }

  #stopSweeping(): void {
    clearInterval(this.#sweeper)
    this.#sweeper = undefined
  }

  /** Called while the event loop lags: true for flows with queued requests and, if the lag persists, for all low-priority requests. */
  #isShed(request: FlowRequest, schema: CompiledFlowSchema): boolean {
    const { lag } = this.#parts
    return (schema.isLowPriority && lag.isStillOverloaded) || schema.level.hasBacklog(schema.handOf(schema.distinguisherOf(request)))
  }

  #seatsOf(request: FlowRequest, { nominal }: PriorityLevel): number {
    const { verb, query } = request.info
    if (verb !== 'list') return 1
    const limit = query === '' ? 0 : Number(readQuery(query).first('limit') ?? 0)
    const count = this.#parts.countOf(request)
    const objects = limit > 0 ? Math.min(limit, count) : count
    return Math.min(Math.max(1, Math.ceil(objects / objectsPerListSeat)), maxListSeats, nominal)
  }

  #seat(request: SeatedRequest, { level, counter }: CompiledFlowSchema, seats: number, queue?: FlowQueue): false {
    request.seating = queue === undefined ? (seats === 0 ? noSeat : seats === 1 ? oneSeat : { seats, queue }) : { seats, queue }
    request.seatedMs = queue === undefined ? request.begunMs : performance.now()
    level.take(seats)
    counter.dispatched++
    counter.executing++
    counter.seatsInUse += seats
    if (isReadOnly(request)) this.readOnly++
    else this.mutating++
    return false
  }

  #leave(request: SeatedRequest): void {
    const { seating, flowSchema } = request
    if (seating === undefined || flowSchema === undefined) return
    request.seating = undefined
    const { seats, queue } = seating
    const { level, counter } = flowSchema
    const tookMs = performance.now() - request.seatedMs
    level.release(seats, { queue, tookMs })
    counter.executing--
    counter.seatsInUse -= seats
    counter.executions.add(tookMs / 1000)
    if (isReadOnly(request)) this.readOnly--
    else this.mutating--
    if (this.#waitingLevels.size > 0) this.#planDispatch()
  }

  #wait(
    request: SeatedRequest,
    schema: CompiledFlowSchema,
    { seats, hasSeats }: { readonly seats: number; readonly hasSeats: boolean },
  ): Promise<false> {
    const { level, counter } = schema
    return new Promise((resolve, reject) => {
      const waiting: QueuedRequest = {
        request,
        flowSchema: schema,
        seats,
        distinguisher: schema.distinguisherOf(request),
        arrivedMs: request.begunMs,
        begin: (queue) => resolve(this.#seat(request, schema, seats, queue)),
        refuse: () => reject(new OverloadedError()),
      }
      const hand = schema.handOf(waiting.distinguisher)
      if (level.enqueue(waiting, { hand, hasSeats }) === undefined) {
        this.#refuseLater(schema, reject)
        return
      }
      counter.waiting++
      this.#waitingLevels.add(level)
      this.#sweeper ??= setInterval(() => this.#sweep(), sweepIntervalMs).unref()
      this.#planDispatch()
    })
  }

  #refused({ level, counter }: CompiledFlowSchema, reason: Refusal): OverloadedError {
    level.refused++
    counter.countRefusal(reason)
    return new OverloadedError()
  }

  #refuseLater(schema: CompiledFlowSchema, reject: (error: Error) => void): void {
    const error = this.#refused(schema, 'queue-full')
    if (this.#refusals.length >= maxDelayedRefusals) {
      reject(error)
      return
    }
    this.#refusals.push({ dueMs: performance.now() + refusalDelayMs, refuse: () => reject(error) })
    this.#refuser ??= setTimeout(() => this.#refuseSome(), refusalDelayMs)
  }

  #refuseSome(): void {
    this.#refuser = undefined
    const nowMs = performance.now()
    for (let i = 0; i < refusalsPerIteration && (this.#refusals[0]?.dueMs ?? Number.POSITIVE_INFINITY) <= nowMs; i++)
      this.#refusals.shift()?.refuse()
    const next = this.#refusals[0]
    if (next !== undefined) this.#refuser = setTimeout(() => this.#refuseSome(), Math.max(1, next.dueMs - nowMs))
  }

  #planDispatch(): void {
    if (this.#isDispatchPlanned) return
    this.#isDispatchPlanned = true
    setImmediate(() => this.#dispatch())
  }

  /** Serves the priority levels round-robin, one request at a time. */
  #dispatch(): void {
    this.#isDispatchPlanned = false
    let begun = 0
    for (let hasBegun = true; hasBegun; ) {
      hasBegun = false
      for (const level of this.#waitingLevels) {
        if (begun >= minDispatchesPerIteration && this.#budget.isSpent) {
          this.#planDispatch()
          return
        }
        const next = level.dequeue((seats) => hasFreeSeats(level, seats, this.config.levels.values()))
        if (level.waitingCount === 0) this.#waitingLevels.delete(level)
        if (next === undefined) continue
        hasBegun = true
        begun++
        this.#begin(next.waiting, next.queue)
      }
    }
  }

  #begin({ flowSchema: { counter }, arrivedMs, begin }: QueuedRequest, queue: FlowQueue): void {
    counter.waiting--
    counter.waits.add((performance.now() - arrivedMs) / 1000)
    begin(queue)
  }

  /** Refuses requests that waited too long, and removes those whose client disconnected or timed out. */
  #sweep(): void {
    if (this.#waitingLevels.size === 0) this.#stopSweeping()
    const nowMs = performance.now()
    for (const level of this.#waitingLevels) {
      const isOverdue = ({ arrivedMs }: QueuedRequest): boolean => nowMs - arrivedMs > this.#parts.maxWaitMs
      for (const waiting of level.removeWaiting((each) => isOverdue(each) || each.request.isClosed || each.request.isTimedOut)) {
        const { counter } = waiting.flowSchema
        const reason = isOverdue(waiting) ? 'time-out' : 'cancelled'
        if (reason === 'time-out') level.timedOut++
        else level.cancelled++
        counter.waiting--
        counter.countRefusal(reason)
        counter.refusedWaits.add((nowMs - waiting.arrivedMs) / 1000)
        waiting.refuse()
      }
      if (level.waitingCount === 0) this.#waitingLevels.delete(level)
    }
    if (this.#waitingLevels.size > 0) this.#planDispatch()
  }
}

const noSeat: Seating = { seats: 0, queue: undefined }
const oneSeat: Seating = { seats: 1, queue: undefined }

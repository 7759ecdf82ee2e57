// Priority and fairness: each request belongs to a flow, each flow to a priority level, and each level has its part of the server. Who finds no
// room waits in a queue of its level; those of different flows are served in turn.

import { scanQuery } from '../../api/options/query.js'
import type { Exchange } from '../exchange.js'
import type { RequestHooks } from '../lifecycle.js'
import type { LoopLag } from '../loop-lag.js'
import type { Answered, Filter } from '../pipeline.js'
import { OverloadedError, type Pressure } from '../pressure.js'
import { isLongRunning, isProbe, isReading } from '../priority.js'
import type { Flow } from './flow.js'
import { type FlowConfig, hasRoom } from './flow-config.js'
import type { FlowQueue, PriorityLevel, Refusal, Waiting } from './priority-level.js'

export interface FlowControlParts {
  readonly pressure: Pick<Pressure, 'isFull'>
  readonly config: FlowConfig
  /** How many objects a list may go through. */
  readonly countOf: (exchange: Exchange) => number
  /** How long a request may wait. */
  readonly maxWaitMs: number
  /** Whether the event loop has been late for so long that work has to be refused; told of every request. */
  readonly lag: Pick<LoopLag, 'touch' | 'isOverloaded' | 'isStillOverloaded'>
}

/** A request that has its seats. */
export interface Seating {
  readonly seats: number
  readonly queue: FlowQueue | undefined
}

/** A list takes a seat for so many objects, and not more seats than that. */
const objectsPerSeat = 100
const mostSeats = 10
/** How often it is looked for those who have waited too long or are gone. */
const sweepMs = 500
/** Requests that have waited and are begun in one turn of the event loop: more while turns are short, fewer while they are long. */
const fewestPerTurn = 2
const mostPerTurn = 256
const shortTurnMs = 1
const longTurnMs = 2
/** A refusal that finds its queue full comes so much later: whoever asks again at once would else be busy with nothing but refusals. */
const refusalMs = 50
const mostRefusals = 2_000
const refusalsPerTurn = 4

export class FlowControl {
  config: FlowConfig
  readOnly = 0
  mutating = 0
  readonly #parts: FlowControlParts
  readonly #busy = new Set<PriorityLevel>()
  #perTurn = 16
  #isArmed = false
  #turnMs = 0
  #sweeper: NodeJS.Timeout | undefined
  readonly #refusals: { readonly dueMs: number; readonly refuse: () => void }[] = []
  #refuser: NodeJS.Timeout | undefined

  constructor(parts: FlowControlParts) {
    this.#parts = parts
    this.config = parts.config
  }

  get waiting(): number {
    let count = 0
    for (const { waitingCount } of this.#busy) count += waitingCount
    return count
  }

  readonly filter: Filter = (exchange) => {
    const { info } = exchange
    this.#parts.lag.touch()
    if (info.verb !== 'watch' && isLongRunning(info)) return false
    const flow = this.config.classify(exchange.user, info) ?? this.config.otherwise
    exchange.flow = flow
    const { level } = flow
    const isFree = level.isExempt || isProbe(exchange)
    // Memory is bounded for everybody.
    if (this.#parts.pressure.isFull && info.verb !== 'watch' && !isProbe(exchange)) throw this.#refused(flow, 'concurrency-limit')
    if (isFree) return this.#seat(exchange, flow, 0)
    if (this.#parts.lag.isOverloaded && info.verb !== 'watch' && this.#isShed(exchange, flow))
      return new Promise((_resolve, reject) => this.#refuseLater(flow, reject))
    const seats = this.#seatsOf(exchange, level)
    const hasSeats = hasRoom(level, seats, this.config.levels.values())
    if (hasSeats && level.waitingCount === 0 && level.mayBeginAt(exchange.begunMs)) {
      flow.tally.waits.add(0)
      return this.#seat(exchange, flow, seats)
    }
    if (!hasSeats && level.limited?.queuing === undefined) throw this.#refused(flow, 'concurrency-limit')
    return this.#wait(exchange, flow, { seats, hasSeats })
  }

  /** A watch has its seat until it has begun. */
  readonly hooks: RequestHooks = {
    delegated: (exchange) => this.#leave(exchange),
    responseStarted: (exchange) => {
      if (exchange.info.verb === 'watch') this.#leave(exchange)
    },
    responseComplete: (exchange) => {
      exchange.releaseBody()
      this.#leave(exchange)
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

  /** When the loop is late, those go away first who have others of theirs waiting; if that is not enough, all that can wait. */
  #isShed(exchange: Exchange, flow: Flow): boolean {
    const { lag } = this.#parts
    return (flow.isLow && lag.isStillOverloaded) || flow.level.isWaitedIn(flow.handOf(flow.distinguisherOf(exchange)))
  }

  #seatsOf(exchange: Exchange, { nominal }: PriorityLevel): number {
    const { verb, query } = exchange.info
    if (verb !== 'list') return 1
    const limit = query === '' ? 0 : Number(scanQuery(query).first('limit') ?? 0)
    const count = this.#parts.countOf(exchange)
    const read = limit > 0 ? Math.min(limit, count) : count
    return Math.min(Math.max(1, Math.ceil(read / objectsPerSeat)), mostSeats, nominal)
  }

  #seat(exchange: Exchange, { level, tally }: Flow, seats: number, queue?: FlowQueue): Answered {
    exchange.seated = queue === undefined ? (seats === 0 ? noSeat : seats === 1 ? oneSeat : { seats, queue }) : { seats, queue }
    exchange.seatedMs = queue === undefined ? exchange.begunMs : performance.now()
    level.take(seats)
    tally.dispatched++
    tally.executing++
    tally.seatsInUse += seats
    if (isReading(exchange)) this.readOnly++
    else this.mutating++
    return false
  }

  #leave(exchange: Exchange): void {
    const { seated, flow } = exchange
    if (seated === undefined || flow === undefined) return
    exchange.seated = undefined
    const { seats, queue } = seated
    const { level, tally } = flow
    const tookMs = performance.now() - exchange.seatedMs
    level.release(seats, { queue, tookMs })
    tally.executing--
    tally.seatsInUse -= seats
    tally.executions.add(tookMs / 1000)
    if (isReading(exchange)) this.readOnly--
    else this.mutating--
    if (this.#busy.size > 0) this.#arm()
  }

  #wait(exchange: Exchange, flow: Flow, { seats, hasSeats }: { readonly seats: number; readonly hasSeats: boolean }): Promise<Answered> {
    const { level, tally } = flow
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        exchange,
        flow,
        seats,
        distinguisher: flow.distinguisherOf(exchange),
        arrivedMs: exchange.begunMs,
        begin: () => resolve(false),
        refuse: () => reject(new OverloadedError()),
      }
      const hand = flow.handOf(waiting.distinguisher)
      if (level.enqueue(waiting, { hand, hasSeats }) === undefined) {
        this.#refuseLater(flow, reject)
        return
      }
      tally.waiting++
      this.#busy.add(level)
      this.#sweeper ??= setInterval(() => this.#sweep(), sweepMs).unref()
      this.#arm()
    })
  }

  #refused({ level, tally }: Flow, reason: Refusal): OverloadedError {
    level.refused++
    tally.countRefusal(reason)
    return new OverloadedError()
  }

  #refuseLater(flow: Flow, reject: (error: Error) => void): void {
    const error = this.#refused(flow, 'queue-full')
    if (this.#refusals.length >= mostRefusals) {
      reject(error)
      return
    }
    this.#refusals.push({ dueMs: performance.now() + refusalMs, refuse: () => reject(error) })
    this.#refuser ??= setTimeout(() => this.#refuseSome(), refusalMs)
  }

  #refuseSome(): void {
    this.#refuser = undefined
    const nowMs = performance.now()
    for (let i = 0; i < refusalsPerTurn && (this.#refusals[0]?.dueMs ?? Number.POSITIVE_INFINITY) <= nowMs; i++)
      this.#refusals.shift()?.refuse()
    const next = this.#refusals[0]
    if (next !== undefined) this.#refuser = setTimeout(() => this.#refuseSome(), Math.max(1, next.dueMs - nowMs))
  }

  #arm(): void {
    if (this.#isArmed) return
    this.#isArmed = true
    setImmediate(() => this.#dispatch())
  }

  /** Levels take turns, and within each its queues. */
  #dispatch(): void {
    this.#isArmed = false
    this.#adapt()
    let left = this.#perTurn
    for (let isMoving = true; isMoving && left > 0; ) {
      isMoving = false
      for (const level of this.#busy) {
        if (left === 0) break
        const next = level.next((seats) => hasRoom(level, seats, this.config.levels.values()))
        if (level.waitingCount === 0) this.#busy.delete(level)
        if (next === undefined) continue
        isMoving = true
        left--
        this.#begin(next.waiting, next.queue)
      }
    }
    // Where nothing moves, somebody has to leave first.
    if (left === 0 && this.#busy.size > 0) this.#arm()
    else this.#turnMs = 0
  }

  #begin({ exchange, flow, seats, arrivedMs, begin }: Waiting, queue: FlowQueue): void {
    flow.tally.waiting--
    flow.tally.waits.add((performance.now() - arrivedMs) / 1000)
    this.#seat(exchange, flow, seats, queue)
    begin()
  }

  /** By how long the last turn was, in which others read what had come. */
  #adapt(): void {
    const nowMs = performance.now()
    const tookMs = this.#turnMs === 0 ? 0 : nowMs - this.#turnMs
    this.#turnMs = nowMs
    if (tookMs > longTurnMs) this.#perTurn = Math.max(fewestPerTurn, Math.floor(this.#perTurn * 0.7))
    else if (tookMs < shortTurnMs) this.#perTurn = Math.min(mostPerTurn, this.#perTurn + 1)
  }

  #sweep(): void {
    if (this.#busy.size === 0) this.#stopSweeping()
    const nowMs = performance.now()
    for (const level of this.#busy) {
      const isLate = ({ arrivedMs }: Waiting): boolean => nowMs - arrivedMs > this.#parts.maxWaitMs
      for (const waiting of level.takeOut((each) => isLate(each) || each.exchange.isGone || each.exchange.isTimedOut)) {
        const { tally } = waiting.flow
        const reason = isLate(waiting) ? 'time-out' : 'cancelled'
        if (reason === 'time-out') level.timedOut++
        else level.cancelled++
        tally.waiting--
        tally.countRefusal(reason)
        tally.refusedWaits.add((nowMs - waiting.arrivedMs) / 1000)
        waiting.refuse()
      }
      if (level.waitingCount === 0) this.#busy.delete(level)
    }
    if (this.#busy.size > 0) this.#arm()
  }
}

const noSeat: Seating = { seats: 0, queue: undefined }
const oneSeat: Seating = { seats: 1, queue: undefined }

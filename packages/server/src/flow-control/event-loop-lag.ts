// How far the event loop is behind, measured by a timer that runs only while there are requests; when it stays behind, new work of low priority
// is refused before anything of it is read.

import { Histogram } from '../base/histogram.js'
import type { Filter } from './pipeline.js'
import { OverloadedError } from './pressure.js'
import { isExempt, isProbe } from './priority.js'

const tickMs = 50
/** From here on the loop counts as late. */
const lateMs = 100
/** How long it has to be late, tick after tick, until work is refused. */
const patienceMs = 1_000
/** After so long it is plain that it did not help to refuse some of it. */
const longPatienceMs = 2_000
/** What one tick counts at most: a process that was stopped for an hour and goes on is not a busy one. */
const mostPerTickMs = 400
/** So many ticks after the last request the timer ends. */
const idleTicks = 40

/** In seconds. */
const delayBounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

export interface LagClock {
  now(): number
  /** Calls again and again until the function that it returns is called. */
  every(ms: number, call: () => void): () => void
}

const realClock: LagClock = {
  now: () => performance.now(),
  every: (ms, call) => {
    const timer = setInterval(call, ms).unref()
    return () => clearInterval(timer)
  },
}

export class LoopLag {
  readonly #clock: LagClock
  #stop: (() => void) | undefined
  #expectedMs = 0
  #lagMs = 0
  #lateForMs = 0
  #quietTicks = 0
  /** How late it was, tick by tick. */
  readonly delays = new Histogram(delayBounds)

  constructor(clock = realClock) {
    this.#clock = clock
  }

  /** As it was last seen. */
  get seconds(): number {
    return this.#lagMs / 1000
  }

  get isMeasuring(): boolean {
    return this.#stop !== undefined
  }

  /** Whether the loop has been late for so long that new work has to wait. */
  get isOverloaded(): boolean {
    return this.#lateForMs >= patienceMs
  }

  /** Whether it still is, though those were sent away whose requests wait. */
  get isStillOverloaded(): boolean {
    return this.#lateForMs >= longPatienceMs
  }

  /** A filter: whoever watches, asks for health or is an administrator goes on. It stands before everything that reads a query or a body. */
  readonly shed: Filter = (exchange) => {
    this.touch()
    if (this.isOverloaded && exchange.info.verb !== 'watch' && !isProbe(exchange) && !isExempt(exchange)) throw new OverloadedError()
    return false
  }

  /** There is a request. */
  touch(): void {
    this.#quietTicks = 0
    if (this.#stop !== undefined) return
    this.#expectedMs = this.#clock.now() + tickMs
    this.#stop = this.#clock.every(tickMs, () => this.#tick())
  }

  close(): void {
    this.#stop?.()
    this.#stop = undefined
    this.#lagMs = 0
    this.#lateForMs = 0
  }

  #tick(): void {
    const now = this.#clock.now()
    this.#lagMs = Math.max(0, now - this.#expectedMs)
    this.delays.add(this.#lagMs / 1000)
    this.#expectedMs = now + tickMs
    this.#lateForMs = this.#lagMs > lateMs ? this.#lateForMs + Math.min(this.#lagMs + tickMs, mostPerTickMs) : 0
    this.#quietTicks++
    if (this.#quietTicks > idleTicks) this.close()
  }
}

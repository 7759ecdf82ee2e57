// Event loop lag, measured by a timer while there are requests. While the lag persists, requests are refused, except watches, probes and
// requests of administrators.

import { systemTimers, type Timers } from '@cluster-apiserver/api/base/clock.js'
import { Histogram } from '@cluster-apiserver/api/base/histogram.js'
import type { InFlightLimits } from './max-in-flight.js'
import { OverloadedError } from './memory-pressure.js'
import { type FlowRequest, isExempt, isProbe, isReadOnly } from './request.js'

const tickMs = 50
/** Lag above which a tick counts as late. */
const lateMs = 100
/** Time of late ticks after which requests are refused. */
const overloadedMs = 1_000
/** Time of late ticks after which priority and fairness refuses all low-priority requests, not only those of flows with queued ones. */
const stillOverloadedMs = 2_000
/** Maximum time that one tick adds: a suspended process was not busy. */
const maxLateTickMs = 400
/** Ticks after the last request at which the timer stops. */
const maxIdleTicks = 40

const delayBounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

type LagTimers = Pick<Timers, 'now' | 'every'>

export class EventLoopLag {
  readonly #timers: LagTimers
  #stop: (() => void) | undefined
  #expectedMs = 0
  #lagMs = 0
  #lateForMs = 0
  #idleTicks = 0
  readonly delays = new Histogram(delayBounds)

  constructor(timers: LagTimers = systemTimers) {
    this.#timers = timers
  }

  get seconds(): number {
    return this.#lagMs / 1000
  }

  get isMeasuring(): boolean {
    return this.#stop !== undefined
  }

  get isOverloaded(): boolean {
    return this.#lateForMs >= overloadedMs
  }

  get isStillOverloaded(): boolean {
    return this.#lateForMs >= stillOverloadedMs
  }

  /** Filter that refuses requests while overloaded, except watches, probes, requests of administrators and requests without a limit. */
  shed({ maxReadOnly, maxMutating }: InFlightLimits): (request: Pick<FlowRequest, 'info' | 'user'>) => Promise<false> {
    const isLimited = (request: Pick<FlowRequest, 'info'>): boolean =>
      (isReadOnly(request) ? maxReadOnly : maxMutating) !== Number.POSITIVE_INFINITY
    return async (request) => {
      this.touch()
      if (this.isOverloaded && request.info.verb !== 'watch' && !isProbe(request) && !isExempt(request) && isLimited(request))
        throw new OverloadedError()
      return false
    }
  }

  /** Starts or continues measuring. Called for each request. */
  touch(): void {
    this.#idleTicks = 0
    if (this.#stop !== undefined) return
    this.#expectedMs = this.#timers.now() + tickMs
    this.#stop = this.#timers.every(tickMs, () => this.#tick())
  }

  close(): void {
    this.#stop?.()
    this.#stop = undefined
    this.#lagMs = 0
    this.#lateForMs = 0
  }

  #tick(): void {
    const now = this.#timers.now()
    this.#lagMs = Math.max(0, now - this.#expectedMs)
    this.delays.add(this.#lagMs / 1000)
    this.#expectedMs = now + tickMs
    this.#lateForMs = this.#lagMs > lateMs ? this.#lateForMs + Math.min(this.#lagMs + tickMs, maxLateTickMs) : 0
    this.#idleTicks++
    if (this.#idleTicks > maxIdleTicks) this.close()
  }
}

// Work queue of keys: each is queued once and runs once at a time; failures back off; a full queue drops keys and calls `onOverflow`.

import { systemTimers, type Timers } from '@cluster-apiserver/api/base/clock.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { QueueCounters, type QueueState } from './queue-metrics.js'
import { budgetOf } from './timers.js'

/** When to process the key again: never (undefined), after a delay, or with back-off as after a failure (`'again'`); or other keys to process. */
export type Outcome = undefined | 'again' | { readonly afterMs: number } | { readonly keys: readonly string[] }

export interface BackOff {
  readonly firstMs: number
  readonly maxMs: number
}

export interface QueueOptions {
  readonly work: (key: string) => Promise<Outcome>
  /** `isNewFailure`: the previous failure of the key had another message. */
  readonly onFailure: (key: string, thrown: unknown, retryMs: number, isNewFailure: boolean) => void
  /** A key due after `afterMs` was dropped, so everything must be listed again. */
  readonly onOverflow: (afterMs: number) => void
  readonly concurrency?: number
  readonly backOff?: BackOff
  readonly maxKeys?: number | undefined
  readonly counters?: QueueCounters
  readonly timers?: Timers
  readonly budget?: TurnBudget
  readonly random?: () => number
}

const defaultBackOff: BackOff = { firstMs: 200, maxMs: 60_000 }
const defaultMaxKeys = 10_000
const maxReasonLength = 200

interface Failures {
  count: number
  reason: string | undefined
}

interface Delay {
  readonly atMs: number
  readonly cancel: () => void
}

export class WorkQueue {
  readonly #options: QueueOptions
  readonly #timers: Timers
  readonly #budget: TurnBudget
  readonly #counters: QueueCounters
  readonly #maxKeys: number
  readonly #ready = new Map<string, number>()
  readonly #running = new Map<string, number>()
  readonly #requeued = new Set<string>()
  readonly #delayed = new Map<string, Delay>()
  readonly #failures = new Map<string, Failures>()
  readonly #workers = new Set<Promise<void>>()
  #activeWorkers = 0
  #waitingForSpace: (() => void)[] = []
  #isClosed = false

  constructor(options: QueueOptions) {
    this.#options = options
    this.#timers = options.timers ?? systemTimers
    this.#budget = options.budget ?? budgetOf(options.timers)
    this.#counters = options.counters ?? new QueueCounters('')
    this.#maxKeys = options.maxKeys ?? defaultMaxKeys
    this.#counters.state = () => this.#state()
  }

  /** Ignores delayed keys. */
  get isIdle(): boolean {
    return this.#ready.size === 0 && this.#activeWorkers === 0
  }

  /** Keys that are queued or running, running ones first. */
  get busyKeys(): readonly string[] {
    return [...this.#running.keys(), ...this.#ready.keys()]
  }

  /** Processes delayed keys now that are due within `withinMs`. */
  expedite(withinMs: number): void {
    const untilMs = this.#timers.now() + withinMs
    for (const [key, { atMs }] of [...this.#delayed]) if (atMs <= untilMs) this.add(key)
  }

  get hasSpace(): boolean {
    return this.#ready.size < this.#maxKeys
  }

  /** Resolves when half of the queue is free, or when it is closed. */
  waitForSpace(): Promise<void> {
    if (this.#isClosed || this.#isHalfFree) return Promise.resolve()
    return new Promise((resolve) => this.#waitingForSpace.push(resolve))
  }

  add(key: string): void {
    if (this.#isClosed) return
    if (this.#running.has(key)) {
      this.#requeued.add(key)
      return
    }
    if (this.#ready.has(key)) return
    if (!this.hasSpace) {
      if (!this.#delayed.has(key)) this.#failures.delete(key)
      this.#options.onOverflow(0)
      return
    }
    this.#cancelDelay(key)
    this.#counters.adds += 1
    this.#ready.set(key, this.#timers.now())
    if (this.#activeWorkers < (this.#options.concurrency ?? 1)) this.#startWorker()
  }

  /** `timer`: `every` lets a movable clock skip runs, of keys that would run again and again. */
  addAfter(key: string, ms: number, timer: 'after' | 'every' = 'after'): void {
    if (ms <= 0) {
      this.add(key)
      return
    }
    if (this.#isClosed || this.#ready.has(key)) return
    const atMs = this.#timers.now() + ms
    const before = this.#delayed.get(key)
    if (before !== undefined && before.atMs <= atMs) return
    if (before === undefined && this.#delayed.size >= this.#maxKeys) {
      this.#failures.delete(key)
      this.#options.onOverflow(ms)
      return
    }
    before?.cancel()
    const cancel = this.#timers[timer](ms, () => {
      this.#cancelDelay(key)
      this.add(key)
    })
    this.#delayed.set(key, { atMs, cancel })
  }

  /** Drops all queued keys and waits until running keys are done. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { cancel } of this.#delayed.values()) cancel()
    this.#delayed.clear()
    this.#ready.clear()
    this.#failures.clear()
    this.#resolveSpace()
    await Promise.all(this.#workers)
    this.#counters.setIdle()
  }

  get #isHalfFree(): boolean {
    return this.#ready.size <= this.#maxKeys / 2
  }

  #startWorker(): void {
    this.#activeWorkers += 1
    const worker: Promise<void> = this.#runWorker().finally(() => this.#workers.delete(worker))
    this.#workers.add(worker)
  }

  /** Starts in a microtask, because `add` may be called while a change is delivered to all watchers. */
  async #runWorker(): Promise<void> {
    await undefined
    for (;;) {
      await this.#budget.takeSlot()
      const key = this.#take()
      if (key === undefined) {
        this.#activeWorkers -= 1
        return
      }
      await this.#process(key)
    }
  }

  #take(): string | undefined {
    for (const [key, sinceMs] of this.#ready) {
      const nowMs = this.#timers.now()
      this.#ready.delete(key)
      this.#running.set(key, nowMs)
      this.#counters.queued.add((nowMs - sinceMs) / 1000)
      this.#resolveSpace()
      return key
    }
    return undefined
  }

  async #process(key: string): Promise<void> {
    const { firstMs } = this.#options.backOff ?? defaultBackOff
    let retryMs: number | undefined
    let isDone = false
    try {
      const outcome = await this.#options.work(key)
      if (outcome === 'again') retryMs = this.#nextDelayOf(key)
      else {
        this.#failures.delete(key)
        isDone = true
        if (outcome !== undefined && 'keys' in outcome) for (const each of outcome.keys) this.add(each)
        else retryMs = outcome?.afterMs
      }
    } catch (thrown) {
      retryMs = this.#nextDelayOf(key)
      this.#options.onFailure(key, thrown, retryMs, this.#isNewFailure(key, thrown))
    }
    this.#counters.worked.add((this.#timers.now() - (this.#running.get(key) as number)) / 1000)
    this.#running.delete(key)
    if (this.#isClosed) return
    // A failed key that was added meanwhile, perhaps by its own write, waits the shortest delay.
    if (this.#requeued.delete(key)) this.addAfter(key, isDone ? 0 : firstMs)
    else if (retryMs !== undefined) this.addAfter(key, retryMs, this.#isAtMaxDelay(key) ? 'every' : 'after')
  }

  /** Doubles each time up to `maxMs`; jitter shortens it by up to 25 %. */
  #nextDelayOf(key: string): number {
    const { backOff = defaultBackOff, random = Math.random } = this.#options
    const failures = this.#failures.get(key) ?? { count: 0, reason: undefined }
    const ms = Math.min(backOff.firstMs * 2 ** failures.count, backOff.maxMs)
    failures.count += 1
    this.#failures.set(key, failures)
    this.#counters.retries += 1
    return ms * (0.75 + 0.25 * random())
  }

  #isAtMaxDelay(key: string): boolean {
    const { firstMs, maxMs } = this.#options.backOff ?? defaultBackOff
    return firstMs * 2 ** ((this.#failures.get(key)?.count ?? 0) - 1) >= maxMs
  }

  #isNewFailure(key: string, thrown: unknown): boolean {
    const failures = this.#failures.get(key)
    const reason = shorten(errorMessage(thrown), maxReasonLength)
    if (failures === undefined || failures.reason === reason) return failures === undefined
    failures.reason = reason
    return true
  }

  #cancelDelay(key: string): void {
    this.#delayed.get(key)?.cancel()
    this.#delayed.delete(key)
  }

  #resolveSpace(): void {
    if (this.#waitingForSpace.length === 0 || !(this.#isClosed || this.#isHalfFree)) return
    const waiting = this.#waitingForSpace
    this.#waitingForSpace = []
    for (const resolve of waiting) resolve()
  }

  #state(): QueueState {
    const nowMs = this.#timers.now()
    let unfinishedMs = 0
    let longestMs = 0
    for (const sinceMs of this.#running.values()) {
      unfinishedMs += nowMs - sinceMs
      longestMs = Math.max(longestMs, nowMs - sinceMs)
    }
    return { depth: this.#ready.size, unfinishedSeconds: unfinishedMs / 1000, longestRunningSeconds: longestMs / 1000 }
  }
}

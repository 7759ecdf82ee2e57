// Keys that wait for work: each at most once in the queue and at most once being worked on. What fails comes again later, and later still; what
// there is no room for is told to the owner, who looks at everything again.

import { type PieceClock, SharedPieces, sharedPieces } from '../../base/pieces.js'
import { shorten } from '../../base/shorten.js'
import { QueueCounters, type QueueState } from './counters.js'
import { systemTimers, type Timers } from './timers.js'

/** When to work on a key again: never (undefined), after a while, or `'again'`: as after a failure, but nothing is wrong. */
export type Outcome = undefined | 'again' | { readonly afterMs: number }

export interface BackOff {
  readonly firstMs: number
  readonly mostMs: number
}

export interface QueueOptions {
  readonly work: (key: string) => Promise<Outcome>
  /** Told of every failure; `againMs`: when the key comes again; `isNews`: it did not fail for the same reason the last time. */
  readonly onFailure: (key: string, thrown: unknown, againMs: number, isNews: boolean) => void
  /** A key was not taken that would have been worked on after so long: look at everything again. */
  readonly onOverflow: (afterMs: number) => void
  readonly concurrency?: number
  readonly backOff?: BackOff
  /** How many keys may be ready, and how many may wait for their time. */
  readonly mostKeys?: number
  readonly counters?: QueueCounters
  readonly timers?: Timers
  readonly pieces?: PieceClock
  /** From 0 to 1. */
  readonly random?: () => number
}

const usualBackOff: BackOff = { firstMs: 200, mostMs: 60_000 }
const usualMostKeys = 10_000
/** Reasons are kept for as long as a key fails. */
const mostReasonLength = 200

interface Failures {
  /** Since it went well. */
  count: number
  /** What was told of the last one. */
  reason: string | undefined
}

interface Delay {
  readonly atMs: number
  readonly cancel: () => void
}

export class KeyedQueue {
  readonly #options: QueueOptions
  readonly #timers: Timers
  readonly #pieces: PieceClock
  readonly #counters: QueueCounters
  readonly #mostKeys: number
  /** With the time since when they could be worked on, in order. */
  readonly #ready = new Map<string, number>()
  /** With the time at which work on them began. */
  readonly #running = new Map<string, number>()
  /** Asked for while they are being worked on. */
  readonly #asked = new Set<string>()
  readonly #delayed = new Map<string, Delay>()
  readonly #failures = new Map<string, Failures>()
  readonly #workers = new Set<Promise<void>>()
  /** Workers that will look for a key again. */
  #employed = 0
  #waitingForRoom: (() => void)[] = []
  #isClosed = false

  constructor(options: QueueOptions) {
    this.#options = options
    this.#timers = options.timers ?? systemTimers
    this.#pieces = options.pieces ?? (options.timers === undefined ? sharedPieces : new SharedPieces(options.timers.now))
    this.#counters = options.counters ?? new QueueCounters('')
    this.#mostKeys = options.mostKeys ?? usualMostKeys
    this.#counters.state = () => this.#state()
  }

  /** Whether no key is being worked on or could be; keys that wait for their time do not count. */
  get isIdle(): boolean {
    return this.#ready.size === 0 && this.#employed === 0
  }

  /** Keys whose time would come within so long are worked on now. */
  hurry(withinMs: number): void {
    const untilMs = this.#timers.now() + withinMs
    for (const [key, { atMs }] of [...this.#delayed]) if (atMs <= untilMs) this.add(key)
  }

  get hasRoom(): boolean {
    return this.#ready.size < this.#mostKeys
  }

  /** Resolves when there is room again, and not for one key alone; or when the queue is closed. */
  room(): Promise<void> {
    if (this.#isClosed || this.#hasMuchRoom) return Promise.resolve()
    return new Promise((resolve) => this.#waitingForRoom.push(resolve))
  }

  add(key: string): void {
    if (this.#isClosed) return
    if (this.#running.has(key)) {
      this.#asked.add(key)
      return
    }
    if (this.#ready.has(key)) return
    if (!this.hasRoom) {
      if (!this.#delayed.has(key)) this.#failures.delete(key)
      this.#options.onOverflow(0)
      return
    }
    this.#undelay(key)
    this.#counters.adds += 1
    this.#ready.set(key, this.#timers.now())
    if (this.#employed < (this.#options.concurrency ?? 1)) this.#employ()
  }

  /** Adds a key when so much time has passed, or earlier if anybody else asks for that. */
  addAfter(key: string, ms: number): void {
    if (ms <= 0) {
      this.add(key)
      return
    }
    if (this.#isClosed || this.#ready.has(key)) return
    const atMs = this.#timers.now() + ms
    const before = this.#delayed.get(key)
    if (before !== undefined && before.atMs <= atMs) return
    if (before === undefined && this.#delayed.size >= this.#mostKeys) {
      this.#failures.delete(key)
      this.#options.onOverflow(ms)
      return
    }
    before?.cancel()
    const cancel = this.#timers.after(ms, () => {
      this.#delayed.delete(key)
      this.add(key)
    })
    this.#delayed.set(key, { atMs, cancel })
  }

  /** Lets nothing start any more, and waits for what runs. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { cancel } of this.#delayed.values()) cancel()
    this.#delayed.clear()
    this.#ready.clear()
    this.#failures.clear()
    this.#giveRoom()
    await Promise.all(this.#workers)
    this.#counters.rest()
  }

  get #hasMuchRoom(): boolean {
    return this.#ready.size <= this.#mostKeys / 2
  }

  #employ(): void {
    this.#employed += 1
    const worker: Promise<void> = this.#workThrough().finally(() => this.#workers.delete(worker))
    this.#workers.add(worker)
  }

  /** Never in the turn of whoever added a key: that may be the delivery of a change to everybody. */
  async #workThrough(): Promise<void> {
    await undefined
    for (;;) {
      if (this.#pieces.isOver) await this.#pieces.next()
      const key = this.#take()
      if (key === undefined) {
        this.#employed -= 1
        return
      }
      await this.#workOn(key)
    }
  }

  #take(): string | undefined {
    for (const [key, sinceMs] of this.#ready) {
      const nowMs = this.#timers.now()
      this.#ready.delete(key)
      this.#running.set(key, nowMs)
      this.#counters.queued.add((nowMs - sinceMs) / 1000)
      this.#giveRoom()
      return key
    }
    return undefined
  }

  async #workOn(key: string): Promise<void> {
    const { firstMs } = this.#options.backOff ?? usualBackOff
    let againMs: number | undefined
    let isDone = false
    try {
      const outcome = await this.#options.work(key)
      if (outcome === 'again') againMs = this.#nextDelayOf(key)
      else {
        this.#failures.delete(key)
        isDone = true
        againMs = outcome?.afterMs
      }
    } catch (thrown) {
      againMs = this.#nextDelayOf(key)
      this.#options.onFailure(key, thrown, againMs, this.#isNews(key, thrown))
    }
    this.#counters.worked.add((this.#timers.now() - (this.#running.get(key) as number)) / 1000)
    this.#running.delete(key)
    if (this.#isClosed) return
    // What failed is not tried again at once because of a change that it made itself; but a change is a reason not to wait long.
    if (this.#asked.delete(key)) this.addAfter(key, isDone ? 0 : firstMs)
    else if (againMs !== undefined) this.addAfter(key, againMs)
  }

  /** Twice as long each time, and never the same for many that fail together. */
  #nextDelayOf(key: string): number {
    const { backOff = usualBackOff, random = Math.random } = this.#options
    const failures = this.#failures.get(key) ?? { count: 0, reason: undefined }
    const ms = Math.min(backOff.firstMs * 2 ** failures.count, backOff.mostMs)
    failures.count += 1
    this.#failures.set(key, failures)
    this.#counters.retries += 1
    return ms * (0.75 + 0.25 * random())
  }

  #isNews(key: string, thrown: unknown): boolean {
    const failures = this.#failures.get(key)
    const reason = shorten(thrown instanceof Error ? thrown.message : String(thrown), mostReasonLength)
    if (failures === undefined || failures.reason === reason) return failures === undefined
    failures.reason = reason
    return true
  }

  #undelay(key: string): void {
    this.#delayed.get(key)?.cancel()
    this.#delayed.delete(key)
  }

  #giveRoom(): void {
    if (this.#waitingForRoom.length === 0 || !(this.#isClosed || this.#hasMuchRoom)) return
    const waiting = this.#waitingForRoom
    this.#waitingForRoom = []
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

// The clock of a server with a test kit: real time plus an offset, which tests increase. Timers that become due then fire in order.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Time, timerMs } from '@cluster-apiserver/api/base/clock.js'
import { type Duration, readDurationMs } from './duration.js'
import { type Timer, TimerQueue } from './timer-queue.js'

/** The time of the server: for timestamps, tokens, certificates, TTLs, leases, watches and controllers. It only moves forward. */
export interface ServerClock {
  now(): Date
  /** Resolves when all timers that are due by then have fired, in order, and the controllers have finished the work that they caused. */
  advance(by: Duration): Promise<void>
  /** As `advance`, to a point in time. Rejects if it is in the past. */
  set(time: Date | string | number): Promise<void>
}

/** Work that a fired timer causes. */
interface CausedWork {
  /** Starts the controllers of a fork, which otherwise begin with its first request. */
  begin?(): void
  /** True if nothing is queued or running. */
  isIdle(): boolean
  /** Also finishes work that is delayed by a short time. */
  finish(): Promise<unknown>
}

/** Work that takes longer waits for something external, such as a webhook. */
const maxWaitMs = 2000
/** Idle turns of the event loop after which nothing more is expected: a commit notifies watchers in a later turn. */
const idleTurns = 2
/** Maximum number of runs of a periodic timer before the next one-time timer. Compaction needs two: a run compacts to the revision of the run before. */
const runsPerStep = 2

const maxMoveMs = 5 * 366 * 24 * 3_600_000

export class MovableClock implements ServerClock {
  readonly time: Time = {
    system: {
      now: () => Math.floor(this.#stopped === undefined ? Date.now() + this.#offsetMs : this.#stopped.atMs + this.#stopped.epochMs),
    },
    steady: { now: () => Math.floor(performance.timeOrigin + this.#nowMs()) },
    timers: {
      now: () => this.#nowMs(),
      after: (ms, run) => this.#start(ms, 0, run),
      every: (ms, run) => this.#start(ms, Math.max(1, ms), run),
    },
  }
  readonly #once = new TimerQueue()
  readonly #periodic = new TimerQueue()
  #order = 0
  #offsetMs: number
  /** Set while time moves: it stands still between two timers. `epochMs` is the system time at `atMs` 0. */
  #stopped: { atMs: number; readonly epochMs: number } | undefined
  #moving: Promise<unknown> = Promise.resolve()
  #work: CausedWork = { isIdle: () => true, finish: async () => undefined }
  #patienceMs = maxWaitMs
  #realTimer: NodeJS.Timeout | undefined
  #wakesAtMs = Number.POSITIVE_INFINITY
  #isClosed = false

  constructor(offsetMs = 0) {
    this.#offsetMs = Math.ceil(offsetMs)
  }

  /** Difference to real time, for a clock that continues from this one. */
  get offsetMs(): number {
    return this.time.system.now() - Date.now()
  }

  now(): Date {
    return new Date(this.time.system.now())
  }

  async advance(by: Duration): Promise<void> {
    const ms = readDurationMs(by)
    await this.#enqueue(() => this.#target(ms))
  }

  async set(time: Date | string | number): Promise<void> {
    const wantedMs = new Date(time).getTime()
    if (Number.isNaN(wantedMs)) throw new TypeError(`clock.set: ${JSON.stringify(time)} is not a time such as 2030-01-31T12:00:00Z`)
    await this.#enqueue(() => {
      const ms = wantedMs - this.time.system.now()
      if (ms < 0) throw new RangeError(`clock.set: time moves only forward, and the server is at ${this.now().toISOString()} already`)
      return this.#target(ms)
    })
  }

  /** Refuses a move that would take minutes: the server renews its own leases at every step. */
  #target(ms: number): number {
    if (ms > maxMoveMs) throw new RangeError('clock: one move is at most 5 years')
    return this.#nowMs() + ms
  }

  /** Work to wait for between two timers; known when the server has started. */
  waitFor(work: CausedWork): void {
    this.#work = work
  }

  /** Ends the move in progress, which rejects. Timers continue in real time. */
  close(): void {
    this.#isClosed = true
  }

  #nowMs(): number {
    return this.#stopped?.atMs ?? performance.now() + this.#offsetMs
  }

  #start(ms: number, periodMs: number, run: Timer['run']): () => void {
    const timer: Timer = { dueMs: this.#nowMs() + Math.max(1, ms), order: this.#order++, run, periodMs, index: -1 }
    const queue = this.#queueOf(timer)
    queue.add(timer)
    this.#wakeUp()
    return () => {
      queue.remove(timer)
      // The real timer would keep a closed server in memory.
      if (this.#once.first === undefined && this.#periodic.first === undefined) this.#sleep()
    }
  }

  #queueOf({ periodMs }: Timer): TimerQueue {
    return periodMs > 0 ? this.#periodic : this.#once
  }

  /** Sets the real timer for the next due time. */
  #wakeUp(): void {
    if (this.#stopped !== undefined) return
    const dueMs = Math.min(this.#once.first?.dueMs ?? Number.POSITIVE_INFINITY, this.#periodic.first?.dueMs ?? Number.POSITIVE_INFINITY)
    if (dueMs >= this.#wakesAtMs) return
    clearTimeout(this.#realTimer)
    this.#wakesAtMs = dueMs
    this.#realTimer = setTimeout(() => this.#fireDue(), timerMs(Math.max(1, Math.ceil(dueMs - this.#nowMs())))).unref()
  }

  #sleep(): void {
    clearTimeout(this.#realTimer)
    this.#wakesAtMs = Number.POSITIVE_INFINITY
  }

  #fireDue(): void {
    this.#sleep()
    const nowMs = this.#nowMs()
    try {
      for (let timer = this.#next(nowMs, 1); timer !== undefined; timer = this.#next(nowMs, 1)) this.#fire(timer)
    } finally {
      this.#wakeUp()
    }
  }

  /** The next timer that is due by `untilMs`. Periodic timers skip all but the last `maxRuns` runs before the next one-time timer. */
  #next(untilMs: number, maxRuns: number): Timer | undefined {
    const once = this.#once.first
    const stepMs = Math.min(once?.dueMs ?? untilMs, untilMs)
    for (let timer = this.#periodic.first; timer !== undefined && timer.dueMs <= stepMs; timer = this.#periodic.first) {
      const skipped = Math.floor((stepMs - timer.dueMs) / timer.periodMs) + 1 - maxRuns
      if (skipped <= 0) return timer
      this.#postpone(timer, skipped * timer.periodMs)
    }
    return once !== undefined && once.dueMs <= untilMs ? once : undefined
  }

  #postpone(timer: Timer, byMs: number): void {
    this.#periodic.remove(timer)
    timer.dueMs += byMs
    this.#periodic.add(timer)
  }

  #fire(timer: Timer): unknown {
    if (timer.periodMs > 0) this.#postpone(timer, timer.periodMs)
    else this.#once.remove(timer)
    return timer.run()
  }

  /** Moves one after the other, so that each has its own start. */
  #enqueue(targetMs: () => number): Promise<void> {
    const move = this.#moving.then(() => this.#moveTo(targetMs))
    this.#moving = move.catch(() => undefined)
    return move
  }

  async #moveTo(targetMs: () => number): Promise<void> {
    this.#refuseIfClosed()
    const endMs = targetMs()
    const atMs = this.#nowMs()
    const stopped = { atMs, epochMs: this.time.system.now() - atMs }
    this.#stopped = stopped
    this.#sleep()
    this.#patienceMs = maxWaitMs
    try {
      this.#work.begin?.()
      // Work that runs already sees the time of its start.
      await this.#settle()
      for (let timer = this.#next(endMs, runsPerStep); timer !== undefined; timer = this.#next(endMs, runsPerStep)) {
        stopped.atMs = Math.max(stopped.atMs, timer.dueMs)
        await this.#atMost(this.#fire(timer))
        await this.#settle()
        this.#refuseIfClosed()
      }
      stopped.atMs = endMs
      await this.#work.finish()
      await this.#settle()
    } finally {
      // Whole milliseconds, rounded up: time must not move backwards.
      this.#offsetMs = Math.ceil(stopped.atMs - performance.now()) + 1
      this.#stopped = undefined
      this.#wakeUp()
    }
  }

  #refuseIfClosed(): void {
    if (this.#isClosed) throw new Error('clock: the server is closed')
  }

  /** Waits until the work is done, but for external work only once per move. */
  async #settle(): Promise<void> {
    const startMs = performance.now()
    for (let idle = 0; idle < idleTurns; ) {
      await nextTurn()
      idle = this.#work.isIdle() ? idle + 1 : 0
      if (idle === 0 && (performance.now() - startMs >= this.#patienceMs || this.#isClosed)) {
        this.#patienceMs = 0
        return
      }
    }
    this.#patienceMs = maxWaitMs
  }

  async #atMost(result: unknown): Promise<void> {
    if (!(result instanceof Promise)) return
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, maxWaitMs)
    })
    await Promise.race([result, timeout]).finally(() => clearTimeout(timer))
  }
}

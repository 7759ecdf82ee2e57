// Clocks, timers and timeouts. Code gets them passed in, so that tests can set the time.

import { errorMessage } from './error-message.js'

export interface Clock {
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** Time that does not jump when the system clock is set: for delays, not for timestamps. */
export const steadyClock: Clock = { now: () => Math.floor(performance.timeOrigin + performance.now()) }

/** Maximum delay of a Node.js timer, 24 days. Node.js fires timers with longer delays at once. */
const maxTimerMs = 2 ** 31 - 1

export const timerMs = (ms: number): number => Math.min(ms, maxTimerMs)

/** Work of a timer. A movable clock waits for the promise before it fires the next timer. */
export type TimedWork = () => unknown

export interface Timers {
  /** Monotonic, in milliseconds. */
  readonly now: () => number
  /** Returns the function that cancels. */
  after(ms: number, run: TimedWork): () => void
  /** For housekeeping: a movable clock skips runs if it moves by many intervals. Returns the function that cancels. */
  every(ms: number, run: TimedWork): () => void
}

/** Repeats `run` with `after`, for implementations of `Timers.every`. */
export function repeatAfter(after: Timers['after'], ms: number, run: TimedWork): () => void {
  let cancel: () => void
  const next = (): unknown => {
    cancel = after(ms, next)
    return run()
  }
  cancel = after(ms, next)
  return () => cancel()
}

function startTimer(ms: number, run: TimedWork): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const wait = (leftMs: number): void => {
    timer = setTimeout(leftMs > maxTimerMs ? () => wait(leftMs - maxTimerMs) : run, timerMs(leftMs))
    // Timers of a browser have no `unref`.
    timer.unref?.()
  }
  wait(ms)
  return () => clearTimeout(timer)
}

/** They do not keep the process alive. */
export const systemTimers: Timers = {
  now: () => performance.now(),
  after: startTimer,
  every: (ms, run) => repeatAfter(startTimer, ms, run),
}

/** All clocks of one server, which a test kit moves together. */
export interface Time {
  readonly system: Clock
  readonly steady: Clock
  readonly timers: Timers
}

export const realTime: Time = { system: systemClock, steady: steadyClock, timers: systemTimers }

/** Resolves when the work settles, at the latest after `ms`, so that shutdown cannot hang. Never rejects. */
export function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timerMs(ms))
    const end = (): void => {
      clearTimeout(timer)
      resolve()
    }
    work.then(end, end)
  })
}

/** Returns the message of the work's error, or of a timeout; undefined on success. */
export function errorWithin(timeoutMs: number, work: Promise<unknown>): Promise<string | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(`no response within ${timeoutMs} ms`), timerMs(timeoutMs))
    work
      .then(
        () => resolve(undefined),
        (thrown: unknown) => resolve(errorMessage(thrown)),
      )
      .finally(() => clearTimeout(timer))
  })
}

// The time, as a value that is handed in, so that pure rooms stay pure and tests can move it.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/**
 * The time as it was when the process began, plus what has passed since: it never jumps when somebody sets the machine's clock. For what is to
 * happen after a while; what tells the time of day to anybody uses the system's.
 */
export const steadyClock: Clock = { now: () => Math.floor(performance.timeOrigin + performance.now()) }

/** No timer of the platform is longer: one that is set for a longer time goes off at once. It is 24 days. */
const longestTimerMs = 2 ** 31 - 1

/** For what to set a timer: for every time that a flag, an object or a client says. */
export const timerMs = (ms: number): number => Math.min(ms, longestTimerMs)

/** Resolves when the work has ended, well or not, or when the time is up: what may never be done must not hold up a shutdown. */
export function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(resolve, timerMs(ms))
    const end = (): void => {
      clearTimeout(late)
      resolve()
    }
    work.then(end, end)
  })
}

/** What is wrong with something that is waited for: why it failed, or that it takes longer than that. */
export function problemWithin(timeoutMs: number, work: Promise<unknown>): Promise<string | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(`no answer within ${timeoutMs} ms`), timerMs(timeoutMs))
    work
      .then(
        () => resolve(undefined),
        (thrown: unknown) => resolve(thrown instanceof Error ? thrown.message : String(thrown)),
      )
      .finally(() => clearTimeout(timer))
  })
}

// The time, as a value that is handed in, so that pure rooms stay pure and tests can move it.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

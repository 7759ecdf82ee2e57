// Random numbers that a seed repeats, so that a failure of a random test can be looked at again.

export interface Random {
  readonly seed: number
  /** From 0 up to, not including, 1. */
  next(): number
  /** A whole number from 0 up to, not including, `limit`. */
  below(limit: number): number
  pick<T>(choices: readonly T[]): T
}

export const newSeed = (): number => Math.floor(Math.random() * 2 ** 31)

/** The seed of the environment variable, or a new one. */
export const seededRandom = (variable: string): Random => randomFrom(Number(process.env[variable] ?? newSeed()))

export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return { seed, next, below, pick: (choices) => choices[below(choices.length)] as (typeof choices)[number] }
}

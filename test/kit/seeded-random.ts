// Random numbers from a seed, so that a failed random test can be repeated.

export interface Random {
  readonly seed: number
  /** Number in [0, 1). */
  next(): number
  /** Integer in [0, limit). */
  below(limit: number): number
  pick<T>(choices: readonly T[]): T
}

export const newSeed = (): number => Math.floor(Math.random() * 2 ** 31)

/** Seed from the environment variable, or a new one. */
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

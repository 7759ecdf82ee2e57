// Counts the matches of a fault rule, and chooses those at which it fires: by number, by probability, up to a maximum.

import type { FaultChoice } from './fault-rule.js'

/** A chosen match, which fires when its fault takes effect. Only the first call of either method counts. */
export interface Firing {
  fire(): void
  /** The fault had no effect, such as for a watch that the client closed before. */
  release(): void
}

export class MatchCounter {
  readonly #choice: FaultChoice
  readonly #random: () => number
  /** Released matches of `nth`, each replaced by the next match. */
  #owed = 0
  /** Chosen matches that were not released. */
  #chosen = 0
  #matched = 0
  #fired = 0

  constructor(choice: FaultChoice) {
    this.#choice = choice
    this.#random = seededRandom(choice.seed)
  }

  get matched(): number {
    return this.#matched
  }

  get fired(): number {
    return this.#fired
  }

  /** Counts a match; undefined if the rule does not fire at it. */
  match(): Firing | undefined {
    const { nth, times, probability } = this.#choice
    this.#matched++
    // Every match draws a random number, so that a decision depends only on the seed and the number of the match.
    const isDrawn = probability === 1 || this.#random() < probability
    const isNth = nth === undefined || nth.has(this.#matched)
    if (!isDrawn || (!isNth && this.#owed === 0) || this.#chosen >= times) return undefined
    if (!isNth) this.#owed--
    this.#chosen++
    return this.#firing()
  }

  /** Counts a request with a token that the rule has expired: the rule fires again, whatever its choice. */
  fireAgain(): void {
    this.#matched++
    this.#fired++
  }

  #firing(): Firing {
    let isSettled = false
    const settle = (apply: () => void) => (): void => {
      if (isSettled) return
      isSettled = true
      apply()
    }
    return {
      fire: settle(() => {
        this.#fired++
      }),
      release: settle(() => {
        this.#chosen--
        if (this.#choice.nth !== undefined) this.#owed++
      }),
    }
  }
}

/** Numbers from 0 to 1, the same for the same seed: a Weyl sequence through a 32-bit mixing function. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    mixed ^= mixed >>> 15
    return (mixed >>> 0) / 2 ** 32
  }
}

// The rule of `npm run linear`: doubling the input takes at most 2.5 times as long. Evaluates the times of increasing sizes.

import type { TimedShape } from './measure.js'

/** Maximum average factor per doubling: the documented promise. */
const maxFactor = 2.5

/**
 * Single doublings may be a step: a full cache, or an object of V8 that becomes a dictionary.
 * So several doublings in a row must exceed a limit, fewer if the factor is larger.
 */
const windowLimits = [
  { inRow: 4, limit: maxFactor },
  { inRow: 2, limit: 3 },
  { inRow: 1, limit: 5 },
] as const

/** A shape passes at once if its factors are below the limits by this margin; otherwise it is measured again. */
const margin = 0.95
/** Maximum number of repeated measurements, and their total time: long samples are disturbed less. */
const maxRepeats = 6
const maxRepeatsMs = 10_000
/** Number of rounds with new inputs for a suspected violation; the median counts. */
const rounds = 7
/** Shorter times are noise and count as this. */
const minMs = 0.05

interface Violation {
  readonly from: TimedShape
  readonly to: TimedShape
  readonly factor: number
}

export interface Verdict {
  readonly times: readonly TimedShape[]
  /** Largest factor per doubling, averaged over four in a row (or all). */
  readonly worst: number
  readonly broken?: Violation
}

/** Measured sizes: the largest, its half, and so on. */
export function sizesUpTo(largest: number, first: number): readonly number[] {
  const sizes: number[] = []
  for (let bytes = largest; bytes >= first; bytes /= 2) sizes.unshift(Math.floor(bytes))
  return sizes
}

export function judge(sizes: readonly number[], make: (bytes: number) => TimedShape): Verdict {
  const times = sizes.map((bytes) => {
    const timed = make(bytes)
    timed.sample()
    return timed
  })
  let spentMs = 0
  for (let repeat = 0; repeat < maxRepeats && spentMs < maxRepeatsMs; repeat++) {
    // Sizes between the ends of a window do not change its average.
    const doubtful = new Set(windows(times).flatMap((window) => (isClear(window) ? [] : endsOf(window))))
    if (doubtful.size === 0) break
    for (const timed of doubtful) {
      timed.sample()
      spentMs += timed.ms
    }
  }
  const worst = worstOf(times)
  for (const { times: windowTimes, limit } of windows(times)) {
    const steps = stepsOf(windowTimes)
    if (!steps.every(({ factor }) => factor > limit)) continue
    if (steps.every((step) => medianExceeds(step, limit, make))) return { times, worst, broken: steps.at(-1) as Violation }
  }
  return { times, worst }
}

interface Window {
  readonly times: readonly TimedShape[]
  readonly limit: number
}

/** All windows of consecutive doublings that have a limit. */
const windows = (times: readonly TimedShape[]): readonly Window[] =>
  windowLimits.flatMap(({ inRow, limit }) =>
    times.slice(inRow).map((_, first) => ({ times: times.slice(first, first + inRow + 1), limit })),
  )

const factorOf = (from: TimedShape, to: TimedShape): number => to.ms / Math.max(from.ms, minMs)

const stepsOf = (times: readonly TimedShape[]): readonly Violation[] =>
  times.slice(1).map((to, index) => {
    const from = times[index] as TimedShape
    return { from, to, factor: factorOf(from, to) }
  })

/** Average factor, so that a disturbed size in the middle hides nothing. */
function meanFactor(times: readonly TimedShape[]): number {
  const [first, last] = [times[0] as TimedShape, times.at(-1) as TimedShape]
  return factorOf(first, last) ** (1 / (times.length - 1))
}

const endsOf = ({ times }: Window): readonly TimedShape[] => [times[0] as TimedShape, times.at(-1) as TimedShape]

const isClear = ({ times, limit }: Window): boolean => meanFactor(times) <= limit * margin

function worstOf(times: readonly TimedShape[]): number {
  const inRow = Math.min(windowLimits[0].inRow, times.length - 1)
  return Math.max(1, ...times.slice(inRow).map((_, first) => meanFactor(times.slice(first, first + inRow + 1))))
}

/** Measures both sizes alternately until the majority decides. */
function medianExceeds({ from, to }: Violation, limit: number, make: (bytes: number) => TimedShape): boolean {
  let exceed = 0
  for (let round = 0; round < rounds; round++) {
    const [small, large] = [make(from.bytes), make(to.bytes)]
    for (let i = 0; i < 2; i++) {
      small.sample()
      large.sample()
      small.sample()
    }
    if (factorOf(small, large) > limit) exceed++
    if (exceed > rounds / 2) return true
    if (round + 1 - exceed > rounds / 2) return false
  }
  return false
}

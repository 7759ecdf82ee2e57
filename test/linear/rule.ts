// The rule that twice the input takes at most two and a half times as long, and who breaks it: times of one size after the other are judged.

import type { Timed } from './measure.js'

/** By how much one doubling may grow on the average: it is what is promised. */
export const mostFactor = 2.5

/**
 * A few doublings alone are a step and no growth: a cache is full, or an object of the runtime becomes a table, with its thousandth member. So it
 * takes some in a row that all break the limit, and fewer where each is worse. One alone may be another way that is taken for long inputs, and
 * has to be looked at, too.
 */
const limits = [
  { inRow: 4, limit: mostFactor },
  { inRow: 2, limit: 3 },
  { inRow: 1, limit: 5 },
] as const

/** The first look is clear where even a twentieth more in each doubling would break no limit; otherwise it is looked at more closely. */
const margin = 0.95
/** So often what is not clear is measured again, and not again when that has taken so long: long samples are disturbed less. */
const looks = 6
const looksMs = 10_000
/** And what still seems to break the rule so often anew, with inputs of their own: the median counts, a machine is disturbed now and again. */
const rounds = 7
/** Times below this are noise: what takes longer than that is compared with this. */
const leastMs = 0.05

export interface Break {
  readonly from: Timed
  readonly to: Timed
  readonly factor: number
}

export interface Verdict {
  readonly times: readonly Timed[]
  /** The most by which a doubling grew, on the average of four in a row (of all, where there are fewer). */
  readonly worst: number
  readonly broken?: Break
}

/** The sizes that are measured: the largest, its half, and so on, down to the first. */
export function sizesUpTo(largest: number, first: number): readonly number[] {
  const sizes: number[] = []
  for (let bytes = largest; bytes >= first; bytes /= 2) sizes.unshift(Math.floor(bytes))
  return sizes
}

export function judge(sizes: readonly number[], make: (bytes: number) => Timed): Verdict {
  const times = sizes.map((bytes) => {
    const timed = make(bytes)
    timed.sample()
    return timed
  })
  let spentMs = 0
  for (let look = 0; look < looks && spentMs < looksMs; look++) {
    // What lies between the ends of some doublings does not change their average.
    const doubtful = new Set(windows(times).flatMap((window) => (isClear(window) ? [] : endsOf(window))))
    if (doubtful.size === 0) break
    for (const timed of doubtful) {
      timed.sample()
      spentMs += timed.ms
    }
  }
  const worst = worstOf(times)
  for (const { times: within, limit } of windows(times)) {
    const steps = stepsOf(within)
    if (!steps.every(({ factor }) => factor > limit)) continue
    if (steps.every((step) => medianExceeds(step, limit, make))) return { times, worst, broken: steps.at(-1) as Break }
  }
  return { times, worst }
}

interface Window {
  readonly times: readonly Timed[]
  readonly limit: number
}

/** What the limits are for: so many doublings in a row, wherever they begin. */
const windows = (times: readonly Timed[]): readonly Window[] =>
  limits.flatMap(({ inRow, limit }) => times.slice(inRow).map((_, first) => ({ times: times.slice(first, first + inRow + 1), limit })))

const factorOf = (from: Timed, to: Timed): number => to.ms / Math.max(from.ms, leastMs)

const stepsOf = (times: readonly Timed[]): readonly Break[] =>
  times.slice(1).map((to, index) => {
    const from = times[index] as Timed
    return { from, to, factor: factorOf(from, to) }
  })

/** On the average, so that what disturbs one size in the middle hides nothing. */
function meanFactor(times: readonly Timed[]): number {
  const [first, last] = [times[0] as Timed, times.at(-1) as Timed]
  return factorOf(first, last) ** (1 / (times.length - 1))
}

const endsOf = ({ times }: Window): readonly Timed[] => [times[0] as Timed, times.at(-1) as Timed]

const isClear = ({ times, limit }: Window): boolean => meanFactor(times) <= limit * margin

function worstOf(times: readonly Timed[]): number {
  const inRow = Math.min(limits[0].inRow, times.length - 1)
  return Math.max(1, ...times.slice(inRow).map((_, first) => meanFactor(times.slice(first, first + inRow + 1))))
}

/** What is measured side by side several times, until most of them agree. */
function medianExceeds({ from, to }: Break, limit: number, make: (bytes: number) => Timed): boolean {
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

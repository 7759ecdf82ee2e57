// Compares a server with its floor, a bare Node.js process that moves the same bytes: alternating rounds, because noise comes in waves.

import type { Cost } from './load.js'

export interface Rounds {
  readonly count: number
  readonly durationMs: number
}

/** One of the two processes that are compared. */
export interface Side {
  run(durationMs: number): Promise<Cost>
}

/** Medians of all rounds. */
export interface Comparison {
  /** CPU time per request, in microseconds. */
  readonly floor: number
  readonly server: number
  readonly ratio: number
  /** Requests per second of the server. */
  readonly perSecond: number
}

/** Warm-up: optimized compilation takes seconds of load, and a server has more code than its floor. */
const warmUpMs = 4000
/** On a busy machine the warm-up lasts until the process has used this much CPU time, at most `maxWarmUpMs`. */
const warmUpCpuMs = 2000
const maxWarmUpMs = 12_000

async function warmUp(side: Side): Promise<void> {
  const begunMs = performance.now()
  let cpuMs = 0
  for (let lastedMs = 0; lastedMs < warmUpMs || (cpuMs < warmUpCpuMs && lastedMs < maxWarmUpMs); lastedMs = performance.now() - begunMs) {
    const { requests, cpuMicrosecondsEach } = await side.run(1000)
    cpuMs += (requests * cpuMicrosecondsEach) / 1000
  }
}

export async function compare(floor: Side, server: Side, { count, durationMs }: Rounds): Promise<Comparison> {
  // Both sides are warmed up first: compiled, cached, with grown heaps.
  for (const side of [floor, server]) await warmUp(side)
  const costs: { readonly floor: Cost; readonly server: Cost }[] = []
  for (let round = 0; round < count; round++) {
    // The order alternates, because the first run affects the second.
    const floorFirst = round % 2 === 0 ? await floor.run(durationMs) : undefined
    const cost = await server.run(durationMs)
    costs.push({ floor: floorFirst ?? (await floor.run(durationMs)), server: cost })
  }
  const [floorCost, serverCost] = [
    median(costs.map(({ floor: cost }) => cost.cpuMicrosecondsEach)),
    median(costs.map(({ server: cost }) => cost.cpuMicrosecondsEach)),
  ]
  return {
    floor: floorCost,
    server: serverCost,
    // Ratio per pair: disturbances affect both rounds of a pair.
    ratio: median(
      costs.map(({ floor: floorRound, server: serverRound }) => serverRound.cpuMicrosecondsEach / floorRound.cpuMicrosecondsEach),
    ),
    perSecond: median(costs.map(({ server: cost }) => cost.perSecond)),
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

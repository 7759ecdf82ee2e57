// Measuring beside a floor: rounds of one and the other in turns, because machines are noisy and noise comes in waves.

import type { Cost } from './load.js'

export interface Rounds {
  readonly count: number
  readonly durationMs: number
}

export interface Side {
  run(durationMs: number): Promise<Cost>
}

export interface Comparison {
  readonly floor: number
  readonly server: number
  readonly ratio: number
  readonly perSecond: number
}

/** Code is compiled in stages, and a server has more of it than its floor: it takes seconds of load until it is as quick as it will be. */
const warmUpMs = 4000
/** On a machine with other work the seconds pass without load: then it takes as long as it takes to be given so much processor time. */
const warmUpCpuMs = 2000
const longestWarmUpMs = 12_000

async function warmUp(side: Side): Promise<void> {
  const begunMs = performance.now()
  let cpuMs = 0
  for (
    let lastedMs = 0;
    lastedMs < warmUpMs || (cpuMs < warmUpCpuMs && lastedMs < longestWarmUpMs);
    lastedMs = performance.now() - begunMs
  ) {
    const { requests, cpuMicrosecondsEach } = await side.run(1000)
    cpuMs += (requests * cpuMicrosecondsEach) / 1000
  }
}

export async function compare(floor: Side, server: Side, { count, durationMs }: Rounds): Promise<Comparison> {
  // Both sides are warm before anything counts: compiled, cached, and with their memory grown.
  for (const side of [floor, server]) await warmUp(side)
  const costs: { readonly floor: Cost; readonly server: Cost }[] = []
  for (let round = 0; round < count; round++) {
    // Whoever comes second meets what the first has left: each does so every other time.
    const early = round % 2 === 0 ? await floor.run(durationMs) : undefined
    const cost = await server.run(durationMs)
    costs.push({ floor: early ?? (await floor.run(durationMs)), server: cost })
  }
  const [floorCost, serverCost] = [
    median(costs.map(({ floor: cost }) => cost.cpuMicrosecondsEach)),
    median(costs.map(({ server: cost }) => cost.cpuMicrosecondsEach)),
  ]
  return {
    floor: floorCost,
    server: serverCost,
    // Of each pair by itself: what disturbs one round disturbs its neighbour, too.
    ratio: median(costs.map(({ floor: below, server: above }) => above.cpuMicrosecondsEach / below.cpuMicrosecondsEach)),
    perSecond: median(costs.map(({ server: cost }) => cost.perSecond)),
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

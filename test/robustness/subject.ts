// What a run is about: servers, and what can go wrong with them.

import type { Random } from '../kit/seeded-random.js'
import type { Replica } from './replica.js'

export interface Fault {
  readonly name: string
  /** Does it, waits, and undoes it. */
  readonly happen: (random: Random) => Promise<void>
}

export interface Subject {
  readonly name: string
  readonly replicas: readonly Replica[]
  /** Faults of one row do not happen at the same time; those of different rows may. */
  readonly faults: readonly (readonly Fault[])[]
  /** False: all of history is kept, and an answer of 410 is wrong. */
  readonly forgets: boolean
  /** What could not be tried here, and why. */
  readonly leftOut: readonly string[]
  /** Resolves when everything that is not a replica is well again. */
  readonly heal: () => Promise<void>
  readonly close: () => Promise<void>
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** What can happen to any server, whatever keeps its data. */
export function processFaults(replicas: readonly Replica[]): readonly Fault[] {
  return [
    { name: 'kill -9 of a server', happen: (random) => random.pick(replicas).crash(random.below(500)) },
    { name: 'kill -9 of a server', happen: (random) => random.pick(replicas).crash(random.below(100)) },
    { name: 'restart of a server', happen: (random) => random.pick(replicas).restart() },
    { name: 'SIGSTOP of a server', happen: (random) => random.pick(replicas).pause(100 + random.below(2500)) },
    {
      name: 'jump of the clock',
      happen: async (random) => {
        const replica = random.pick(replicas)
        replica.shiftClock(random.pick([-86_400_000, -60_000, -2_000, 2_000, 60_000, 86_400_000]))
        await pause(random.below(1500))
        replica.shiftClock(0)
      },
    },
  ]
}

// System under test: servers, and faults that can be injected.

import type { Random } from '../kit/seeded-random.js'
import type { Replica } from './replica.js'

export interface Fault {
  readonly name: string
  /** Injects the fault, waits, and heals it. */
  readonly inject: (random: Random) => Promise<void>
}

export interface Subject {
  readonly name: string
  readonly replicas: readonly Replica[]
  /** Faults of the same row never overlap; those of different rows may. */
  readonly faults: readonly (readonly Fault[])[]
  /** False: history is never compacted, and 410 is an error. */
  readonly compactsHistory: boolean
  /** Faults that cannot be injected here, and why. */
  readonly skippedFaults: readonly string[]
  /** Heals everything except replicas. */
  readonly heal: () => Promise<void>
  readonly close: () => Promise<void>
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** SIGKILL of a running server, and of one that is starting. */
export const killFaults = (replicas: readonly Replica[]): readonly Fault[] => [
  { name: 'kill -9 of a server', inject: (random) => random.pick(replicas).crash(random.below(500)) },
  { name: 'kill -9 of a server', inject: (random) => random.pick(replicas).crash(random.below(100)) },
  { name: 'kill -9 during a start', inject: (random) => random.pick(replicas).crash(0, random.below(700)) },
]

/** Faults of a server process, independent of the storage. */
export function processFaults(replicas: readonly Replica[]): readonly Fault[] {
  return [
    ...killFaults(replicas),
    { name: 'restart of a server', inject: (random) => random.pick(replicas).restart() },
    { name: 'SIGSTOP of a server', inject: (random) => random.pick(replicas).pause(100 + random.below(2500)) },
    {
      name: 'jump of the clock',
      inject: async (random) => {
        const replica = random.pick(replicas)
        replica.shiftClock(random.pick([-86_400_000, -60_000, -2_000, 2_000, 60_000, 86_400_000]))
        await pause(random.below(1500))
        replica.shiftClock(0)
      },
    },
  ]
}

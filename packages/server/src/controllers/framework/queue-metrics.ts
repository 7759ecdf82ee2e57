// What the queues of the loops have done, for metrics: counters outlive a queue, which ends with the leadership of its server.

import { getOrInsert } from '../../base/get-or-insert.js'

/** Upper bounds in seconds of the buckets of durations, as dashboards know them: each ten times the one before it, with all that floats make of that. */
export const durationBounds: readonly number[] = Array.from({ length: 9 }).reduce<number[]>(
  (bounds) => [...bounds, (bounds.at(-1) as number) * 10],
  [1e-8],
)

/** How many durations were at most as long as each bound; `counts` has one more, for those that were longer than all. */
export class Durations {
  readonly counts: number[] = Array.from({ length: durationBounds.length + 1 }, () => 0)
  sum = 0

  add(seconds: number): void {
    let bucket = 0
    while (bucket < durationBounds.length && seconds > (durationBounds[bucket] as number)) bucket += 1
    this.counts[bucket] = (this.counts[bucket] as number) + 1
    this.sum += seconds
  }
}

/** How a queue stands now. */
export interface QueueState {
  /** Keys that could be worked on. */
  readonly depth: number
  /** What the work that runs has taken so far, together and the longest of it. */
  readonly unfinishedSeconds: number
  readonly longestRunningSeconds: number
}

const idle: QueueState = { depth: 0, unfinishedSeconds: 0, longestRunningSeconds: 0 }

export class QueueCounters {
  readonly name: string
  adds = 0
  retries = 0
  /** From the moment at which a key could be worked on to the one at which it was. */
  readonly queued = new Durations()
  readonly worked = new Durations()
  /** Set while a queue of this name runs. */
  state: () => QueueState = () => idle

  constructor(name: string) {
    this.name = name
  }

  /** No queue of this name runs any more. */
  rest(): void {
    this.state = () => idle
  }
}

/** The counters of all loops of a server, by the names of the loops. */
export class LoopCounters {
  readonly #byName = new Map<string, QueueCounters>()

  of(name: string): QueueCounters {
    return getOrInsert(this.#byName, name, () => new QueueCounters(name))
  }

  all(): Iterable<QueueCounters> {
    return this.#byName.values()
  }
}

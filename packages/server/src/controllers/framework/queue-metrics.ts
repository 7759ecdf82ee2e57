// Metrics of the work queues. Counters outlive their queue, which is closed when the server loses the leadership.

import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'

/** Upper bounds of the buckets in seconds: the values of kube-apiserver, including their floating-point errors. */
export const durationBounds: readonly number[] = Array.from({ length: 9 }).reduce<number[]>(
  (bounds) => [...bounds, (bounds.at(-1) as number) * 10],
  [1e-8],
)

/** `counts` has one bucket per bound, and one for longer durations. */
class Durations {
  readonly counts: number[] = Array.from({ length: durationBounds.length + 1 }, () => 0)
  sum = 0

  add(seconds: number): void {
    let bucket = 0
    while (bucket < durationBounds.length && seconds > (durationBounds[bucket] as number)) bucket += 1
    this.counts[bucket] = (this.counts[bucket] as number) + 1
    this.sum += seconds
  }
}

export interface QueueState {
  readonly depth: number
  /** Time that running keys have taken so far: sum and maximum. */
  readonly unfinishedSeconds: number
  readonly longestRunningSeconds: number
}

const idle: QueueState = { depth: 0, unfinishedSeconds: 0, longestRunningSeconds: 0 }

export class QueueCounters {
  readonly name: string
  adds = 0
  retries = 0
  /** Time between `add` and the start of `work`. */
  readonly queued = new Durations()
  readonly worked = new Durations()
  state: () => QueueState = () => idle

  constructor(name: string) {
    this.name = name
  }

  setIdle(): void {
    this.state = () => idle
  }
}

export class ControllerCounters {
  readonly #byName = new Map<string, QueueCounters>()

  forQueue(name: string): QueueCounters {
    return getOrInsert(this.#byName, name, () => new QueueCounters(name))
  }

  all(): Iterable<QueueCounters> {
    return this.#byName.values()
  }
}

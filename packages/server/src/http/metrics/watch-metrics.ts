// Metrics of events sent to watchers, by kind. A stream looks its counter up once.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { Histogram } from '@cluster-apiserver/api/base/histogram.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import type { Family } from './prometheus-exposition.js'

/** Bytes, as in kube-apiserver. */
const sizeBounds: readonly number[] = Array.from({ length: 8 }, (_, i) => 1024 << i)
const kindLabels = ['group', 'kind', 'version'] as const

/** Later kinds are counted together: custom kinds may be created without end. */
const maxKinds = 2_000

class EventCounter {
  readonly labels: readonly string[]
  sizes = new Histogram(sizeBounds)
  count = 0
  constructor(labels: readonly string[]) {
    this.labels = labels
  }

  /** Events written together count with their mean size. */
  add(events: number, bytes: number): void {
    this.count += events
    this.sizes.add(bytes / events, events)
  }
}

export class WatchCounters {
  readonly #byKind = new Map<string, EventCounter>()

  of({ apiVersion, group, kind, version }: Resource): EventCounter {
    const key = `${apiVersion} ${kind}`
    if (this.#byKind.size < maxKinds || this.#byKind.has(key))
      return getOrInsert(this.#byKind, key, () => new EventCounter([group, kind, version]))
    return getOrInsert(this.#byKind, '', () => new EventCounter(['other', 'other', '']))
  }

  /** Keeps the counters, because open streams hold them. */
  reset(): void {
    for (const counter of this.#byKind.values()) {
      counter.count = 0
      counter.sizes = new Histogram(sizeBounds)
    }
  }

  families(): readonly Family[] {
    return [
      {
        name: 'apiserver_watch_events_total',
        type: 'counter',
        help: 'Events sent to watchers.',
        labels: kindLabels,
        rows: Array.from(this.#byKind.values(), (counter) => ({ labels: counter.labels, value: counter.count })),
      },
      {
        name: 'apiserver_watch_events_sizes',
        type: 'histogram',
        help: 'Sizes of events sent to watchers in bytes.',
        labels: kindLabels,
        rows: Array.from(this.#byKind.values(), (counter) => ({ labels: counter.labels, value: counter.sizes })),
      },
    ]
  }
}

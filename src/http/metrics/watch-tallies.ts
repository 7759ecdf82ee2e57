// What watchers were sent: events and their sizes, by kind. A stream looks its record up once.

import type { Resource } from '../../api/catalog.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { Histogram } from '../../base/histogram.js'
import type { Family } from './exposition.js'

/** In bytes, as in the reference. */
const sizeBounds: readonly number[] = Array.from({ length: 8 }, (_, i) => 1024 << i)
const labels = ['group', 'kind', 'version'] as const

/** Kinds that are defined and removed again leave their records behind: beyond these, what is new is counted together. */
const mostKinds = 2_000

export class EventTally {
  readonly labels: readonly string[]
  sizes = new Histogram(sizeBounds)
  count = 0
  constructor(of: readonly string[]) {
    this.labels = of
  }

  /** Events that were written together count with their mean size. */
  add(events: number, bytes: number): void {
    this.count += events
    this.sizes.add(bytes / events, events)
  }
}

export class WatchTallies {
  readonly #byKind = new Map<string, EventTally>()

  of({ apiVersion, group, kind, version }: Resource): EventTally {
    const key = `${apiVersion} ${kind}`
    if (this.#byKind.size < mostKinds || this.#byKind.has(key))
      return getOrInsert(this.#byKind, key, () => new EventTally([group, kind, version]))
    return getOrInsert(this.#byKind, '', () => new EventTally(['other', 'other', '']))
  }

  /** Open streams keep their records. */
  reset(): void {
    for (const tally of this.#byKind.values()) {
      tally.count = 0
      tally.sizes = new Histogram(sizeBounds)
    }
  }

  families(): readonly Family[] {
    return [
      {
        name: 'apiserver_watch_events_total',
        type: 'counter',
        help: 'Events that were sent to watchers.',
        labels,
        rows: Array.from(this.#byKind.values(), (tally) => ({ labels: tally.labels, value: tally.count })),
      },
      {
        name: 'apiserver_watch_events_sizes',
        type: 'histogram',
        help: 'Bytes of the events that were sent to watchers.',
        labels,
        rows: Array.from(this.#byKind.values(), (tally) => ({ labels: tally.labels, value: tally.sizes })),
      },
    ]
  }
}

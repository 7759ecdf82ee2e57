// Metrics of API aggregation: how often APIServices became unavailable, and regenerations of the OpenAPI document.

import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'

export class AggregationCounters {
  private readonly unavailable = new Map<string, Map<string, number>>()
  private readonly regenerated = new Map<string, Map<string, number>>()

  countUnavailable(name: string, reason: string): void {
    count(this.unavailable, name, reason)
  }

  readonly regenerationSeconds = new Map<string, number>()

  countRegeneration(name: string, reason: 'add' | 'update' | 'delete', seconds: number): void {
    this.regenerationSeconds.set(reason, seconds)
    count(this.regenerated, name, reason)
  }

  /** By APIService and reason; deleted APIServices are dropped. */
  timesUnavailable(exists: (name: string) => boolean): Iterable<CounterRow> {
    return rowsOf(this.unavailable, exists)
  }

  /** Regenerations of the aggregated OpenAPI document, by APIService and reason. */
  regenerations(exists: (name: string) => boolean): Iterable<CounterRow> {
    return rowsOf(this.regenerated, exists)
  }
}

type CounterRow = readonly [name: string, reason: string, count: number]

/** Deleted APIServices are dropped when metrics are read. Without readers the oldest are dropped. */
const maxServices = 2_000

function count(counts: Map<string, Map<string, number>>, name: string, reason: string): void {
  const reasons = getOrInsert(counts, name, () => new Map<string, number>())
  reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  const [oldest] = counts.keys()
  if (counts.size > maxServices && oldest !== undefined) counts.delete(oldest)
}

function* rowsOf(counts: Map<string, Map<string, number>>, exists: (name: string) => boolean): Iterable<CounterRow> {
  for (const [name, reasons] of counts) {
    if (!exists(name)) counts.delete(name)
    else for (const [reason, count] of reasons) yield [name, reason, count]
  }
}

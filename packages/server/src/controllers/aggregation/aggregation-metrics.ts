// What has become of API services, for metrics.

import { getOrInsert } from '../../base/get-or-insert.js'

/** Of an API service that is gone nothing is kept. */
export class AggregationTallies {
  private readonly unavailable = new Map<string, Map<string, number>>()
  private readonly regenerated = new Map<string, Map<string, number>>()

  /** One that was available is so no longer. */
  countUnavailable(name: string, reason: string): void {
    count(this.unavailable, name, reason)
  }

  /** How long the last change of what is published took, by its reason. */
  readonly regenerationSeconds = new Map<string, number>()

  /** What is published of its types has changed. */
  countRegeneration(name: string, reason: 'add' | 'update' | 'delete', seconds: number): void {
    this.regenerationSeconds.set(reason, seconds)
    count(this.regenerated, name, reason)
  }

  /** By API service and reason, of those that are still there. */
  timesUnavailable(isThere: (name: string) => boolean): Iterable<Counted> {
    return rowsOf(this.unavailable, isThere)
  }

  regenerations(isThere: (name: string) => boolean): Iterable<Counted> {
    return rowsOf(this.regenerated, isThere)
  }
}

export type Counted = readonly [name: string, reason: string, count: number]

/** Those that are gone are found when somebody reads; where nobody does, the oldest go. */
const mostServices = 2_000

function count(counts: Map<string, Map<string, number>>, name: string, reason: string): void {
  const reasons = getOrInsert(counts, name, () => new Map<string, number>())
  reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  const [oldest] = counts.keys()
  if (counts.size > mostServices && oldest !== undefined) counts.delete(oldest)
}

function* rowsOf(counts: Map<string, Map<string, number>>, isThere: (name: string) => boolean): Iterable<Counted> {
  for (const [name, reasons] of counts) {
    if (!isThere(name)) counts.delete(name)
    else for (const [reason, count] of reasons) yield [name, reason, count]
  }
}

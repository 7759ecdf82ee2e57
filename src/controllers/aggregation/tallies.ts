// What has become of API services, for metrics.

/** Of an API service that is gone nothing is kept. */
export class AggregationTallies {
  private readonly unavailable = new Map<string, Map<string, number>>()
  private readonly regenerated = new Map<string, Map<string, number>>()

  /** One that was available is so no longer. */
  countUnavailable(name: string, reason: string): void {
    const reasons = this.unavailable.get(name) ?? new Map<string, number>()
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    this.unavailable.set(name, reasons)
  }

  /** How long the last change of what is published took, by its reason. */
  readonly regenerationSeconds = new Map<string, number>()

  /** What is published of its types has changed. */
  countRegeneration(name: string, reason: 'add' | 'update' | 'delete', seconds: number): void {
    this.regenerationSeconds.set(reason, seconds)
    const reasons = this.regenerated.get(name) ?? new Map<string, number>()
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    this.regenerated.set(name, reasons)
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

function* rowsOf(counts: Map<string, Map<string, number>>, isThere: (name: string) => boolean): Iterable<Counted> {
  for (const [name, reasons] of counts) {
    if (!isThere(name)) counts.delete(name)
    else for (const [reason, count] of reasons) yield [name, reason, count]
  }
}

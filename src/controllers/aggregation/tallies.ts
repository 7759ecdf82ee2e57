// What has become of API services, for metrics.

/** Of an API service that is gone nothing is kept. */
export class AggregationTallies {
  private readonly unavailable = new Map<string, Map<string, number>>()

  /** One that was available is so no longer. */
  countUnavailable(name: string, reason: string): void {
    const reasons = this.unavailable.get(name) ?? new Map<string, number>()
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    this.unavailable.set(name, reasons)
  }

  /** By API service and reason, of those that are still there. */
  *timesUnavailable(isThere: (name: string) => boolean): Iterable<readonly [name: string, reason: string, count: number]> {
    for (const [name, reasons] of this.unavailable) {
      if (!isThere(name)) this.unavailable.delete(name)
      else for (const [reason, count] of reasons) yield [name, reason, count]
    }
  }
}

// Histogram of a metric: counts per bucket, sum and number of changes.

export class Histogram {
  readonly bounds: readonly number[]
  /** One count per bound, and a last one for +Inf. Not cumulative. */
  readonly counts: number[]
  sum = 0
  /** Number of modifications: caches of the rendered text compare it. */
  changes = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  add(value: number, times = 1): void {
    const { bounds, counts } = this
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++
    counts[bucket] = (counts[bucket] as number) + times
    this.sum += value * times
    this.changes++
  }

  addAll({ counts, sum }: Pick<Histogram, 'counts' | 'sum'>): void {
    counts.forEach((count, i) => {
      this.counts[i] = (this.counts[i] as number) + count
    })
    this.sum += sum
    this.changes++
  }
}

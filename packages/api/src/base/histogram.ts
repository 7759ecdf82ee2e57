// How many values were at most as large as each of some bounds: what a distribution costs when it is only ever added to.

export class Histogram {
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[]
  /** Values in each bucket; one more than bounds, for those that were larger than all. */
  readonly counts: number[]
  sum = 0
  /** How often it was added to: whoever keeps something that was made of it knows by this whether it is still true. */
  changes = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  /** Several of the same size may be added at once. */
  add(value: number, times = 1): void {
    const { bounds, counts } = this
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++
    counts[bucket] = (counts[bucket] as number) + times
    this.sum += value * times
    this.changes++
  }

  /** What another one with the same bounds has. */
  addAll({ counts, sum }: Pick<Histogram, 'counts' | 'sum'>): void {
    counts.forEach((count, i) => {
      this.counts[i] = (this.counts[i] as number) + count
    })
    this.sum += sum
    this.changes++
  }
}

// Whether a measure stays flat: a straight line through what was measured after the warm-up, and how far it rises.

export interface Point {
  readonly atMs: number
  readonly value: number
}

export interface Trend {
  readonly mean: number
  /** How much the line rises from the first to the last point. */
  readonly rise: number
  /** The same for an hour. */
  readonly risePerHour: number
}

/** Memory goes up and down with every collection of garbage; what counts is what is left after it: the least of each window. */
export function floorsOf(points: readonly Point[], window: number): readonly Point[] {
  const floors: Point[] = []
  for (let start = 0; start + window <= points.length; start += window) {
    const part = points.slice(start, start + window)
    floors.push(part.reduce((least, point) => (point.value < least.value ? point : least)))
  }
  return floors
}

/** By least squares. */
export function trendOf(points: readonly Point[]): Trend {
  const count = points.length
  const mean = points.reduce((sum, { value }) => sum + value, 0) / Math.max(count, 1)
  if (count < 2) return { mean, rise: 0, risePerHour: 0 }
  const middle = points.reduce((sum, { atMs }) => sum + atMs, 0) / count
  const spread = points.reduce((sum, { atMs }) => sum + (atMs - middle) ** 2, 0)
  const slope = spread === 0 ? 0 : points.reduce((sum, { atMs, value }) => sum + (atMs - middle) * (value - mean), 0) / spread
  const span = (points.at(-1)?.atMs ?? 0) - (points[0]?.atMs ?? 0)
  return { mean, rise: slope * span, risePerHour: slope * 3_600_000 }
}

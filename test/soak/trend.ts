// Linear trend of measured values over time.

export interface Point {
  readonly atMs: number
  readonly value: number
}

export interface Trend {
  readonly mean: number
  /** Growth from the first to the last point. */
  readonly rise: number
  /** Growth per hour. */
  readonly risePerHour: number
}

/** Garbage collection makes memory oscillate, so the minimum of each window counts. */
export function minimaOf(points: readonly Point[], window: number): readonly Point[] {
  const minima: Point[] = []
  for (let start = 0; start + window <= points.length; start += window) {
    const part = points.slice(start, start + window)
    minima.push(part.reduce((least, point) => (point.value < least.value ? point : least)))
  }
  return minima
}

/** Fits a line by least squares. */
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

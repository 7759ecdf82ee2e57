// The figures of the server's page, each with a small plot of its last values.

import type { GaugeHistory } from './gauge-history.js'

export const Gauges = ({ series }: Pick<GaugeHistory, 'series'>) => (
  <div class="plots">
    {series
      .filter(({ gauge, points }) => points.length > 0 || gauge.isRate === true)
      .map(({ gauge: { title, text }, points }) => (
        <div class="plot" key={title}>
          <span>{title}</span>
          <output>{points.length === 0 ? '…' : text(points.at(-1) as number)}</output>
          <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
            <polyline points={polyline(points)} />
          </svg>
        </div>
      ))}
  </div>
)

const width = 200
const height = 40
/** The first values fill the plot from the right; then it holds all of them. */
const minSteps = 20

function polyline(points: readonly number[]): string {
  const top = Math.max(...points, 0)
  const bottom = Math.min(...points, top)
  const span = top - bottom
  const y = (point: number): number => (span === 0 ? height / 2 : height - 2 - ((point - bottom) / span) * (height - 4))
  const steps = Math.max(points.length - 1, minSteps)
  const x = (i: number): number => width - ((points.length - 1 - i) * width) / steps
  return points.map((point, i) => `${x(i).toFixed(1)},${y(point).toFixed(1)}`).join(' ')
}

// The figures of the server's page, each with a small plot of its last values.

import { bytesText, countText } from '../ui/format.js'
import { type Metrics, type Sample, sumOf } from './metrics-text.js'

interface Gauge {
  readonly title: string
  /** The value is a counter, shown per second. */
  readonly isRate?: boolean
  readonly text: (value: number) => string
  /** Undefined if the server does not measure it; the gauge is not shown then. */
  readonly read: (metrics: Metrics) => number | undefined
}

const whole = (value: number): string => countText(Math.round(value))
const tenths = (value: number): string => value.toFixed(1)
/** Each endpoint of etcd has a copy of the store. */
const largestOf = (samples: readonly Sample[] = []): number | undefined =>
  samples.length === 0 ? undefined : Math.max(...samples.map(({ value }) => value))
const isWatch = ({ verb }: Sample['labels']): boolean => verb === 'WATCH'

const gauges: readonly Gauge[] = [
  { title: 'Requests per second', isRate: true, text: tenths, read: (m) => sumOf(m.get('apiserver_request_total')) },
  { title: 'Requests in flight', text: whole, read: (m) => sumOf(m.get('apiserver_current_inflight_requests')) },
  { title: 'Open watches', text: whole, read: (m) => sumOf(m.get('apiserver_longrunning_requests'), isWatch) },
  { title: 'Events per second', isRate: true, text: tenths, read: (m) => sumOf(m.get('apiserver_watch_events_total')) },
  { title: 'Waiting in queues', text: whole, read: (m) => sumOf(m.get('apiserver_flowcontrol_current_inqueue_requests')) },
  { title: 'Objects in the store', text: whole, read: (m) => sumOf(m.get('apiserver_storage_objects')) },
  { title: 'Store size', text: bytesText, read: (m) => largestOf(m.get('apiserver_storage_db_total_size_in_bytes')) },
  { title: 'Revision', text: whole, read: (m) => sumOf(m.get('apiserver_storage_revision')) },
  { title: 'Memory', text: bytesText, read: (m) => sumOf(m.get('process_resident_memory_bytes')) },
  {
    title: 'Processor',
    isRate: true,
    text: (value) => `${(100 * value).toFixed(0)} %`,
    read: (m) => sumOf(m.get('process_cpu_seconds_total')),
  },
  {
    title: 'Event loop lag',
    text: (value) => `${(1000 * value).toFixed(1)} ms`,
    read: (m) => sumOf(m.get('nodejs_eventloop_lag_seconds')),
  },
]

export const gaugeMetrics = [
  'apiserver_request_total',
  'apiserver_current_inflight_requests',
  'apiserver_longrunning_requests',
  'apiserver_watch_events_total',
  'apiserver_storage_objects',
  'apiserver_storage_db_total_size_in_bytes',
  'apiserver_storage_revision',
  'process_resident_memory_bytes',
  'process_cpu_seconds_total',
  'nodejs_eventloop_lag_seconds',
]

const maxPoints = 100

/** The last values of each gauge. */
export class GaugeHistory {
  readonly series = gauges.map((gauge) => ({ gauge, points: [] as number[] }))
  private last: { readonly values: readonly (number | undefined)[]; readonly atMs: number } | undefined

  add(metrics: Metrics, atMs: number): void {
    const { last } = this
    const values = gauges.map(({ read }) => read(metrics))
    for (const [i, { gauge, points }] of this.series.entries()) {
      const value = values[i]
      const before = last?.values[i]
      if (value === undefined) continue
      if (gauge.isRate !== true) points.push(value)
      // A counter that became smaller: the server restarted.
      else if (last !== undefined && before !== undefined && value >= before) points.push((1000 * (value - before)) / (atMs - last.atMs))
      if (points.length > maxPoints) points.shift()
    }
    this.last = { values, atMs }
  }
}

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

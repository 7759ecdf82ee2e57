// The figures of the server's page, read from its metrics, and the last values of each.

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

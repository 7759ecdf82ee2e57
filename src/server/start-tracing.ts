// Spans of requests, where the operator wants them: the exporter, the hooks that feed it, and what is counted of both.

import { hostname } from 'node:os'
import type { RequestHooks } from '../http/lifecycle.js'
import type { MetricSource } from '../http/metrics/server-metrics.js'
import type { Opening } from './opening.js'

export interface StartedTracing {
  readonly hooks: readonly RequestHooks[]
  readonly sources: readonly MetricSource[]
}

const none: StartedTracing = { hooks: [], sources: [] }

/** Nothing is loaded, and nothing is on the way of a request, where there is no configuration. */
export async function startTracing({ settings, logger, closing }: Opening): Promise<StartedTracing> {
  if (settings.tracing === undefined) return none
  const [{ SpanExporter }, { tracingHooks }] = await Promise.all([import('../net/span-exporter.js'), import('../http/tracing.js')])
  const { url, samplingRatePerMillion } = settings.tracing
  const exporter = new SpanExporter({ url, logger, resource: { 'service.name': 'apiserver', 'service.instance.id': hostname() } })
  closing.add(() => exporter.close())
  const counted: MetricSource = () => [
    {
      name: 'apiserver_trace_spans_total',
      type: 'counter',
      help: 'Spans of requests that the collector of traces took, and those that were dropped.',
      labels: ['result'],
      rows: [
        { labels: ['dropped'], value: exporter.dropped },
        { labels: ['sent'], value: exporter.sent },
      ],
    },
  ]
  return { hooks: [tracingHooks({ exporter, samplingRatePerMillion })], sources: [counted] }
}

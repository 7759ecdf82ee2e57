// The server: readiness checks, load, watches, flow control with its queues, store, memory, in small live plots from /metrics.

import { useRef } from 'preact/hooks'
import { useSession } from '../session/session-context.js'
import { ErrorPanel } from '../shell/error-panel.js'
import { countText } from '../ui/format.js'
import { useLoaded, usePolled } from '../ui/hooks.js'
import { PlainTable } from '../ui/plain-table.js'
import { GaugeHistory, gaugeMetrics } from './gauge-history.js'
import { Gauges } from './gauges.js'
import { type Metrics, readMetrics, sumOf } from './metrics-text.js'

const levelMetrics = {
  executing: 'apiserver_flowcontrol_current_executing_requests',
  waiting: 'apiserver_flowcontrol_current_inqueue_requests',
  inUse: 'apiserver_flowcontrol_request_concurrency_in_use',
  limit: 'apiserver_flowcontrol_request_concurrency_limit',
  rejected: 'apiserver_flowcontrol_rejected_requests_total',
} as const

const wanted = new Set([...gaugeMetrics, ...Object.values(levelMetrics)])

const maxLevels = 100
const maxStored = 30

export function ServerPage() {
  const { client } = useSession()
  const history = useRef(new GaugeHistory())
  const version = useLoaded((signal) => client.version({ signal }), [])
  const checks = usePolled((signal) => client.text({ path: '/readyz', query: { verbose: 'true' }, signal, timeoutMs: 10_000 }))
  const metrics = usePolled(async (signal) => {
    const read = readMetrics(await client.text({ path: '/metrics', signal, timeoutMs: 20_000 }), wanted)
    history.current.add(read, performance.now())
    return read
  })
  return (
    <>
      <header class="page-head">
        <h1>
          Server<small>{version.value?.gitVersion}</small>
        </h1>
      </header>
      <section>
        {checks.error !== undefined && <ErrorPanel error={checks.error} title="Not ready" />}
        {checks.value !== undefined && <Checks text={checks.value} />}
      </section>
      {metrics.error !== undefined && <ErrorPanel error={metrics.error} title="The metrics cannot be read" />}
      <Gauges series={history.current.series} />
      {metrics.value && <Levels metrics={metrics.value} />}
      {metrics.value && <Stored metrics={metrics.value} />}
    </>
  )
}

function Checks({ text }: { readonly text: string }) {
  const lines = text.split('\n').filter((line) => /^\[[+-]\]/.test(line))
  const failed = lines.filter((line) => line.startsWith('[-]'))
  const isReady = failed.length === 0
  return (
    <>
      <p class={`verdict ${isReady ? 'allowed' : 'denied'}`}>
        <strong>{isReady ? 'Ready' : 'Not ready'}</strong> {lines.length - failed.length} of {lines.length} checks succeed
      </p>
      {failed.map((line) => (
        <p key={line}>{line.slice(3)}</p>
      ))}
      <details>
        <summary>All checks</summary>
        <ul class="checks">
          {lines.map((line) => (
            <li key={line}>{line.slice(3)}</li>
          ))}
        </ul>
      </details>
    </>
  )
}

function Levels({ metrics }: { readonly metrics: Metrics }) {
  const names = [...new Set((metrics.get(levelMetrics.limit) ?? []).map(({ labels }) => labels['priority_level'] ?? ''))]
  if (names.length === 0) return null
  return (
    <section>
      <h2>Flow control</h2>
      <PlainTable titles={['Priority level', 'In use', 'Seats', 'Executing', 'Waiting', 'Refused']}>
        {names.slice(0, maxLevels).map((name) => {
          const sum = (metric: string): number => sumOf(metrics.get(metric), (labels) => labels['priority_level'] === name)
          const [inUse, limit] = [sum(levelMetrics.inUse), sum(levelMetrics.limit)]
          return (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <meter min={0} max={Math.max(limit, 1)} value={inUse} aria-label={`Seats of ${name} in use`} />
              </td>
              <td>
                {inUse} of {limit}
              </td>
              <td>{sum(levelMetrics.executing)}</td>
              <td>{sum(levelMetrics.waiting)}</td>
              <td>{sum(levelMetrics.rejected)}</td>
            </tr>
          )
        })}
      </PlainTable>
    </section>
  )
}

function Stored({ metrics }: { readonly metrics: Metrics }) {
  const samples = [...(metrics.get('apiserver_storage_objects') ?? [])].filter(({ value }) => value > 0).sort((a, b) => b.value - a.value)
  return (
    <section>
      <h2>Objects in the store</h2>
      <PlainTable titles={['Resource', 'Objects']}>
        {samples.slice(0, maxStored).map(({ labels, value }) => (
          <tr key={labels['resource']}>
            <th scope="row">{labels['resource']}</th>
            <td>{countText(value)}</td>
          </tr>
        ))}
      </PlainTable>
    </section>
  )
}

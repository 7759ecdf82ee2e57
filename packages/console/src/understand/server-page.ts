// The server: readiness checks, load, watches, flow control with its queues, store, memory, in small live plots from /metrics.

import { isClientError } from '@cluster-apiserver/client/browser.js'
import { element, replaceChildren } from '../dom/element.js'
import { plainTable } from '../object/overview.js'
import { errorPanel } from '../shell/legacy.js'
import type { PageContext } from '../shell/page-context.js'
import { bytesText, countText } from '../ui/format.js'
import { readMetrics, type Sample, sumOf } from './metrics-text.js'
import { Plot } from './plot.js'

const pollMs = 3000
const slowestPollMs = 30_000

type Metrics = ReturnType<typeof readMetrics>

interface Gauge {
  readonly title: string
  /** `rate`: the value is a counter, shown per second. */
  readonly isRate?: boolean
  readonly text: (value: number) => string
  readonly read: (metrics: Metrics) => number
}

const whole = (value: number): string => countText(Math.round(value))
const isWatch = ({ verb }: Sample['labels']): boolean => verb === 'WATCH'

const gauges: readonly Gauge[] = [
  { title: 'Requests per second', isRate: true, text: (value) => value.toFixed(1), read: (m) => sumOf(m.get('apiserver_request_total')) },
  { title: 'Requests in flight', text: whole, read: (m) => sumOf(m.get('apiserver_current_inflight_requests')) },
  { title: 'Open watches', text: whole, read: (m) => sumOf(m.get('apiserver_longrunning_requests'), isWatch) },
  {
    title: 'Events per second',
    isRate: true,
    text: (value) => value.toFixed(1),
    read: (m) => sumOf(m.get('apiserver_watch_events_total')),
  },
  { title: 'Waiting in queues', text: whole, read: (m) => sumOf(m.get('apiserver_flowcontrol_current_inqueue_requests')) },
  { title: 'Objects in the store', text: whole, read: (m) => sumOf(m.get('apiserver_storage_objects')) },
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

const levelMetrics = {
  executing: 'apiserver_flowcontrol_current_executing_requests',
  waiting: 'apiserver_flowcontrol_current_inqueue_requests',
  inUse: 'apiserver_flowcontrol_request_concurrency_in_use',
  limit: 'apiserver_flowcontrol_request_concurrency_limit',
  rejected: 'apiserver_flowcontrol_rejected_requests_total',
} as const

const wanted = new Set([
  'apiserver_request_total',
  'apiserver_current_inflight_requests',
  'apiserver_longrunning_requests',
  'apiserver_watch_events_total',
  'apiserver_storage_objects',
  'apiserver_storage_revision',
  'process_resident_memory_bytes',
  'process_cpu_seconds_total',
  'nodejs_eventloop_lag_seconds',
  ...Object.values(levelMetrics),
])

const maxLevels = 100
const maxStored = 30

export function showServer(host: HTMLElement, { session, signal }: PageContext): void {
  const version = element('small')
  const [checks, problem, levels, stored] = [element('section'), element('div'), element('section'), element('section')]
  const plots = gauges.map((gauge) => ({
    gauge,
    plot: new Plot(gauge.title, gauge.text),
    last: undefined as { readonly value: number; readonly atMs: number } | undefined,
  }))
  replaceChildren(
    host,
    element('header', { class: 'page-head' }, element('h1', {}, 'Server', version)),
    checks,
    problem,
    element('div', { class: 'plots' }, ...plots.map(({ plot }) => plot.root)),
    levels,
    stored,
  )
  void session.client.version({ signal }).then(
    ({ gitVersion }) => replaceChildren(version, gitVersion),
    () => undefined,
  )
  void poll()

  async function poll(): Promise<void> {
    let waitMs = pollMs
    while (!signal.aborted) {
      if (document.visibilityState === 'visible') {
        const beganMs = performance.now()
        await Promise.all([drawChecks(), drawMetrics()])
        // Metrics of a large server take long: they get at most a tenth of its time.
        waitMs = Math.min(Math.max(pollMs, 10 * (performance.now() - beganMs)), slowestPollMs)
      }
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }

  async function drawChecks(): Promise<void> {
    try {
      showChecks(await session.client.text({ path: '/readyz', query: { verbose: 'true' }, signal, timeoutMs: 10_000 }))
    } catch (thrown) {
      if (!signal.aborted) replaceChildren(checks, errorPanel(thrown, 'Not ready'))
    }
  }

  function showChecks(text: string): void {
    const lines = text.split('\n').filter((line) => /^\[[+-]\]/.test(line))
    const failed = lines.filter((line) => line.startsWith('[-]'))
    replaceChildren(
      checks,
      element(
        'p',
        { class: `verdict ${failed.length === 0 ? 'allowed' : 'denied'}` },
        element('strong', {}, failed.length === 0 ? 'Ready' : 'Not ready'),
        ` ${lines.length - failed.length} of ${lines.length} checks succeed`,
      ),
      ...failed.map((line) => element('p', {}, line.slice(3))),
      element(
        'details',
        {},
        element('summary', {}, 'All checks'),
        element('ul', { class: 'checks' }, ...lines.map((line) => element('li', {}, line.slice(3)))),
      ),
    )
  }

  async function drawMetrics(): Promise<void> {
    try {
      const metrics = readMetrics(await session.client.text({ path: '/metrics', signal, timeoutMs: 20_000 }), wanted)
      if (signal.aborted) return
      replaceChildren(problem)
      const atMs = performance.now()
      for (const entry of plots) {
        const value = entry.gauge.read(metrics)
        const { last } = entry
        entry.last = { value, atMs }
        if (entry.gauge.isRate !== true) entry.plot.add(value)
        // A counter that became smaller: the server restarted.
        else if (last !== undefined && value >= last.value) entry.plot.add((1000 * (value - last.value)) / (atMs - last.atMs))
      }
      drawLevels(metrics)
      drawStored(metrics)
    } catch (thrown) {
      // Leaving the page rejects with the reason of the abort, which is no ClientError.
      if (signal.aborted) return
      if (!isClientError(thrown)) throw thrown
      replaceChildren(problem, errorPanel(thrown, 'The metrics cannot be read'))
    }
  }

  function drawLevels(metrics: Metrics): void {
    const names = [...new Set((metrics.get(levelMetrics.limit) ?? []).map(({ labels }) => labels['priority_level'] ?? ''))].slice(
      0,
      maxLevels,
    )
    if (names.length === 0) return
    const rows = names.map((name) => {
      const sum = (metric: string): number => sumOf(metrics.get(metric), (labels) => labels['priority_level'] === name)
      const [inUse, limit] = [sum(levelMetrics.inUse), sum(levelMetrics.limit)]
      const cells = [`${inUse} of ${limit}`, sum(levelMetrics.executing), sum(levelMetrics.waiting), sum(levelMetrics.rejected)]
      const bar = element('meter', { min: 0, max: Math.max(limit, 1), value: inUse, 'aria-label': `Seats of ${name} in use` })
      return element(
        'tr',
        {},
        element('th', { scope: 'row' }, name),
        element('td', {}, bar),
        ...cells.map((cell) => element('td', {}, cell)),
      )
    })
    replaceChildren(
      levels,
      element('h2', {}, 'Flow control'),
      plainTable(['Priority level', 'In use', 'Seats', 'Executing', 'Waiting', 'Refused'], rows),
    )
  }

  function drawStored(metrics: Metrics): void {
    const samples = [...(metrics.get('apiserver_storage_objects') ?? [])].filter(({ value }) => value > 0).sort((a, b) => b.value - a.value)
    const rows = samples
      .slice(0, maxStored)
      .map(({ labels, value }) =>
        element('tr', {}, element('th', { scope: 'row' }, labels['resource']), element('td', {}, countText(value))),
      )
    replaceChildren(stored, element('h2', {}, 'Objects in the store'), plainTable(['Resource', 'Objects'], rows))
  }
}

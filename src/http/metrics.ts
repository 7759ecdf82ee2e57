// The numbers on `/metrics`, under the names by which dashboards know them. Requests only add to a tally; the library that
// writes the text is loaded when somebody asks for it.

import type { Registry } from 'prom-client'
import type { RequestHooks } from './lifecycle.js'
import { requestLabels } from './request-labels.js'

export interface RequestLabels {
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly scope: string
  readonly code: string
}

/** What other rooms let us read when somebody asks. */
export interface MetricSources {
  readonly storeRevision: () => number
  readonly cacheBytes: () => number
  readonly watchers: () => number
  readonly inflight: () => { readonly readOnly: number; readonly mutating: number }
  readonly loopLagSeconds: () => number
}

type DeprecatedLabels = Pick<RequestLabels, 'group' | 'version' | 'resource' | 'subresource'> & { readonly removed_release: string }

interface Tally {
  readonly labels: RequestLabels
  count: number
  /** How long the answers took, in seconds. */
  durations: number[]
}

const mostDurations = 10_000

export class ServerMetrics {
  private readonly sources: MetricSources
  private tallies = new Map<string, Tally>()
  private readonly deprecated = new Map<string, DeprecatedLabels>()
  private instruments: Promise<Instruments> | undefined

  constructor(sources: MetricSources) {
    this.sources = sources
  }

  /** A request counts when it is over, and so a watch with all the time that it took. */
  readonly hooks: RequestHooks = {
    responseComplete: (exchange) => {
      const labels = requestLabels(exchange)
      this.count(labels, (performance.now() - exchange.begunMs) / 1000)
      if (exchange.removedRelease !== undefined) this.noteDeprecated(labels, exchange.removedRelease)
    },
  }

  count(labels: RequestLabels, seconds: number): void {
    const key = `${labels.verb} ${labels.code} ${labels.resource}/${labels.subresource} ${labels.group}/${labels.version} ${labels.scope}`
    const tally = this.tallies.get(key)
    if (tally === undefined) {
      this.tallies.set(key, { labels, count: 1, durations: [seconds] })
      return
    }
    tally.count++
    if (tally.durations.push(seconds) >= mostDurations) void this.record()
  }

  /** Somebody still uses what will be gone with a release. */
  noteDeprecated({ group, version, resource, subresource }: RequestLabels, removedRelease: string): void {
    const key = `${group}/${version} ${resource}/${subresource}`
    if (!this.deprecated.has(key)) this.deprecated.set(key, { group, version, resource, subresource, removed_release: removedRelease })
  }

  async text(): Promise<{ readonly contentType: string; readonly text: string }> {
    const { registry } = await this.record()
    return { contentType: registry.contentType, text: await registry.metrics() }
  }

  /** What was tallied since the last time goes into the instruments. */
  private async record(): Promise<Instruments> {
    const tallies = this.tallies
    this.tallies = new Map()
    this.instruments ??= makeInstruments(this.sources, () => this.deprecated.values())
    const instruments = await this.instruments
    for (const tally of tallies.values()) instruments.record(tally)
    return instruments
  }
}

interface Instruments {
  readonly registry: Registry
  record(tally: Tally): void
}

const requestLabelNames = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'code'] as const

async function makeInstruments(sources: MetricSources, deprecated: () => Iterable<DeprecatedLabels>): Promise<Instruments> {
  const { Counter, Gauge, Histogram, Registry } = await import('prom-client')
  const registry = new Registry()
  const registers = [registry]
  const requests = new Counter({
    name: 'apiserver_request_total',
    help: 'Requests answered, by what they asked for and how they ended.',
    labelNames: requestLabelNames,
    registers,
  })
  const durations = new Histogram({
    name: 'apiserver_request_duration_seconds',
    help: 'How long requests took; a watch takes as long as its stream.',
    labelNames: ['verb', 'resource'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60],
    registers,
  })
  const inflight = new Gauge({
    name: 'apiserver_current_inflight_requests',
    help: 'Requests that are being answered now.',
    labelNames: ['request_kind'],
    registers,
    collect: () => {
      const now = sources.inflight()
      inflight.set({ request_kind: 'readOnly' }, now.readOnly)
      inflight.set({ request_kind: 'mutating' }, now.mutating)
    },
  })
  const requestedDeprecated = new Gauge({
    name: 'apiserver_requested_deprecated_apis',
    help: 'Deprecated versions that were asked for, with the release that is without them.',
    labelNames: ['group', 'version', 'resource', 'subresource', 'removed_release'],
    registers,
    collect: () => {
      for (const labels of deprecated()) requestedDeprecated.set({ ...labels }, 1)
    },
  })
  for (const { name, help, read } of plainGauges(sources)) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read())
      },
    })
  }
  return {
    registry,
    record({ labels, count, durations: seconds }) {
      requests.inc({ ...labels }, count)
      for (const value of seconds) durations.observe({ verb: labels.verb, resource: labels.resource }, value)
    },
  }
}

const plainGauges = (sources: MetricSources): readonly { readonly name: string; readonly help: string; readonly read: () => number }[] => [
  { name: 'apiserver_storage_revision', help: 'The newest revision in the store.', read: sources.storeRevision },
  { name: 'apiserver_read_cache_bytes', help: 'Bytes held for lists that are read again.', read: sources.cacheBytes },
  { name: 'apiserver_longrunning_requests', help: 'Watches that are open now.', read: sources.watchers },
  {
    name: 'nodejs_eventloop_lag_seconds',
    help: 'How late the event loop was when it was last looked at; 0 while there are no requests.',
    read: sources.loopLagSeconds,
  },
  { name: 'process_resident_memory_bytes', help: 'Memory of this process.', read: () => process.memoryUsage.rss() },
  { name: 'process_cpu_seconds_total', help: 'Processor time of this process.', read: cpuSeconds },
  {
    name: 'process_start_time_seconds',
    help: 'When this process began, since 1970.',
    read: () => Math.round(Date.now() / 1000 - process.uptime()),
  },
]

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

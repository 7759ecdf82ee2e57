// Metrics of requests: counters and histograms per verb, resource and scope; and the text of /metrics, from all metric sources.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { readQuery } from '@cluster-apiserver/api/api/options/query.js'
import { Histogram } from '@cluster-apiserver/api/base/histogram.js'
import { getOrInsert, weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { Exchange } from '../pipeline/exchange.js'
import type { RequestHooks } from '../pipeline/lifecycle.js'
import { type AllowedValues, contentType, Exposition, type Family } from './prometheus-exposition.js'
import { WatchCounters } from './watch-metrics.js'

/** Seconds, as in kube-apiserver. */
const durationBounds: readonly number[] = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]
const sliBounds = durationBounds.slice(2)
const sizeBounds: readonly number[] = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]

/** Label sets beyond this number are counted together: custom kinds may be created without end. */
const maxLabelSets = 4_000
const otherLabels = ['apiserver', 'other', 'other', '', '', 'other', ''] as const

interface CountRow {
  readonly labels: readonly string[]
  value: number
}

interface HistogramRow {
  readonly labels: readonly string[]
  readonly value: Histogram
}

const countRow = (labels: readonly string[]): CountRow => ({ labels, value: 0 })

const histogramRow = (labels: readonly string[], bounds: readonly number[]): HistogramRow => ({ labels, value: new Histogram(bounds) })

/** The metrics of one label set. */
class LabelSet {
  readonly labels: readonly string[]
  readonly isRead: boolean
  readonly counts = new Map<string | number, CountRow>()
  readonly durations = new Map<string, HistogramRow>()
  readonly sli: HistogramRow
  readonly sizes: HistogramRow | undefined
  readonly terminations = new Map<number, CountRow>()
  aborts: CountRow | undefined
  longRunning: CountRow | undefined

  constructor(labels: readonly string[]) {
    this.labels = labels
    const [, , , , , verb] = labels
    this.isRead = verb === 'GET' || verb === 'LIST'
    this.sli = histogramRow(labels, sliBounds)
    this.sizes = this.isRead ? histogramRow(labels, sizeBounds) : undefined
  }

  count(code: number, dryRun: string): void {
    const key = dryRun === '' ? code : `${code}${dryRun}`
    const known = this.counts.get(key)
    if (known !== undefined) known.value++
    else {
      const [component = '', ...rest] = this.labels
      const row = countRow([String(code), component, dryRun, ...rest])
      this.counts.set(key, row)
      row.value++
    }
  }

  addDuration(seconds: number, dryRun: string): void {
    const known = this.durations.get(dryRun)
    if (known !== undefined) known.value.add(seconds)
    else {
      const [component = '', ...rest] = this.labels
      const row = histogramRow([component, dryRun, ...rest], durationBounds)
      this.durations.set(dryRun, row)
      row.value.add(seconds)
    }
    this.sli.value.add(seconds)
  }
}

type LabelSetsByScope = Map<string, Map<string, LabelSet>>

const newMap = <V>(): Map<string, V> => new Map()

export class RequestCounters {
  readonly #labelSets = new Map<string, LabelSet>()
  /** A resource stays the same value when other parts of the catalog change. */
  readonly #byResource = weakMemoize((_resource: Resource) => new Map<string, LabelSetsByScope>())
  readonly #open = new Map<Exchange, CountRow>()
  readonly #deprecated = new Map<string, readonly string[]>()

  begin(exchange: Exchange): void {
    if (this.#open.has(exchange)) return
    const labelSet = this.#labelSetOf(exchange)
    labelSet.longRunning ??= countRow(labelSet.labels)
    labelSet.longRunning.value++
    this.#open.set(exchange, labelSet.longRunning)
  }

  complete(exchange: Exchange): void {
    const labelSet = this.#labelSetOf(exchange)
    const open = exchange.isLongRunning ? this.#open.get(exchange) : undefined
    if (open !== undefined) {
      this.#open.delete(exchange)
      open.value--
    }
    // The client disconnected before the response.
    const code = exchange.response.headersSent ? exchange.response.statusCode : 504
    const dryRun = dryRunOf(exchange)
    labelSet.count(code, dryRun)
    labelSet.addDuration((performance.now() - exchange.begunMs) / 1000, dryRun)
    if (labelSet.sizes !== undefined) labelSet.sizes.value.add(exchange.sentBytes)
    if (code === 429 || exchange.isTimedOut)
      getOrInsert(labelSet.terminations, code, () => countRow([String(code), ...labelSet.labels])).value++
    if (exchange.isCut) {
      labelSet.aborts ??= countRow(labelSet.labels.slice(1))
      labelSet.aborts.value++
    }
    if (exchange.removedRelease !== undefined) this.#addDeprecated(labelSet.labels, exchange.removedRelease)
  }

  families(): readonly Family[] {
    const labelSets = this.#labelSets
    return [
      {
        name: 'apiserver_request_total',
        type: 'counter',
        help: 'Completed requests, by verb, resource and status code.',
        labels: ['code', 'component', 'dry_run', ...requestLabels.slice(1)],
        rows: eachOf(labelSets, ({ counts }) => counts.values()),
      },
      {
        name: 'apiserver_request_duration_seconds',
        type: 'histogram',
        help: 'Duration of requests; of a watch, that of its stream.',
        labels: ['component', 'dry_run', ...requestLabels.slice(1)],
        rows: eachOf(labelSets, ({ durations }) => durations.values()),
      },
      {
        name: 'apiserver_request_sli_duration_seconds',
        type: 'histogram',
        help: 'Duration of requests without the time spent in webhooks and other servers.',
        labels: requestLabels,
        rows: eachOf(labelSets, ({ sli }) => [sli]),
      },
      {
        name: 'apiserver_response_sizes',
        type: 'histogram',
        help: 'Response sizes of GET and LIST requests in bytes.',
        labels: requestLabels,
        rows: eachOf(labelSets, ({ sizes }) => (sizes === undefined ? [] : [sizes])),
      },
      {
        name: 'apiserver_longrunning_requests',
        type: 'gauge',
        help: 'Open long-running requests, such as watches.',
        labels: requestLabels,
        rows: eachOf(labelSets, ({ longRunning }) => (longRunning === undefined ? [] : [longRunning])),
      },
      {
        name: 'apiserver_request_terminations_total',
        type: 'counter',
        help: 'Requests that the server refused with 429 or ended by a timeout.',
        labels: ['code', ...requestLabels],
        rows: eachOf(labelSets, ({ terminations }) => terminations.values()),
      },
      {
        name: 'apiserver_request_aborts_total',
        type: 'counter',
        help: 'Requests whose response was cut off by the server.',
        labels: requestLabels.slice(1),
        rows: eachOf(labelSets, ({ aborts }) => (aborts === undefined ? [] : [aborts])),
      },
      {
        name: 'apiserver_requested_deprecated_apis',
        type: 'gauge',
        help: 'Requested deprecated API versions, with the release that removes them.',
        labels: ['group', 'removed_release', 'resource', 'subresource', 'version'],
        rows: Array.from(this.#deprecated.values(), (labels) => ({ labels, value: 1 })),
      },
    ]
  }

  #labelSetOf(exchange: Exchange): LabelSet {
    const { resource } = exchange
    if (resource === undefined) return this.#labelSet(['', '', '', '', pathOf(exchange), methodOf(exchange.info.method), ''])
    const verb = verbOf(exchange, resource)
    const subresource = subresourceOf(exchange, resource)
    const scope = scopeOf(exchange)
    const byScope = getOrInsert(this.#byResource(resource), verb, newMap<Map<string, LabelSet>>)
    const labelSets = getOrInsert(byScope, scope, newMap<LabelSet>)
    const known = labelSets.get(subresource)
    if (known !== undefined) return known
    const labelSet = this.#labelSet(['apiserver', resource.group, resource.name, scope, subresource, verb, resource.version])
    labelSets.set(subresource, labelSet)
    return labelSet
  }

  #labelSet(labels: readonly string[]): LabelSet {
    const key = labels.join(' ')
    const known = this.#labelSets.get(key)
    if (known !== undefined) return known
    if (this.#labelSets.size >= maxLabelSets && labels !== otherLabels) return this.#labelSet(otherLabels)
    const labelSet = new LabelSet(labels)
    this.#labelSets.set(key, labelSet)
    return labelSet
  }

  #addDeprecated([, group = '', resource = '', , subresource = '', , version = '']: readonly string[], removedRelease: string): void {
    const key = `${group}/${version} ${resource}/${subresource}`
    if (!this.#deprecated.has(key)) this.#deprecated.set(key, [group, removedRelease, resource, subresource, version])
  }
}

function* eachOf<R>(labelSets: ReadonlyMap<string, LabelSet>, rowsOf: (labelSet: LabelSet) => Iterable<R>): Generator<R> {
  for (const labelSet of labelSets.values()) yield* rowsOf(labelSet)
}

/** The labels of all request metrics, in their order. */
const requestLabels = ['component', 'group', 'resource', 'scope', 'subresource', 'verb', 'version'] as const

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT'])
const applyMediaType = 'application/apply-patch+yaml'

/** The `verb` label, as in kube-apiserver. */
function verbOf({ info, request }: Exchange, resource: Resource): string {
  switch (info.verb) {
    case 'list':
      return 'LIST'
    case 'watch':
      return 'WATCH'
    case 'deletecollection':
      return 'DELETECOLLECTION'
    case 'patch':
      return request.headers['content-type']?.startsWith(applyMediaType) === true ? 'APPLY' : 'PATCH'
    default:
      if (info.subresource !== '' && resource.subresources.get(info.subresource)?.connection !== undefined) return 'CONNECT'
      return methodOf(info.method)
  }
}

const methodOf = (method: string): string => (knownMethods.has(method) ? method : 'other')

/** The `scope` label: one object, a namespace, or the cluster. */
function scopeOf({ info }: Exchange): 'resource' | 'namespace' | 'cluster' {
  if (info.name !== '' || info.verb === 'create') return 'resource'
  return info.namespace !== '' ? 'namespace' : 'cluster'
}

const subresourceOf = ({ info }: Exchange, resource: Resource): string =>
  info.subresource !== '' && resource.subresources.has(info.subresource) ? info.subresource : ''

const knownPaths = new Set(['healthz', 'livez', 'readyz', 'metrics', 'version', 'openapi', 'api', 'apis'])

/** The first segment of a non-resource path; empty if unknown, which limits the number of rows. */
function pathOf({ info }: Exchange): string {
  const end = info.path.indexOf('/', 1)
  const first = info.path.slice(1, end < 0 ? undefined : end)
  return knownPaths.has(first) ? `/${first}` : ''
}

/** The `dry_run` label; empty for no dry run. */
function dryRunOf({ info: { query } }: Exchange): string {
  if (query === '' || !query.includes('dryRun')) return ''
  const values = readQuery(query).all('dryRun')
  if (values.length === 0) return ''
  return values.every((value) => value === 'All') ? 'All' : 'invalid'
}

export type MetricSource = () => Iterable<Family> | Promise<Iterable<Family>>

interface MetricOptions {
  readonly sources: readonly MetricSource[]
  readonly disabled?: ReadonlySet<string>
  readonly allowed?: AllowedValues
  /** Adds the metrics of other processes of this server. */
  readonly ofAllProcesses?: ((own: () => Promise<readonly Family[]>) => () => Promise<readonly Family[]>) | undefined
}

export class ServerMetrics {
  readonly #sources: readonly MetricSource[]
  readonly #disabled: ReadonlySet<string>
  readonly #exposition: Exposition
  #requests = new RequestCounters()
  readonly watches = new WatchCounters()
  readonly #readAll: () => Promise<readonly Family[]>
  #writing: Promise<readonly Uint8Array[]> | undefined

  constructor({ sources, disabled = new Set(), allowed, ofAllProcesses = (own) => own }: MetricOptions) {
    this.#sources = [() => this.#requests.families(), () => this.watches.families(), ...sources]
    this.#disabled = disabled
    this.#exposition = new Exposition(allowed)
    this.#readAll = ofAllProcesses(() => this.ownFamilies())
  }

  /** Requests are counted when they are complete; the duration of a watch is that of its stream. */
  readonly hooks: RequestHooks = {
    responseStarted: (exchange) => {
      if (exchange.isLongRunning) this.#requests.begin(exchange)
    },
    responseComplete: (exchange) => this.#requests.complete(exchange),
  }

  /** Resets requests and watch events only. */
  reset(): void {
    this.#requests = new RequestCounters()
    this.watches.reset()
  }

  /** Concurrent requests share one encoding. */
  async read(): Promise<{ readonly contentType: string; readonly chunks: readonly Uint8Array[] }> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
    })
    return { contentType, chunks: await this.#writing }
  }

  /** Metrics of this process. */
  async ownFamilies(): Promise<readonly Family[]> {
    return (await Promise.all(this.#sources.map((source) => source()))).flatMap((families) => [...families])
  }

  async #write(): Promise<readonly Uint8Array[]> {
    const enabled = [...(await this.#readAll())].filter(({ name }) => !this.#disabled.has(name)).sort((a, b) => compareText(a.name, b.name))
    return await this.#exposition.write(enabled, turnBudget)
  }
}

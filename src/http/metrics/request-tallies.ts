// What requests were counted as: one record for each verb on each resource, with the rows of all metrics of requests. To count one costs two
// lookups and a few additions; the text is made when somebody asks.

import type { Resource } from '../../api/catalog.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { Histogram } from '../../base/histogram.js'
import { onceFor } from '../../base/once-for.js'
import type { Exchange } from '../exchange.js'
import type { Family } from './exposition.js'
import { dryRunOf, methodOf, pathOf, resourceOf, scopeOf, shapeLabels, subresourceOf, verbOf } from './request-shape.js'

/** In seconds, as in the reference. */
export const durationBounds: readonly number[] = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]
const sliBounds = durationBounds.slice(2)
const sizeBounds: readonly number[] = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]

/** Kinds that are defined and removed again leave their records behind: beyond these, what is new is counted together. */
const mostShapes = 4_000
const beyond = ['apiserver', 'other', 'other', '', '', 'other', ''] as const

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

/** Everything about the requests of one shape. */
class Shape {
  readonly labels: readonly string[]
  readonly isRead: boolean
  /** By code and dry run. */
  readonly counts = new Map<string | number, CountRow>()
  /** By dry run. */
  readonly durations = new Map<string, HistogramRow>()
  readonly sli: HistogramRow
  readonly sizes: HistogramRow | undefined
  /** By code. */
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

  took(seconds: number, dryRun: string): void {
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

type ShapesByScope = Map<string, Map<string, Shape>>

const newMap = <V>(): Map<string, V> => new Map()

export class RequestTallies {
  readonly #shapes = new Map<string, Shape>()
  /** A resource of another catalog has the records of the one that it replaced. */
  readonly #byResource = onceFor((_resource: Resource) => new Map<string, ShapesByScope>())
  readonly #open = new Map<Exchange, CountRow>()
  readonly #deprecated = new Map<string, readonly string[]>()

  /** The answer of a request that may go on for long has begun. */
  begin(exchange: Exchange): void {
    if (this.#open.has(exchange)) return
    const shape = this.#shapeOf(exchange)
    shape.longRunning ??= countRow(shape.labels)
    shape.longRunning.value++
    this.#open.set(exchange, shape.longRunning)
  }

  complete(exchange: Exchange): void {
    const shape = this.#shapeOf(exchange)
    const open = exchange.isLongRunning ? this.#open.get(exchange) : undefined
    if (open !== undefined) {
      this.#open.delete(exchange)
      open.value--
    }
    // Nothing was said to somebody who had gone: then the time that there was for it was up.
    const code = exchange.response.headersSent ? exchange.response.statusCode : 504
    const dryRun = dryRunOf(exchange)
    shape.count(code, dryRun)
    shape.took((performance.now() - exchange.begunMs) / 1000, dryRun)
    if (shape.sizes !== undefined) shape.sizes.value.add(exchange.sentBytes)
    if (code === 429 || exchange.isTimedOut) getOrInsert(shape.terminations, code, () => countRow([String(code), ...shape.labels])).value++
    if (exchange.isCut) {
      shape.aborts ??= countRow(shape.labels.slice(1))
      shape.aborts.value++
    }
    if (exchange.removedRelease !== undefined) this.#noteDeprecated(shape.labels, exchange.removedRelease)
  }

  families(): readonly Family[] {
    const shapes = this.#shapes
    return [
      {
        name: 'apiserver_request_total',
        type: 'counter',
        help: 'Requests that were answered, by what they asked for and how they ended.',
        labels: ['code', 'component', 'dry_run', ...shapeLabels.slice(1)],
        rows: eachOf(shapes, ({ counts }) => counts.values()),
      },
      {
        name: 'apiserver_request_duration_seconds',
        type: 'histogram',
        help: 'How long requests took; a watch takes as long as its stream.',
        labels: ['component', 'dry_run', ...shapeLabels.slice(1)],
        rows: eachOf(shapes, ({ durations }) => durations.values()),
      },
      {
        name: 'apiserver_request_sli_duration_seconds',
        type: 'histogram',
        help: 'How long requests took, without what others than this server took of it.',
        labels: shapeLabels,
        rows: eachOf(shapes, ({ sli }) => [sli]),
      },
      {
        name: 'apiserver_response_sizes',
        type: 'histogram',
        help: 'Bytes of the answers to reads.',
        labels: shapeLabels,
        rows: eachOf(shapes, ({ sizes }) => (sizes === undefined ? [] : [sizes])),
      },
      {
        name: 'apiserver_longrunning_requests',
        type: 'gauge',
        help: 'Watches that are open now.',
        labels: shapeLabels,
        rows: eachOf(shapes, ({ longRunning }) => (longRunning === undefined ? [] : [longRunning])),
      },
      {
        name: 'apiserver_request_terminations_total',
        type: 'counter',
        help: 'Requests that the server ended to protect itself: refused because there were too many, or because their time was up.',
        labels: ['code', ...shapeLabels],
        rows: eachOf(shapes, ({ terminations }) => terminations.values()),
      },
      {
        name: 'apiserver_request_aborts_total',
        type: 'counter',
        help: 'Requests whose answer had begun when the server had to cut it off.',
        labels: shapeLabels.slice(1),
        rows: eachOf(shapes, ({ aborts }) => (aborts === undefined ? [] : [aborts])),
      },
      {
        name: 'apiserver_requested_deprecated_apis',
        type: 'gauge',
        help: 'Deprecated versions that were asked for, with the release that is without them.',
        labels: ['group', 'removed_release', 'resource', 'subresource', 'version'],
        rows: Array.from(this.#deprecated.values(), (labels) => ({ labels, value: 1 })),
      },
    ]
  }

  #shapeOf(exchange: Exchange): Shape {
    const resource = resourceOf(exchange)
    if (resource === undefined) return this.#shape(['', '', '', '', pathOf(exchange), methodOf(exchange.info.method), ''])
    const verb = verbOf(exchange, resource)
    const subresource = subresourceOf(exchange, resource)
    const scope = scopeOf(exchange)
    // One map in the other: to make one key of the three words takes longer than to look for each.
    const byScope = getOrInsert(this.#byResource(resource), verb, newMap<Map<string, Shape>>)
    const shapes = getOrInsert(byScope, scope, newMap<Shape>)
    const known = shapes.get(subresource)
    if (known !== undefined) return known
    const shape = this.#shape(['apiserver', resource.group, resource.name, scope, subresource, verb, resource.version])
    shapes.set(subresource, shape)
    return shape
  }

  #shape(labels: readonly string[]): Shape {
    const key = labels.join(' ')
    const known = this.#shapes.get(key)
    if (known !== undefined) return known
    if (this.#shapes.size >= mostShapes && labels !== beyond) return this.#shape(beyond)
    const shape = new Shape(labels)
    this.#shapes.set(key, shape)
    return shape
  }

  /** Somebody still uses what will be gone with a release. */
  #noteDeprecated([, group = '', resource = '', , subresource = '', , version = '']: readonly string[], removedRelease: string): void {
    const key = `${group}/${version} ${resource}/${subresource}`
    if (!this.#deprecated.has(key)) this.#deprecated.set(key, [group, removedRelease, resource, subresource, version])
  }
}

function* eachOf<R>(shapes: ReadonlyMap<string, Shape>, rowsOf: (shape: Shape) => Iterable<R>): Generator<R> {
  for (const shape of shapes.values()) yield* rowsOf(shape)
}

// Durations, rejections and failures of webhook calls, for metrics.

import { Histogram } from '@cluster-apiserver/api/base/histogram.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import type { Operation } from '@cluster-apiserver/api/resources/admissionregistration/policy/match-rules.js'

export type WebhookStep = 'admit' | 'validating'

type RejectionCause = 'calling_webhook_error' | 'no_error' | 'apiserver_internal_error'

/** Histogram bounds in seconds; the values of kube-apiserver. */
const durationBounds: readonly number[] = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25]
/** Maximum number of label combinations per metric; further combinations are not counted. */
const maxRows = 10_000
const maxCode = 600

interface WebhookLabels {
  readonly name: string
  readonly step: WebhookStep
  readonly operation: Operation
}

export interface CountedRow {
  readonly labels: readonly string[]
  count: number
}

interface TimedRow {
  readonly labels: readonly string[]
  readonly durations: Histogram
}

export class WebhookCounters {
  readonly #durations = new Map<string, TimedRow>()
  readonly #requests = new Map<string, CountedRow>()
  readonly #rejections = new Map<string, CountedRow>()
  readonly #failOpenCounts = new Map<string, CountedRow>()

  /** `code` is 200, the code of the webhook or its endpoint, or 0. */
  observe({ name, step, operation }: WebhookLabels, rejected: boolean, code: number, seconds: number): void {
    const labels = [name, operation, String(rejected), step]
    const timed = rowOf(this.#durations, labels, () => ({ labels, durations: new Histogram(durationBounds) }))
    timed?.durations.add(seconds)
    count(this.#requests, [String(Math.min(code, maxCode)), ...labels])
  }

  rejected({ name, step, operation }: WebhookLabels, cause: RejectionCause, code: number): void {
    count(this.#rejections, [cause, name, operation, String(Math.min(code, maxCode)), step])
  }

  failedOpen({ name, step }: Pick<WebhookLabels, 'name' | 'step'>): void {
    count(this.#failOpenCounts, [name, step])
  }

  /** Labels: name, operation, rejected, type. */
  durations(): Iterable<TimedRow> {
    return this.#durations.values()
  }

  /** Labels: code, name, operation, rejected, type. */
  requests(): Iterable<CountedRow> {
    return this.#requests.values()
  }

  /** Labels: error type, name, operation, rejection code, type. */
  rejections(): Iterable<CountedRow> {
    return this.#rejections.values()
  }

  /** Labels: name, type. */
  failOpenCounts(): Iterable<CountedRow> {
    return this.#failOpenCounts.values()
  }
}

function rowOf<Row>(rows: Map<string, Row>, labels: readonly string[], make: () => Row): Row | undefined {
  const key = labels.join(' ')
  return rows.size >= maxRows ? rows.get(key) : getOrInsert(rows, key, make)
}

function count(rows: Map<string, CountedRow>, labels: readonly string[]): void {
  const row = rowOf(rows, labels, () => ({ labels, count: 0 }))
  if (row !== undefined) row.count += 1
}

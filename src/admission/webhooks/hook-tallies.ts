// How long hooks take, how often they refuse or cannot be asked, for metrics.

import { getOrInsert } from '../../base/get-or-insert.js'
import { Histogram } from '../../base/histogram.js'
import type { Operation } from '../admission.js'

/** As metrics call the two steps where hooks are asked. */
export type HookStep = 'admit' | 'validating'

export type RejectionCause = 'calling_webhook_error' | 'no_error' | 'apiserver_internal_error'

/** In seconds, as dashboards know them. */
const bounds: readonly number[] = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25]
/** Hooks come and go: beyond so many rows, new ones are not told apart. */
const mostRows = 10_000
const mostCode = 600

export interface Asked {
  readonly name: string
  readonly step: HookStep
  readonly operation: Operation
}

export interface Counted {
  readonly labels: readonly string[]
  count: number
}

export interface Timed {
  readonly labels: readonly string[]
  readonly durations: Histogram
}

export class HookTallies {
  readonly #durations = new Map<string, Timed>()
  readonly #requests = new Map<string, Counted>()
  readonly #rejections = new Map<string, Counted>()
  readonly #opened = new Map<string, Counted>()

  /** One call came to an end: `code` is 200, what the hook or its place said, or 0. */
  asked({ name, step, operation }: Asked, rejected: boolean, code: number, seconds: number): void {
    const labels = [name, operation, String(rejected), step]
    const timed = rowOf(this.#durations, labels, () => ({ labels, durations: new Histogram(bounds) }))
    timed?.durations.add(seconds)
    count(this.#requests, [String(Math.min(code, mostCode)), ...labels])
  }

  rejected({ name, step, operation }: Asked, cause: RejectionCause, code: number): void {
    count(this.#rejections, [cause, name, operation, String(Math.min(code, mostCode)), step])
  }

  failedOpen({ name, step }: Pick<Asked, 'name' | 'step'>): void {
    count(this.#opened, [name, step])
  }

  /** By name, operation, rejected, type. */
  durations(): Iterable<Timed> {
    return this.#durations.values()
  }

  /** By code and those. */
  requests(): Iterable<Counted> {
    return this.#requests.values()
  }

  /** By error type, name, operation, rejection code, type. */
  rejections(): Iterable<Counted> {
    return this.#rejections.values()
  }

  /** By name and type. */
  opened(): Iterable<Counted> {
    return this.#opened.values()
  }
}

function rowOf<Row>(rows: Map<string, Row>, labels: readonly string[], make: () => Row): Row | undefined {
  const key = labels.join(' ')
  return rows.size >= mostRows ? rows.get(key) : getOrInsert(rows, key, make)
}

function count(rows: Map<string, Counted>, labels: readonly string[]): void {
  const row = rowOf(rows, labels, () => ({ labels, count: 0 }))
  if (row !== undefined) row.count += 1
}

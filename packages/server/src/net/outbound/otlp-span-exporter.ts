// Sends finished spans to a collector, over HTTP in the JSON form of OTLP: some at a time, in the background, and never more than it has room for.
// What a collector does not take is dropped and counted; nobody waits for it.

import { Agent, request as httpRequest } from 'node:http'
import { request as httpsRequest, Agent as TlsAgent } from 'node:https'
import type { Logger } from '../base/logger.js'
import { ask } from './ask.js'

export interface Span {
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string | undefined
  readonly name: string
  readonly startMs: number
  readonly endMs: number
  readonly attributes: { readonly [name: string]: string | number }
  readonly events: readonly { readonly name: string; readonly atMs: number }[]
  readonly isFailure: boolean
}

export interface SpanExporterOptions {
  /** Where spans go, such as `http://localhost:4318/v1/traces`. */
  readonly url: string
  readonly logger: Logger
  /** Who sends them: attributes that all spans share. */
  readonly resource: { readonly [name: string]: string }
  readonly batchMs?: number
  readonly patienceMs?: number
}

const mostWaiting = 2_048
const mostInBatch = 512
const closingMs = 2_000
/** It says which spans it did not take, and nobody asks it. */
const mostAnswerBytes = 1 << 20

export class SpanExporter {
  /** Spans that the collector has, and spans that it never got. */
  sent = 0
  dropped = 0
  readonly #options: SpanExporterOptions
  readonly #agent: Agent
  #waiting: Span[] = []
  #sending: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #isReached = true

  constructor(options: SpanExporterOptions) {
    this.#options = options
    this.#agent = isTls(options.url) ? new TlsAgent({ keepAlive: true, maxSockets: 1 }) : new Agent({ keepAlive: true, maxSockets: 1 })
  }

  add(span: Span): void {
    if (this.#waiting.length >= mostWaiting) {
      this.dropped++
      return
    }
    this.#waiting.push(span)
    if (this.#waiting.length >= mostInBatch) this.#send()
    else this.#timer ??= setTimeout(() => this.#send(), this.#options.batchMs ?? 5_000).unref()
  }

  /** Sends what waits, for a moment. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    const end = performance.now() + closingMs
    while ((this.#waiting.length > 0 || this.#sending !== undefined) && performance.now() < end) {
      this.#send()
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, end - performance.now())))
      await Promise.race([this.#sending, late])
      clearTimeout(timer)
    }
    this.#agent.destroy()
  }

  /** One batch after the other. */
  #send(): void {
    if (this.#sending !== undefined || this.#waiting.length === 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    const batch = this.#waiting.slice(0, mostInBatch)
    this.#waiting = this.#waiting.slice(mostInBatch)
    this.#sending = this.#post(spansJson(batch, this.#options.resource)).then(
      () => this.#finish(batch.length, undefined),
      (error: Error) => this.#finish(batch.length, error.message),
    )
  }

  #finish(count: number, problem: string | undefined): void {
    this.#sending = undefined
    if (problem === undefined) this.sent += count
    else this.dropped += count
    const isReached = problem === undefined
    if (this.#isReached !== isReached) {
      const { logger, url } = this.#options
      if (isReached) logger.info({ url }, 'exporting traces again')
      else logger.warn({ url, problem }, 'cannot export traces; dropping them')
    }
    this.#isReached = isReached
    if (this.#waiting.length >= mostInBatch) this.#send()
    else if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#send(), this.#options.batchMs ?? 5_000).unref()
  }

  async #post(body: string): Promise<void> {
    const { url, patienceMs = 10_000 } = this.#options
    const headers = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) }
    const sent = (isTls(url) ? httpsRequest : httpRequest)(url, { method: 'POST', agent: this.#agent, headers })
    const { status } = await ask(sent, { body, timeoutMs: patienceMs, mostBytes: mostAnswerBytes })
    if (status < 200 || status > 299) throw new Error(`answered with status ${status}`)
  }
}

const isTls = (url: string): boolean => url.startsWith('https:')

/** The kind of a span that answers somebody, and the status of one that failed. */
const serverSpan = 2
const failed = 2

function spansJson(spans: readonly Span[], resource: SpanExporterOptions['resource']): string {
  const scopeSpans = [{ scope: { name: 'cluster-apiserver' }, spans: spans.map(spanJson) }]
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: attributesJson(resource) }, scopeSpans }] })
}

const spanJson = (span: Span) => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
  name: span.name,
  kind: serverSpan,
  startTimeUnixNano: nanoseconds(span.startMs),
  endTimeUnixNano: nanoseconds(span.endMs),
  attributes: attributesJson(span.attributes),
  events: span.events.map(({ name, atMs }) => ({ name, timeUnixNano: nanoseconds(atMs) })),
  status: span.isFailure ? { code: failed } : {},
})

const attributesJson = (attributes: Span['attributes']) =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }))

/** Whole microseconds are as much as a number holds. */
const nanoseconds = (ms: number): string => `${Math.round(ms * 1000)}000`

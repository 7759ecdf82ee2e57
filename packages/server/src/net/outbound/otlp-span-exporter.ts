// Exports trace spans to an OpenTelemetry collector (OTLP JSON) in batches. Refused and surplus spans are dropped and counted.

import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { JsonEndpoint } from './json-endpoint.js'

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

interface SpanExporterOptions {
  readonly url: string
  readonly logger: Logger
  readonly resource: { readonly [name: string]: string }
  readonly batchMs?: number
  readonly timeoutMs?: number
  /** Maximum time that `close` waits for remaining spans. */
  readonly closeTimeoutMs?: number
}

const maxWaiting = 2_048
const maxBatchSize = 512
const defaultCloseTimeoutMs = 2_000
const maxResponseBytes = 1 << 20

export class SpanExporter {
  sent = 0
  dropped = 0
  readonly #options: SpanExporterOptions
  readonly #endpoint: JsonEndpoint
  #waiting: Span[] = []
  #sending: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #isReachable = true

  constructor(options: SpanExporterOptions) {
    this.#options = options
    const { url, timeoutMs = 10_000 } = options
    this.#endpoint = new JsonEndpoint({ url }, { timeoutMs, maxSockets: 1, maxBytes: maxResponseBytes })
  }

  add(span: Span): void {
    if (this.#waiting.length >= maxWaiting) {
      this.dropped++
      return
    }
    this.#waiting.push(span)
    if (this.#waiting.length >= maxBatchSize) this.#send()
    else this.#timer ??= setTimeout(() => this.#send(), this.#options.batchMs ?? 5_000).unref()
  }

  /** Sends the remaining spans. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    const end = performance.now() + (this.#options.closeTimeoutMs ?? defaultCloseTimeoutMs)
    while ((this.#waiting.length > 0 || this.#sending !== undefined) && performance.now() < end) {
      this.#send()
      let timer: NodeJS.Timeout | undefined
      const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, end - performance.now())))
      await Promise.race([this.#sending, timeout])
      clearTimeout(timer)
    }
    this.#endpoint.close()
  }

  #send(): void {
    if (this.#sending !== undefined || this.#waiting.length === 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    const batch = this.#waiting.slice(0, maxBatchSize)
    this.#waiting = this.#waiting.slice(maxBatchSize)
    this.#sending = this.#post(spansJson(batch, this.#options.resource)).then(
      () => this.#finish(batch.length, undefined),
      (thrown: Error) => this.#finish(batch.length, thrown.message),
    )
  }

  #finish(count: number, error: string | undefined): void {
    this.#sending = undefined
    if (error === undefined) this.sent += count
    else this.dropped += count
    const isReachable = error === undefined
    if (this.#isReachable !== isReachable) {
      const { logger, url } = this.#options
      if (isReachable) logger.info({ url }, 'exporting traces again')
      else logger.warn({ url, error }, 'cannot export traces, dropping them; check the collector')
    }
    this.#isReachable = isReachable
    if (this.#waiting.length >= maxBatchSize) this.#send()
    else if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#send(), this.#options.batchMs ?? 5_000).unref()
  }

  async #post(body: string): Promise<void> {
    const { status } = await this.#endpoint.post(body)
    if (status < 200 || status > 299) throw new Error(`the collector responded with status ${status}`)
  }
}

/** SPAN_KIND_SERVER and STATUS_CODE_ERROR of OTLP. */
const spanKindServer = 2
const statusError = 2

function spansJson(spans: readonly Span[], resource: SpanExporterOptions['resource']): string {
  const scopeSpans = [{ scope: { name: 'cluster-apiserver' }, spans: spans.map(spanJson) }]
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: attributesJson(resource) }, scopeSpans }] })
}

const spanJson = (span: Span) => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
  name: span.name,
  kind: spanKindServer,
  startTimeUnixNano: nanoseconds(span.startMs),
  endTimeUnixNano: nanoseconds(span.endMs),
  attributes: attributesJson(span.attributes),
  events: span.events.map(({ name, atMs }) => ({ name, timeUnixNano: nanoseconds(atMs) })),
  status: span.isFailure ? { code: statusError } : {},
})

const attributesJson = (attributes: Span['attributes']) =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }))

/** Nanoseconds since 1970 exceed the precision of a number, microseconds do not. */
const nanoseconds = (ms: number): string => `${Math.round(ms * 1000)}000`

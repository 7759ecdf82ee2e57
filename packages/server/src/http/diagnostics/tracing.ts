// Hooks that record a trace span for each sampled request (OpenTelemetry, W3C Trace Context).

import { randomBytes } from 'node:crypto'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import type { Span, SpanExporter } from '../../net/outbound/otlp-span-exporter.js'
import type { Exchange } from '../pipeline/exchange.js'
import type { RequestHooks } from '../pipeline/lifecycle.js'

interface Tracing {
  readonly exporter: Pick<SpanExporter, 'add'>
  /** Sampled requests per million requests without a `traceparent` header. */
  readonly samplingRatePerMillion: number
  /** Returns a number from 0 to 1. */
  readonly random?: () => number
}

interface OpenSpan {
  readonly traceId: string
  readonly parentSpanId: string | undefined
  readonly events: { readonly name: string; readonly atMs: number }[]
}

export function tracingHooks({ exporter, samplingRatePerMillion, random = Math.random }: Tracing): RequestHooks {
  const openSpans = new WeakMap<Exchange, OpenSpan>()
  const addEvent = (exchange: Exchange, name: string): void => {
    openSpans.get(exchange)?.events.push({ name, atMs: timeOf(exchange) })
  }
  return {
    received: (exchange) => {
      const parent = parseTraceParent(exchange.header('traceparent'))
      // The sampling decision of the caller's trace wins.
      const isSampled = parent === undefined ? random() * 1e6 < samplingRatePerMillion : parent.isSampled
      if (isSampled)
        openSpans.set(exchange, { traceId: parent?.traceId ?? randomBytes(16).toString('hex'), parentSpanId: parent?.spanId, events: [] })
    },
    authenticated: (exchange) => addEvent(exchange, 'authenticated'),
    responseStarted: (exchange) => addEvent(exchange, 'response started'),
    panic: (exchange) => addEvent(exchange, 'internal error'),
    responseComplete: (exchange) => {
      const openSpan = openSpans.get(exchange)
      if (openSpan !== undefined) exporter.add(spanOf(exchange, openSpan))
    },
  }
}

/** Current time in milliseconds since 1970, monotonic within a request. */
const timeOf = ({ now, begunMs }: Exchange): number => now + performance.now() - begunMs

const maxAttributeChars = 256

function spanOf(exchange: Exchange, { traceId, parentSpanId, events }: OpenSpan): Span {
  const { info, response, auditId } = exchange
  const statusCode = response.statusCode
  return {
    traceId,
    spanId: randomBytes(8).toString('hex'),
    parentSpanId,
    name: 'KubernetesAPI',
    startMs: exchange.now,
    endMs: timeOf(exchange),
    // Neither query nor other headers: they may contain secrets.
    attributes: {
      'http.method': shorten(info.method, maxAttributeChars),
      'http.scheme': 'https',
      'http.target': shorten(info.path, maxAttributeChars),
      'http.status_code': statusCode,
      'http.user_agent': shorten(exchange.userAgent, maxAttributeChars),
      'net.sock.peer.addr': exchange.remoteAddress,
      'http.response_content_length': exchange.sentBytes,
      'audit-id': auditId,
    },
    events,
    isFailure: statusCode >= 500,
  }
}

interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  readonly isSampled: boolean
}

const traceParentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/
const maxTraceParentCharacters = 256

/** Parses a `traceparent` header; returns undefined if it is invalid. */
export function parseTraceParent(header: string): TraceParent | undefined {
  if (header === '' || header.length > maxTraceParentCharacters) return undefined
  const [, version, traceId = '', spanId = '', flags = ''] = traceParentPattern.exec(header) ?? []
  if (version === undefined || version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  if (version === '00' && header.length > '00-'.length + 32 + 1 + 16 + 1 + 2) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

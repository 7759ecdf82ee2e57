// Spans of requests: which requests have one, whose trace they belong to, and what a span says. Without tracing there are no such hooks.

import { randomBytes } from 'node:crypto'
import { shorten } from '../base/shorten.js'
import type { Span, SpanExporter } from '../net/span-exporter.js'
import type { Exchange } from './exchange.js'
import type { RequestHooks } from './lifecycle.js'

export interface Tracing {
  readonly exporter: Pick<SpanExporter, 'add'>
  /** Of a million requests that belong to no trace yet, how many begin one. */
  readonly samplingRatePerMillion: number
  /** From 0 to 1. */
  readonly random?: () => number
}

/** What is known of a span until its request is complete. */
interface OpenSpan {
  readonly traceId: string
  readonly parentSpanId: string | undefined
  readonly events: { readonly name: string; readonly atMs: number }[]
}

export function tracingHooks({ exporter, samplingRatePerMillion, random = Math.random }: Tracing): RequestHooks {
  const open = new WeakMap<Exchange, OpenSpan>()
  const note = (exchange: Exchange, name: string): void => {
    open.get(exchange)?.events.push({ name, atMs: timeOf(exchange) })
  }
  return {
    received: (exchange) => {
      const parent = parseTraceParent(exchange.header('traceparent'))
      // Whoever asks as a part of a trace has decided whether it is recorded.
      const isSampled = parent === undefined ? random() * 1e6 < samplingRatePerMillion : parent.isSampled
      if (isSampled)
        open.set(exchange, { traceId: parent?.traceId ?? randomBytes(16).toString('hex'), parentSpanId: parent?.spanId, events: [] })
    },
    authenticated: (exchange) => note(exchange, 'authenticated'),
    responseStarted: (exchange) => note(exchange, 'response started'),
    panic: (exchange) => note(exchange, 'internal error'),
    responseComplete: (exchange) => {
      const begun = open.get(exchange)
      if (begun !== undefined) exporter.add(spanOf(exchange, begun))
    },
  }
}

/** Now, as the clock would say that was looked at when the request came. */
const timeOf = ({ now, begunMs }: Exchange): number => now + performance.now() - begunMs

const longestText = 256

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
    // Neither the query nor other headers: they may hold what is not for everybody who reads traces.
    attributes: {
      'http.method': shorten(info.method, longestText),
      'http.scheme': 'https',
      'http.target': shorten(info.path, longestText),
      'http.status_code': statusCode,
      'http.user_agent': shorten(exchange.userAgent, longestText),
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

const traceParentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/
const longestTraceParent = 256

/** The header of the W3C's recommendation; undefined where it says nothing. */
export function parseTraceParent(header: string): TraceParent | undefined {
  if (header === '' || header.length > longestTraceParent) return undefined
  const [, version, traceId = '', spanId = '', flags = ''] = traceParentForm.exec(header) ?? []
  if (version === undefined || version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  if (version === '00' && header.length > '00-'.length + 32 + 1 + 16 + 1 + 2) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

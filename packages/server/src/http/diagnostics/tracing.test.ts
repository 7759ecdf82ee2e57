// Sampling of trace spans, and the traceparent header.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Span } from '../../net/outbound/otlp-span-exporter.js'
import type { Exchange } from '../pipeline/exchange.js'
import { parseTraceParent, tracingHooks } from './tracing.js'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'

test('traceparent is parsed as W3C Trace Context', () => {
  assert.deepEqual(parseTraceParent(`00-${traceId}-${spanId}-01`), { traceId, spanId, isSampled: true })
  assert.equal(parseTraceParent(`00-${traceId}-${spanId}-02`)?.isSampled, false)
  assert.equal(parseTraceParent(`cc-${traceId}-${spanId}-01-more`)?.traceId, traceId)
  const zeros = '0'.repeat(32)
  for (const invalid of [
    '',
    'x',
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${zeros}-${spanId}-01`,
    `00-${traceId}-${zeros.slice(16)}-01`,
    `cc-${traceId}-${spanId}-01-${'x'.repeat(300)}`,
  ])
    assert.equal(parseTraceParent(invalid), undefined, invalid)
})

const exchangeWith = (traceparent: string) =>
  ({
    header: (name: string) => (name === 'traceparent' ? traceparent : ''),
    info: { method: 'GET', path: '/api' },
    response: { statusCode: 200 },
    now: 1_700_000_000_000,
    begunMs: performance.now(),
    auditId: 'audit',
    userAgent: 'agent',
    remoteAddress: '192.0.2.1',
    sentBytes: 3,
  }) as unknown as Exchange

function spansFor(samplingRatePerMillion: number, traceparents: readonly string[], random = 0.5): readonly Span[] {
  const spans: Span[] = []
  const hooks = tracingHooks({ exporter: { add: (span) => spans.push(span) }, samplingRatePerMillion, random: () => random })
  for (const traceparent of traceparents) {
    const exchange = exchangeWith(traceparent)
    for (const stage of ['received', 'authenticated', 'responseStarted', 'responseComplete'] as const) hooks[stage]?.(exchange)
  }
  return spans
}

test('requests without traceparent are sampled by rate, others as their trace is', () => {
  assert.equal(spansFor(500_001, ['']).length, 1)
  assert.equal(spansFor(500_000, ['']).length, 0)
  assert.equal(spansFor(1_000_000, [`00-${traceId}-${spanId}-00`]).length, 0)
  const [span] = spansFor(0, [`00-${traceId}-${spanId}-01`])
  assert.equal(span?.traceId, traceId)
  assert.equal(span?.parentSpanId, spanId)
  assert.match(span?.spanId ?? '', /^[0-9a-f]{16}$/)
  assert.deepEqual(
    span?.events.map(({ name }) => name),
    ['authenticated', 'response started'],
  )
  assert.equal(span?.attributes['audit-id'], 'audit')
  assert.ok((span?.endMs ?? 0) >= (span?.startMs ?? 0))
})

// Export of trace spans: OTLP JSON, rejected spans and the queue limit.

import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { type Span, SpanExporter } from './otlp-span-exporter.js'

const spanOf = (name: string): Span => ({
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  parentSpanId: undefined,
  name,
  startMs: 1_700_000_000_000.25,
  endMs: 1_700_000_000_001,
  attributes: { 'http.status_code': 200, 'http.method': 'GET' },
  events: [{ name: 'authenticated', atMs: 1_700_000_000_000.5 }],
  isFailure: true,
})

describe('span exporter', () => {
  const bodies: string[] = []
  let collector: Server
  let code = 200
  before(
    () =>
      new Promise<void>((resolve) => {
        collector = createServer((request, response) => {
          let body = ''
          request.on('data', (chunk: Buffer) => (body += chunk.toString()))
          request.on('end', () => {
            bodies.push(body)
            response.writeHead(code).end('{}')
          })
        }).listen(0, '127.0.0.1', resolve)
      }),
  )
  after(() => collector.close())
  const exporterTo = (port: number) => {
    const url = `http://127.0.0.1:${port}/v1/traces`
    return new SpanExporter({ url, logger: silentLogger, resource: { 'service.name': 's' }, batchMs: 1, closeTimeoutMs: 60_000 })
  }
  const portOf = (): number => (collector.address() as AddressInfo).port

  test('spans are posted as OTLP JSON', async () => {
    const exporter = exporterTo(portOf())
    exporter.add(spanOf('one'))
    exporter.add(spanOf('two'))
    await exporter.close()
    assert.deepEqual([exporter.sent, exporter.dropped], [2, 0])
    const [{ resource, scopeSpans }] = JSON.parse(bodies.at(-1) ?? '').resourceSpans
    assert.deepEqual(resource.attributes, [{ key: 'service.name', value: { stringValue: 's' } }])
    assert.deepEqual(scopeSpans[0].spans[0], {
      traceId: 'a'.repeat(32),
      spanId: 'b'.repeat(16),
      name: 'one',
      kind: 2,
      startTimeUnixNano: '1700000000000250000',
      endTimeUnixNano: '1700000000001000000',
      attributes: [
        { key: 'http.status_code', value: { intValue: '200' } },
        { key: 'http.method', value: { stringValue: 'GET' } },
      ],
      events: [{ name: 'authenticated', timeUnixNano: '1700000000000500000' }],
      status: { code: 2 },
    })
  })

  test('spans are dropped and counted if the collector rejects them or cannot be reached', async () => {
    code = 503
    const refused = exporterTo(portOf())
    refused.add(spanOf('x'))
    await refused.close()
    code = 200
    const unreachable = exporterTo(1)
    unreachable.add(spanOf('x'))
    await unreachable.close()
    for (const exporter of [refused, unreachable]) assert.deepEqual([exporter.sent, exporter.dropped], [0, 1])
  })

  test('spans beyond the queue limit are dropped', async () => {
    const exporter = exporterTo(portOf())
    for (let i = 0; i < 5_000; i++) exporter.add(spanOf('x'))
    // One batch is being sent, the others are queued.
    assert.equal(exporter.dropped, 5_000 - 512 - 2_048)
    await exporter.close()
    assert.equal(exporter.sent, 512 + 2_048)
  })
})

// Webhook audit backend: retries, backoff, lost events.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { AuditCounters } from './audit.js'
import type { AuditEvent, EventFacts } from './audit-record.js'
import { WebhookBackend } from './webhook-backend.js'

const event = (text: string): AuditEvent => ({ text, shortened: () => [], facts: {} as EventFacts })

function backendOf(statuses: readonly (number | Error)[]) {
  const sent: string[] = []
  const counters = new AuditCounters()
  let isClosed = false
  const endpoint = {
    post: async (json: string) => {
      const status = statuses[sent.length] ?? 200
      sent.push(json)
      if (status instanceof Error) throw status
      return { status, retryAfter: undefined }
    },
    close: () => {
      isClosed = true
    },
  }
  const backend = new WebhookBackend({ endpoint, apiVersion: 'audit/v1', initialBackoffMs: 1, counters, logger: silentLogger })
  return { backend, sent, counters, isClosed: () => isClosed }
}

test('events are sent as an EventList', async () => {
  const { backend, sent } = backendOf([])
  assert.equal(await backend.process([event('{"a":1}'), event('{"b":2}')]), true)
  assert.deepEqual(JSON.parse(sent[0] ?? ''), { kind: 'EventList', apiVersion: 'audit/v1', metadata: {}, items: [{ a: 1 }, { b: 2 }] })
})

test('failed lists are sent again, and lost after five attempts', async () => {
  const good = backendOf([new Error('connection refused'), 503, 429])
  assert.equal(await good.backend.process([event('{}')]), true)
  assert.equal(good.sent.length, 4)
  const bad = backendOf([500, 500, 500, 500, 500, 200])
  assert.equal(await bad.backend.process([event('{}'), event('{}')]), false)
  assert.deepEqual([bad.sent.length, bad.counters.errors.get('webhook')], [5, 2])
})

test('a permanent error status is not retried', async () => {
  const { backend, sent, counters } = backendOf([403])
  assert.equal(await backend.process([event('{}')]), false)
  assert.deepEqual([sent.length, counters.errors.get('webhook')], [1, 1])
})

test('close does not wait for a backoff', async () => {
  const { backend, isClosed } = backendOf([500, 500, 500])
  const slow = new WebhookBackend({
    endpoint: { post: async () => ({ status: 500, retryAfter: undefined }), close: () => undefined },
    apiVersion: 'audit/v1',
    initialBackoffMs: 60_000,
    counters: new AuditCounters(),
    logger: silentLogger,
  })
  const lost = slow.process([event('{}')])
  await new Promise(setImmediate)
  await slow.close()
  assert.equal(await lost, false)
  await backend.close()
  assert.ok(isClosed())
})

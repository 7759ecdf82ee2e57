// Audit backends: batches, throttling, limits, truncation, the legacy format; source addresses of events.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { until } from '@cluster-apiserver/api/base/testing/until.fixture.js'
import { AuditCounters, type Backend } from './audit.js'
import { sourceIps } from './audit-event-json.js'
import type { AuditEvent, EventFacts } from './audit-record.js'
import { type BatchOptions, BufferedBackend } from './buffered-backend.js'
import { legacyLine } from './log-backend.js'
import { TruncatingBackend } from './truncating-backend.js'

const facts: EventFacts = {
  auditId: 'id-1',
  stage: 'ResponseComplete',
  verb: 'get',
  uri: '/api/v1/namespaces/a/pods/p?x="1"',
  userAgent: 'agent',
  user: { name: 'alice', uid: '', groups: ['dev', 'qa'], extra: {} },
  impersonated: undefined,
  sourceIps: ['10.0.0.1'],
  namespace: 'a',
  receivedMs: Date.parse('2026-01-02T03:04:05.060Z'),
  code: 200,
}

const event = (text: string, short?: string): AuditEvent => ({ text, shortened: () => (short === undefined ? [] : [short]), facts })

class FakeBackend implements Backend {
  readonly batches: string[][] = []
  result: boolean | Promise<boolean> = true
  isClosed = false

  async process(events: readonly AuditEvent[]): Promise<boolean> {
    this.batches.push(events.map(({ text }) => text))
    return this.result
  }

  async close(): Promise<void> {
    this.isClosed = true
  }
}

const batching: BatchOptions = { bufferSize: 5, maxBatch: 2, maxWaitMs: 60_000, throttle: undefined, maxConcurrentBatches: 1 }

test('a batch is sent when full, the rest on close, and events over the buffer size are counted as lost', async () => {
  const backend = new FakeBackend()
  const counters = new AuditCounters()
  const buffered = new BufferedBackend({ backend, batching, counters })
  for (const text of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) buffered.process([event(text)])
  assert.deepEqual(backend.batches, [])
  await until(() => backend.batches.length === 2)
  await buffered.close()
  assert.deepEqual(backend.batches, [['a', 'b'], ['c', 'd'], ['e']])
  assert.deepEqual([backend.isClosed, counters.errors.get('buffered')], [true, 2])
})

test('sends the burst at once, then at the rate of the throttle, and the rest when it is closed', async () => {
  const sendEvents = async (
    perSecond: number,
    count: number,
  ): Promise<{ readonly backend: FakeBackend; readonly buffered: BufferedBackend }> => {
    const backend = new FakeBackend()
    const throttle = { perSecond, burst: 2 }
    const buffered = new BufferedBackend({ backend, batching: { ...batching, maxBatch: 1, throttle }, counters: new AuditCounters() })
    for (const text of ['a', 'b', 'c', 'd']) buffered.process([event(text)])
    await until(() => backend.batches.length === count)
    return { backend, buffered }
  }
  const quick = await sendEvents(20, 4)
  await quick.buffered.close()
  const slow = await sendEvents(0.001, 2)
  for (let iterations = 0; iterations < 10; iterations++) await setImmediate()
  assert.equal(slow.backend.batches.length, 2)
  await slow.buffered.close()
  assert.equal(slow.backend.batches.length, 4)
})

test('events that arrive while a batch is in flight are sent after it', async () => {
  const backend = new FakeBackend()
  backend.result = setTimeout(60, true)
  const buffered = new BufferedBackend({ backend, batching: { ...batching, maxWaitMs: 10 }, counters: new AuditCounters() })
  buffered.process([event('a'), event('b')])
  await setImmediate()
  buffered.process([event('c')])
  for (let waited = 0; waited < 6000 && backend.batches.length < 2; waited++) await setTimeout(10)
  assert.deepEqual(backend.batches, [['a', 'b'], ['c']])
  await buffered.close()
})

test('queued and in-flight events are limited in bytes, but a single event is always accepted', async () => {
  const backend = new FakeBackend()
  let respond = (_isAccepted: boolean): void => undefined
  backend.result = new Promise((resolve) => {
    respond = resolve
  })
  const counters = new AuditCounters()
  const buffered = new BufferedBackend({ backend, batching: { ...batching, maxBatch: 1, maxWaitMs: 0 }, counters, maxBytes: 20 })
  buffered.process([event('12345')])
  await setImmediate()
  for (const text of ['12345', 'x']) buffered.process([event(text)])
  assert.equal(counters.errors.get('buffered'), 1)
  respond(true)
  await setTimeout(20)
  buffered.process([event('longer than all of it')])
  await buffered.close()
  assert.deepEqual([backend.batches, counters.errors.get('buffered')], [[['12345'], ['12345'], ['longer than all of it']], 1])
})

test('large events lose their bodies, larger ones are lost, and large batches are split', async () => {
  const backend = new FakeBackend()
  const counters = new AuditCounters()
  const truncated = new TruncatingBackend(backend, { maxEventBytes: 4, maxBatchBytes: 6 }, counters)
  assert.equal(await truncated.process([event('aaaa'), event('bbbbbb', 'bb'), event('cc')]), true)
  assert.deepEqual(backend.batches, [['aaaa', 'bb'], ['cc']])
  assert.equal(await truncated.process([event('dddddd', 'ddddd'), event('äöü')]), false)
  assert.equal(counters.errors.get('truncate'), 2)
})

test('a line of the legacy format', () => {
  assert.equal(
    legacyLine(facts),
    '2026-01-02T03:04:05.06Z AUDIT: id="id-1" stage="ResponseComplete" ip="10.0.0.1" method="get" user="alice" groups="\\"dev\\",\\"qa\\"" as="<self>" asgroups="<lookup>" user-agent="agent" namespace="a" uri="/api/v1/namespaces/a/pods/p?x=\\"1\\"" response="200"',
  )
  const unauthenticated = {
    ...facts,
    user: undefined,
    sourceIps: [],
    namespace: '',
    code: undefined,
    receivedMs: Date.parse('2026-01-02T03:04:05Z'),
  }
  assert.match(
    legacyLine(unauthenticated),
    /^2026-01-02T03:04:05Z AUDIT: .* ip="<unknown>" .* user="<none>" groups="<none>" .* namespace="<none>" .* response="<deferred>"$/,
  )
})

for (const { forwardedFor, realIp, peer, ips } of [
  { peer: '::ffff:10.0.0.1', ips: ['10.0.0.1'] },
  { forwardedFor: '1.1.1.1, bogus,2.2.2.2', peer: '10.0.0.1', ips: ['1.1.1.1', '2.2.2.2', '10.0.0.1'] },
  { forwardedFor: '1.1.1.1', realIp: '1.1.1.1', peer: '1.1.1.1', ips: ['1.1.1.1'] },
  { realIp: '3.3.3.3', peer: '::1', ips: ['3.3.3.3', '::1'] },
  { forwardedFor: '2001:DB8:0::1, ::FFFF:1.2.3.4', realIp: '1.2.3.4', peer: '2001:db8::1', ips: ['2001:db8::1', '1.2.3.4', '2001:db8::1'] },
  { forwardedFor: '010.0.0.1, 1.2.3, fe80::1%eth0', peer: '10.0.0.1', ips: ['10.0.0.1'] },
]) {
  test(`sourceIPs ${ips.join(' ')}`, () => {
    assert.deepEqual(sourceIps({ forwardedFor, realIp, peer }), ips)
  })
}

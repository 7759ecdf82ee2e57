// What becomes of events between a request and the place where they are kept: batches, bounds, lost events.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { silentLogger } from '../base/logger.js'
import { timedTest } from '../base/timed-test.fixture.js'
import { AuditTallies, type Backend } from './backend.js'
import { type Batching, Buffered } from './buffered.js'
import { legacyLine } from './legacy-line.js'
import { LogBackend } from './log-backend.js'
import type { AuditEvent, EventFacts } from './record.js'
import { sourceIps } from './source-ips.js'
import { Truncated } from './truncated.js'

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

class Kept implements Backend {
  readonly batches: string[][] = []
  answer: boolean | Promise<boolean> = true
  isClosed = false

  process(events: readonly AuditEvent[]): boolean | Promise<boolean> {
    this.batches.push(events.map(({ text }) => text))
    return this.answer
  }

  async close(): Promise<void> {
    this.isClosed = true
  }
}

const batching: Batching = { bufferSize: 5, maxBatch: 2, maxWaitMs: 60_000, throttle: undefined, atOnce: 1 }

test('a batch goes when it is full, the rest at the end, and what finds no room is counted', async () => {
  const kept = new Kept()
  const tallies = new AuditTallies()
  const buffered = new Buffered({ backend: kept, batching, tallies })
  for (const text of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) buffered.process([event(text)])
  assert.deepEqual(kept.batches, [])
  await setImmediate()
  assert.deepEqual(kept.batches, [['a', 'b'], ['c', 'd'], ['e']])
  buffered.process([event('h')])
  await buffered.close()
  assert.deepEqual([kept.batches.at(-1), kept.isClosed, tallies.errors.get('buffered')], [['h'], true, 2])
})

timedTest('a batch that is not full is waited for, though not longer', async () => {
  const kept = new Kept()
  const buffered = new Buffered({ backend: kept, batching: { ...batching, maxWaitMs: 20 }, tallies: new AuditTallies() })
  buffered.process([event('a')])
  await setImmediate()
  assert.deepEqual(kept.batches, [])
  await setTimeout(60)
  assert.deepEqual(kept.batches, [['a']])
  await buffered.close()
})

timedTest('so many batches at once, and then so many a second', async () => {
  const kept = new Kept()
  const throttle = { perSecond: 20, burst: 2 }
  const buffered = new Buffered({ backend: kept, batching: { ...batching, maxBatch: 1, throttle }, tallies: new AuditTallies() })
  for (const text of ['a', 'b', 'c', 'd']) buffered.process([event(text)])
  await setImmediate()
  assert.equal(kept.batches.length, 2)
  await setTimeout(80)
  assert.ok(kept.batches.length >= 3)
  await buffered.close()
  assert.equal(kept.batches.length, 4)
})

test('a backend that does not answer is not given everything at once', async () => {
  const kept = new Kept()
  let answer = (_taken: boolean): void => undefined
  kept.answer = new Promise((resolve) => {
    answer = resolve
  })
  const buffered = new Buffered({ backend: kept, batching, tallies: new AuditTallies() })
  for (const text of ['a', 'b', 'c', 'd']) buffered.process([event(text)])
  await setImmediate()
  assert.equal(kept.batches.length, 1)
  answer(true)
  await buffered.close()
  assert.equal(kept.batches.length, 2)
})

test('what came while a batch was under way follows it, though it fills no batch', async () => {
  const kept = new Kept()
  kept.answer = setTimeout(60, true)
  const buffered = new Buffered({ backend: kept, batching: { ...batching, maxWaitMs: 10 }, tallies: new AuditTallies() })
  buffered.process([event('a'), event('b')])
  await setImmediate()
  buffered.process([event('c')])
  for (let waited = 0; waited < 6000 && kept.batches.length < 2; waited++) await setTimeout(10)
  assert.deepEqual(kept.batches, [['a', 'b'], ['c']])
  await buffered.close()
})

test('what waits and what is under way is bounded in bytes, though one alone is always taken', async () => {
  const kept = new Kept()
  let answer = (_taken: boolean): void => undefined
  kept.answer = new Promise((resolve) => {
    answer = resolve
  })
  const tallies = new AuditTallies()
  const buffered = new Buffered({ backend: kept, batching: { ...batching, maxBatch: 1, maxWaitMs: 0 }, tallies, mostBytes: 20 })
  buffered.process([event('12345')])
  await setImmediate()
  for (const text of ['12345', 'x']) buffered.process([event(text)])
  assert.equal(tallies.errors.get('buffered'), 1)
  answer(true)
  await setTimeout(20)
  buffered.process([event('longer than all of it')])
  await buffered.close()
  assert.deepEqual([kept.batches, tallies.errors.get('buffered')], [[['12345'], ['12345'], ['longer than all of it']], 1])
})

test('large events go without their objects, larger ones not at all, and batches in parts', () => {
  const kept = new Kept()
  const tallies = new AuditTallies()
  const truncated = new Truncated(kept, { maxEventBytes: 4, maxBatchBytes: 6 }, tallies)
  assert.equal(truncated.process([event('aaaa'), event('bbbbbb', 'bb'), event('cc')]), true)
  assert.deepEqual(kept.batches, [['aaaa', 'bb'], ['cc']])
  assert.equal(truncated.process([event('dddddd', 'ddddd'), event('äöü')]), false)
  assert.equal(tallies.errors.get('truncate'), 2)
})

test('lines of one turn are written together, and counted when they are lost', async () => {
  const written: string[] = []
  let problem: Error | undefined
  const target = {
    append: (lines: Buffer) => {
      if (problem !== undefined) throw problem
      written.push(lines.toString())
      return undefined
    },
    close: async () => undefined,
  }
  const tallies = new AuditTallies()
  const parts = { target, tallies, logger: silentLogger, format: 'json' } as const
  const log = new LogBackend({ ...parts, isStrict: false })
  assert.deepEqual([log.process([event('a')]), log.process([event('b')])], [true, true])
  assert.deepEqual(written, [])
  await setImmediate()
  assert.deepEqual(written, ['a\nb\n'])
  const long = 'ä'.repeat(100_000)
  log.process([event('before'), event(long), event('behind')])
  await setImmediate()
  assert.deepEqual(written.splice(0), ['a\nb\n', 'before\n', `${long}\n`, 'behind\n'])
  problem = new Error('the disk is full')
  assert.equal(log.process([event('c')]), true)
  await setImmediate()
  const strict = new LogBackend({ ...parts, isStrict: true })
  assert.deepEqual([strict.process([event('d')]), strict.process([event(long)])], [false, false])
  assert.equal(tallies.errors.get('log'), 3)
})

test('the short format', () => {
  assert.equal(
    legacyLine(facts),
    '2026-01-02T03:04:05.06Z AUDIT: id="id-1" stage="ResponseComplete" ip="10.0.0.1" method="get" user="alice" groups="\\"dev\\",\\"qa\\"" as="<self>" asgroups="<lookup>" user-agent="agent" namespace="a" uri="/api/v1/namespaces/a/pods/p?x=\\"1\\"" response="200"',
  )
  const nobody = {
    ...facts,
    user: undefined,
    sourceIps: [],
    namespace: '',
    code: undefined,
    receivedMs: Date.parse('2026-01-02T03:04:05Z'),
  }
  assert.match(
    legacyLine(nobody),
    /^2026-01-02T03:04:05Z AUDIT: .* ip="<unknown>" .* user="<none>" groups="<none>" .* namespace="<none>" .* response="<deferred>"$/,
  )
})

for (const { forwardedFor, realIp, peer, ips } of [
  { peer: '::ffff:10.0.0.1', ips: ['10.0.0.1'] },
  { forwardedFor: '1.1.1.1, bogus,2.2.2.2', peer: '10.0.0.1', ips: ['1.1.1.1', '2.2.2.2', '10.0.0.1'] },
  { forwardedFor: '1.1.1.1', realIp: '1.1.1.1', peer: '1.1.1.1', ips: ['1.1.1.1'] },
  { realIp: '3.3.3.3', peer: '::1', ips: ['3.3.3.3', '::1'] },
]) {
  test(`sources ${ips.join(' ')}`, () => {
    assert.deepEqual(sourceIps({ forwardedFor, realIp, peer }), ips)
  })
}

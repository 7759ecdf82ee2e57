// Consistent reads of a worker: what they wait for, and when they end.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StorageUnavailableError } from '../storage.js'
import { ConsistentReads } from './consistent-reads.js'

test('a read waits for the changes up to the shared revision', async () => {
  const reads = new ConsistentReads(() => assert.fail('no request is needed'))
  assert.equal(reads.begin(7, 7), 7)
  const seen: number[] = []
  const waiting = [8, 8, 9].map(async (shared) => seen.push(await reads.begin(7, shared)))
  reads.reach(8)
  await Promise.all(waiting.slice(0, 2))
  assert.deepEqual(seen, [8, 8])
  reads.reach(10)
  await Promise.all(waiting)
  assert.deepEqual(seen, [8, 8, 10])
})

test('without a shared revision, reads that begin while a request is on its way share the next one', async () => {
  const requests: number[] = []
  const reads = new ConsistentReads((id) => requests.push(id))
  const first = [reads.begin(7, undefined), reads.begin(7, undefined)]
  await Promise.resolve()
  const second = reads.begin(7, undefined)
  assert.deepEqual(requests, [1])
  reads.finishRequest(1, 8)
  assert.deepEqual(await Promise.all(first), [8, 8])
  assert.deepEqual(requests, [1, 2])
  reads.finishRequest(1, 9)
  reads.finishRequest(2, 10)
  assert.equal(await second, 10)
})

test('reads end after 10 seconds, and the late response to their request is not that to a later one', async (t) => {
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const requests: number[] = []
  const reads = new ConsistentReads((id) => requests.push(id))
  const late = [reads.begin(7, undefined), reads.begin(7, 8)].map((read) => assert.rejects(Promise.resolve(read), StorageUnavailableError))
  await Promise.resolve()
  nowMs = 10_000
  const next = reads.begin(7, undefined)
  reads.expire()
  assert.deepEqual(requests, [1])
  nowMs = 10_001
  reads.expire()
  await Promise.all(late)
  assert.deepEqual(requests, [1, 2])
  reads.finishRequest(1, 8)
  reads.finishRequest(2, 9)
  assert.equal(await next, 9)
})

test('the end rejects all reads', async () => {
  const reads = new ConsistentReads(() => undefined)
  const pending = [reads.begin(7, 8), reads.begin(7, undefined)]
  await Promise.resolve()
  pending.push(reads.begin(7, undefined))
  const error = new StorageUnavailableError('gone')
  reads.end(error)
  for (const { reason } of (await Promise.allSettled(pending)) as PromiseRejectedResult[]) assert.equal(reason, error)
})

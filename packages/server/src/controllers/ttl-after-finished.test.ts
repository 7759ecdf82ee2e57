// Deletion of finished Jobs after their TTL.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { createTestEngine } from './framework/engine.fixture.js'
import { RawObjects } from './framework/raw-objects.fixture.js'
import { FakeTimers, flushTurns } from './framework/timers.fixture.js'
import { ttlAfterFinished } from './ttl-after-finished.js'

const startMs = Date.parse('2026-01-01T00:00:00Z')
const metadata = { name: 'j' }
const finished = (type: string) => ({ conditions: [{ type, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }] })

async function setUp() {
  const timers = new FakeTimers()
  const testEngine = await createTestEngine('cluster', { now: () => startMs + timers.now() })
  const jobs = new RawObjects(testEngine, testEngine.catalog.find('batch', 'v1', 'jobs') as Resource)
  const controller = ttlAfterFinished({ ...testEngine, logger: silentLogger, timers })
  return { timers, jobs, controller }
}

for (const { title, spec, status, keptSeconds, isKept } of [
  {
    title: 'a complete job is deleted after its TTL',
    spec: { ttlSecondsAfterFinished: 100 },
    status: finished('Complete'),
    keptSeconds: 99,
    isKept: false,
  },
  {
    title: 'a failed job is deleted after its TTL',
    spec: { ttlSecondsAfterFinished: 100 },
    status: finished('Failed'),
    keptSeconds: 99,
    isKept: false,
  },
  {
    title: 'a TTL of 0 deletes immediately',
    spec: { ttlSecondsAfterFinished: 0 },
    status: finished('Complete'),
    keptSeconds: 0,
    isKept: false,
  },
  { title: 'an unfinished job stays', spec: { ttlSecondsAfterFinished: 100 }, status: {}, keptSeconds: 1000, isKept: true },
  { title: 'a job without a TTL stays', spec: {}, status: finished('Complete'), keptSeconds: 1000, isKept: true },
]) {
  test(title, async () => {
    const { timers, jobs, controller } = await setUp()
    await jobs.put({ metadata, spec, status })
    if (keptSeconds > 0) {
      await timers.advance(keptSeconds * 1000)
      assert.equal(jobs.read('j')?.metadata?.deletionTimestamp, undefined)
    }
    await timers.advance(2000)
    await flushTurns()
    const job = jobs.read('j')
    assert.equal(job !== undefined && job.metadata?.deletionTimestamp === undefined, isKept)
    // The garbage collector deletes the pods before the job.
    if (!isKept) assert.deepEqual(job?.metadata?.finalizers, ['foregroundDeletion'])
    await controller.close()
  })
}

test('a TTL that is extended before the deletion counts', async () => {
  const { timers, jobs, controller } = await setUp()
  await jobs.put({ metadata, spec: { ttlSecondsAfterFinished: 100 }, status: finished('Complete') })
  await timers.advance(50_000)
  await jobs.put({ metadata, spec: { ttlSecondsAfterFinished: 1000 }, status: finished('Complete') })
  await timers.advance(900_000)
  assert.equal(jobs.read('j')?.metadata?.deletionTimestamp, undefined)
  await timers.advance(60_000)
  assert.notEqual(jobs.read('j')?.metadata?.deletionTimestamp, undefined)
  await controller.close()
})

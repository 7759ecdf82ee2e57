// Jobs go when they are done and their time is over, and not a moment before.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../api/catalog.js'
import { silentLogger } from '../base/logger.js'
import { stageOf } from './engine.fixture.js'
import { finishedJobs } from './finished-jobs.js'
import { FakeTimers, flushTurns } from './kit/timers.fixture.js'
import { RawObjects } from './raw-objects.fixture.js'

const beginMs = Date.parse('2026-01-01T00:00:00Z')
const metadata = { name: 'j' }
const done = (type: string) => ({ conditions: [{ type, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }] })

async function setUp() {
  const timers = new FakeTimers()
  const stage = await stageOf('cluster', { now: () => beginMs + timers.now() })
  const jobs = new RawObjects(stage, stage.catalog.find('batch', 'v1', 'jobs') as Resource)
  const loop = finishedJobs({ ...stage, logger: silentLogger, timers })
  return { timers, jobs, loop }
}

for (const { title, spec, status, stays, isLeft } of [
  { title: 'done for so long', spec: { ttlSecondsAfterFinished: 100 }, status: done('Complete'), stays: 99, isLeft: false },
  { title: 'failed counts, too', spec: { ttlSecondsAfterFinished: 100 }, status: done('Failed'), stays: 99, isLeft: false },
  { title: 'at once', spec: { ttlSecondsAfterFinished: 0 }, status: done('Complete'), stays: 0, isLeft: false },
  { title: 'not done', spec: { ttlSecondsAfterFinished: 100 }, status: {}, stays: 1000, isLeft: true },
  { title: 'not to be deleted', spec: {}, status: done('Complete'), stays: 1000, isLeft: true },
]) {
  test(title, async () => {
    const { timers, jobs, loop } = await setUp()
    await jobs.put({ metadata, spec, status })
    if (stays > 0) {
      await timers.advance(stays * 1000)
      assert.equal(jobs.read('j')?.metadata?.deletionTimestamp, undefined)
    }
    await timers.advance(2000)
    await flushTurns()
    const left = jobs.read('j')
    assert.equal(left !== undefined && left.metadata?.deletionTimestamp === undefined, isLeft)
    // What it made goes before it: the garbage collector sees to that.
    if (!isLeft) assert.deepEqual(left?.metadata?.finalizers, ['foregroundDeletion'])
    await loop.close()
  })
}

test('a time that is made longer counts', async () => {
  const { timers, jobs, loop } = await setUp()
  await jobs.put({ metadata, spec: { ttlSecondsAfterFinished: 100 }, status: done('Complete') })
  await timers.advance(50_000)
  await jobs.put({ metadata, spec: { ttlSecondsAfterFinished: 1000 }, status: done('Complete') })
  await timers.advance(900_000)
  assert.equal(jobs.read('j')?.metadata?.deletionTimestamp, undefined)
  await timers.advance(60_000)
  assert.notEqual(jobs.read('j')?.metadata?.deletionTimestamp, undefined)
  await loop.close()
})

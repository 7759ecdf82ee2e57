// Periodic compaction: history reaches back one to two intervals.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemTimers, type TimedWork, type Timers } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { openMemoryStorage } from './memory/memory-storage.js'
import { compactPeriodically } from './periodic-compaction.js'
import type { Storage } from './storage.js'

async function write(storage: Storage): Promise<number> {
  await storage.commit([{ key: 'k', value: Buffer.from('x'), expect: undefined }])
  return storage.revision
}

const intervalMs = 60_000

/** Timers without time: `tick` ends an interval. */
function manualTimers() {
  let [intervals, work]: [number[], TimedWork] = [[], () => undefined]
  const timers: Timers = {
    ...systemTimers,
    every: (ms, run) => {
      intervals.push(ms)
      work = run
      return () => {
        intervals = []
      }
    },
  }
  return { timers, tick: async () => void (await work()), intervals: () => intervals }
}

test('each interval compacts to the start of the one before', async () => {
  const storage = openMemoryStorage()
  const { timers, tick, intervals } = manualTimers()
  const start = await write(storage)
  const compaction = compactPeriodically({ storage, timers, intervalMs, logger: silentLogger })
  assert.deepEqual(intervals(), [intervalMs])
  const ticks: { revision: number; compacted: number }[] = []
  for (const writes of [1, 2, 0, 1]) {
    for (let count = 0; count < writes; count += 1) await write(storage)
    await tick()
    ticks.push({ revision: storage.revision - start, compacted: Math.max(0, storage.compacted - start) })
  }
  assert.deepEqual(ticks, [
    { revision: 1, compacted: 0 },
    { revision: 3, compacted: 1 },
    { revision: 3, compacted: 3 },
    { revision: 4, compacted: 3 },
  ])
  await compaction.close()
  assert.deepEqual(intervals(), [])
  await storage.close()
})

test('an interval of 0 keeps everything', async () => {
  const storage = openMemoryStorage()
  const compaction = compactPeriodically({ storage, timers: systemTimers, intervalMs: 0, logger: silentLogger })
  await write(storage)
  await compaction.close()
  assert.equal(storage.compacted, 0)
  await storage.close()
})

test('a failed compaction is retried in the next interval', async () => {
  const storage = openMemoryStorage()
  const { timers, tick } = manualTimers()
  let failures = 0
  const failing = Object.create(storage, {
    revision: { get: () => storage.revision },
    compact: {
      value: async (revision: number) => {
        if (failures < 1) {
          failures += 1
          throw new Error('no')
        }
        await storage.compact(revision)
      },
    },
  }) as Storage
  const compaction = compactPeriodically({ storage: failing, timers, intervalMs, logger: silentLogger })
  for (let count = 0; count < 3; count += 1) {
    await write(storage)
    await tick()
  }
  assert.equal(failures, 1)
  assert.ok(storage.compacted > 1)
  await compaction.close()
  await storage.close()
})

// History is kept for one to two intervals.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLogger } from '../base/logger.js'
import { keepHistory } from './history-window.js'
import { openMemoryStorage } from './memory.js'
import type { Storage } from './storage.js'

const intervalMs = 20

async function write(storage: Storage): Promise<number> {
  await storage.commit([{ key: 'k', value: Buffer.from('x'), expect: undefined }])
  return storage.revision
}

test('each interval compacts to where the one before began', async () => {
  const storage = openMemoryStorage()
  let nowMs = 1_000_000
  const clock = { now: () => nowMs }
  const start = await write(storage)
  const window = keepHistory({ storage, clock, intervalMs, logger: silentLogger })
  const ticks: { revision: number; compacted: number }[] = []
  for (const advanceMs of [intervalMs - 1, 1, intervalMs, 5, intervalMs * 3]) {
    const revision = await write(storage)
    nowMs += advanceMs
    await sleep(3 * intervalMs)
    ticks.push({ revision: revision - start, compacted: Math.max(0, storage.compacted - start) })
  }
  assert.deepEqual(ticks, [
    { revision: 1, compacted: 0 },
    { revision: 2, compacted: 0 },
    { revision: 3, compacted: 2 },
    { revision: 4, compacted: 2 },
    { revision: 5, compacted: 3 },
  ])
  assert.equal(storage.compacted, start + 3)
  await window.close()
  nowMs += intervalMs * 10
  await sleep(2 * intervalMs)
  assert.equal(storage.compacted, start + 3)
  await storage.close()
})

test('an interval of 0 keeps everything', async () => {
  const storage = openMemoryStorage()
  const window = keepHistory({ storage, clock: { now: () => 0 }, intervalMs: 0, logger: silentLogger })
  await write(storage)
  await window.close()
  assert.equal(storage.compacted, 0)
  await storage.close()
})

test('a failing compaction is tried again in the next interval', async () => {
  const storage = openMemoryStorage()
  let nowMs = 0
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
  const window = keepHistory({ storage: failing, clock: { now: () => nowMs }, intervalMs, logger: silentLogger })
  for (let tick = 0; tick < 3; tick += 1) {
    await write(storage)
    nowMs += intervalMs
    await sleep(3 * intervalMs)
  }
  assert.equal(failures, 1)
  assert.ok(storage.compacted > 1)
  await window.close()
  await storage.close()
})

// A random history of writes, compactions and restarts: the memory engine and LMDB must return the same data.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { openLmdbStorage } from '../lmdb/lmdb-storage.js'
import { openMemoryStorage } from '../memory/memory-storage.js'
import type { Write } from '../storage.js'
import { changesOf, randomNumbers, scanOf } from './random-history.fixture.js'

const steps = Number(process.env['STORAGE_HISTORY_STEPS'] ?? 150)
const collections = ['pods/a', 'pods/b', 'pods-b/a', 'nodes', 'loose'] as const

test('memory and LMDB return the same data', { timeout: 600_000 }, async (context) => {
  const seed = Number(process.env['STORAGE_HISTORY_SEED'] ?? 1)
  context.diagnostic(`STORAGE_HISTORY_SEED=${seed}`)
  const random = randomNumbers(seed)
  const pick = (below: number): number => Math.floor(random() * below)
  const folder = mkdtempSync(join(tmpdir(), 'storage-engines-'))
  const open = () => openLmdbStorage({ folder, mark: 'test', clock: systemClock, logger: silentLogger })
  const memory = openMemoryStorage()
  let lmdb = await open()

  const randomWrite = (): Write => {
    const key = `${collections[pick(collections.length)]}/${pick(40)}`
    const expect = [undefined, 0, memory.read(key)?.revision ?? 0, memory.revision][pick(4)]
    const value = pick(4) === 0 ? undefined : Buffer.alloc(pick(10) === 0 ? pick(40_000) : pick(1500), `${key}.${pick(1000)} `)
    return { key, value, expect }
  }
  const commitBoth = async (): Promise<void> => {
    const commits = Array.from({ length: 1 + pick(20) }, () => uniqueKeys(Array.from({ length: 1 + pick(3) }, randomWrite)))
    const outcomes = await Promise.all([memory, lmdb].map((storage) => Promise.all(commits.map((writes) => storage.commit(writes)))))
    assert.deepEqual(outcomes[1], outcomes[0])
  }
  const compare = (): void => {
    assert.equal(lmdb.revision, memory.revision)
    assert.equal(lmdb.compacted, memory.compacted)
    const at = memory.compacted + pick(memory.revision - memory.compacted + 1)
    const start = [`${collections[pick(5)]}/`, '', `pods/a/${pick(40)}`][pick(3)] ?? ''
    const end = [start.replace(/\/$/, '0'), '\u{10ffff}', 'pods0'][pick(3)] ?? ''
    const limit = 1 + pick(60)
    for (const query of [
      { start, end, limit },
      { start, end, limit, at },
    ]) {
      assert.deepEqual(lmdb.range(query), memory.range(query))
      assert.equal(lmdb.count(query, query.at), memory.count(query, query.at))
    }
    assert.deepEqual(scanOf(lmdb, { start, end, limit }), scanOf(memory, { start, end, limit }))
    assert.deepEqual(changesOf(lmdb, { start, end, after: at }), changesOf(memory, { start, end, after: at }))
  }

  try {
    for (let step = 0; step < steps; step += 1) {
      await commitBoth()
      compare()
      if (pick(25) === 0) {
        const revision = memory.compacted + pick(memory.revision - memory.compacted + 1)
        await Promise.all([memory.compact(revision), lmdb.compact(revision)])
      }
      if (pick(60) === 0) {
        await lmdb.close()
        lmdb = await open()
      }
    }
  } finally {
    await Promise.all([memory.close(), lmdb.close()])
    rmSync(folder, { recursive: true })
  }
})

function uniqueKeys(writes: readonly Write[]): readonly Write[] {
  return [...new Map(writes.map((write) => [write.key, write])).values()]
}

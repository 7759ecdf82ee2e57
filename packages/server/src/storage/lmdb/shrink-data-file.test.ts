// Disk space of the data file: free pages are reused, and a mostly free file is rewritten by compaction and at the next open.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import type { Storage } from '../storage.js'
import { openLmdbStorage } from './lmdb-storage.js'

describe('data file size', () => {
  let folder: string
  let storage: Storage
  const open = async () => {
    storage = await openLmdbStorage({ folder, mark: 'test', clock: systemClock, logger: silentLogger })
  }
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'storage-'))
    await open()
  })
  afterEach(async () => {
    await storage.close()
    rmSync(folder, { recursive: true })
  })

  const fileMiB = (): number => statSync(join(folder, 'data.mdb')).size / 2 ** 20
  const put = (key: string, bytes: number) => storage.commit([{ key, value: Buffer.alloc(bytes, key), expect: undefined }])
  const putLargeValues = async (mebibytes: number): Promise<void> => {
    for (let index = 0; index < mebibytes; index += 1) await put(`big/${index}`, 1 << 20)
  }
  const removeLargeValues = (mebibytes: number) =>
    Promise.all(
      Array.from({ length: mebibytes }, (_, index) => storage.commit([{ key: `big/${index}`, value: undefined, expect: undefined }])),
    )

  test('repeated updates of the same keys do not grow the file without limit', async () => {
    const sizes: number[] = []
    for (let round = 0; round < 12; round += 1) {
      await Promise.all(Array.from({ length: 300 }, (_, index) => put(`k/${index}`, 2000 + 100 * (index % 50))))
      await storage.compact(storage.revision)
      sizes.push(fileMiB())
    }
    const [early, late] = [Math.max(...sizes.slice(3, 6)), Math.max(...sizes.slice(9))]
    assert.ok(late <= early * 1.3, `from ${early} to ${late} MiB`)
  })

  test('compaction shrinks a mostly free file during reads and writes', async () => {
    await put('k/first', 100)
    const firstEntry = storage.read('k/first')
    await putLargeValues(80)
    await removeLargeValues(80)
    await storage.compact(storage.revision)
    const before = fileMiB()
    assert.ok(before > 80, `${before} MiB`)
    const seen: string[] = []
    storage.follow((changes) => seen.push(...changes.map(({ key }) => key)))
    let isDone = false
    const compacting = storage.compact(storage.revision).then(() => {
      isDone = true
    })
    let written = 0
    for (; !isDone; written += 1) {
      assert.ok((await put(`k/${written}`, 100)).ok)
      assert.deepEqual(storage.read('k/first'), firstEntry)
      assert.equal(storage.range({ start: 'k/', end: 'k0', limit: 1000 }).entries.length, Math.min(1000, written + 2))
    }
    await compacting
    assert.ok(fileMiB() < 5, `${fileMiB()} MiB`)
    assert.equal(seen.length, written)
    const { revision, compacted } = storage
    await storage.close()
    await open()
    assert.deepEqual({ revision: storage.revision, compacted: storage.compacted }, { revision, compacted })
    assert.equal(storage.count({ start: 'k/', end: 'k0' }), written + 1)
    assert.equal(storage.changes({ start: '', end: 'z', after: compacted, limit: 10_000 }).changes.length, written)
  })
})

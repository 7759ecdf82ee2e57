// A full disk: writes fail with a reason, reads continue, and writes recover with free space. Needs permission to mount a small disk.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { type Storage, StorageRefusedError, StorageUnavailableError } from '../storage.js'
import { openLmdbStorage } from './lmdb-storage.js'

const disk = mkdtempSync(join(tmpdir(), 'storage-disk-'))
const canMount = tryMount()

function tryMount(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', disk], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe('a full disk', { skip: canMount ? false : 'no permission to mount a small disk' }, () => {
  let storage: Storage
  const folder = join(disk, 'data')
  const filler = join(disk, 'filler')
  const open = () => openLmdbStorage({ folder, mark: 'full', clock: systemClock, logger: silentLogger })
  const acknowledged = new Map<string, string>()
  let written = 0

  before(async () => {
    storage = await open()
  })
  after(async () => {
    await storage.close()
    execFileSync('umount', [disk])
    rmSync(disk, { recursive: true })
  })

  const put = async (size: number): Promise<void> => {
    written += 1
    const key = `k/${written}`
    const value = `${key} `.padEnd(size, 'x')
    const outcome = await storage.commit([{ key, value: Buffer.from(value), expect: 0 }])
    assert.ok(outcome.ok)
    acknowledged.set(key, value)
  }
  const fillDisk = (): void => {
    const file = openSync(filler, 'w')
    try {
      for (;;) writeSync(file, Buffer.alloc(4096))
    } catch {
      closeSync(file)
    }
  }
  const checkReads = (): void => {
    const { entries } = storage.range({ start: 'k/', end: 'k0', limit: Number.POSITIVE_INFINITY })
    assert.deepEqual(new Map(entries.map(({ key, value }) => [key, value.toString()])), new Map([...acknowledged].toSorted(byKey)))
    assert.equal(storage.count({ start: 'k/', end: 'k0' }), acknowledged.size)
  }

  test('filled by other files: writes are rejected, reads continue, and writes recover', async () => {
    await put(1000)
    fillDisk()
    // A few writes may fit into space that was reserved before.
    await assert.rejects(async () => {
      for (let index = 0; index < 500; index += 1) await put(20_000)
    }, StorageUnavailableError)
    const { revision } = storage
    for (let index = 0; index < 5; index += 1) await assert.rejects(put(20_000), StorageUnavailableError)
    assert.equal(storage.revision, revision)
    checkReads()
    rmSync(filler)
    await put(20_000)
    checkReads()
  })

  test('filled by the data: acknowledged writes are there, also after a reopen', async () => {
    const sizes = [700, 3000, 50_000]
    await assert.rejects(async () => {
      for (;;) await Promise.all(sizes.map((size) => put(size)))
    }, StorageUnavailableError)
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => put(50_000)))
    assert.ok(results.some(({ status }) => status === 'rejected'))
    checkReads()
    await storage.close()
    storage = await open()
    checkReads()
  })

  test('a start fails with the reason, and succeeds with free space', async () => {
    await storage.close()
    fillDisk()
    await assert.rejects(open, (error) => error instanceof StorageRefusedError && /the disk is full: free disk space/.test(error.message))
    rmSync(filler)
    storage = await open()
    checkReads()
  })

  test('deletes and compaction free space', async () => {
    for (const key of [...acknowledged.keys()]) {
      const outcome = await storage.commit([{ key, value: undefined, expect: undefined }]).catch((error: unknown) => {
        assert.ok(error instanceof StorageUnavailableError)
      })
      if (!outcome) break
      acknowledged.delete(key)
    }
    await storage.compact(storage.revision)
    for (let index = 0; index < 20; index += 1) await put(20_000)
    checkReads()
  })
})

function byKey([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1
}

// A rewritten data file whose folder cannot be synced or opened: no acknowledged write is lost.

import assert from 'node:assert/strict'
import fs, { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { type Storage, StorageUnavailableError } from '../storage.js'
import { writeDraft } from './data-file.js'
import { draftPath } from './data-folder.js'
import { openLmdbStorage } from './lmdb-storage.js'
import type { Tables } from './tables.js'

describe('a rewritten data file', () => {
  let folder: string
  let storage: Storage
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'storage-'))
  })
  afterEach(() => {
    restore()
    rmSync(folder, { recursive: true })
  })

  const open = () => openLmdbStorage({ folder, mark: 'test', clock: systemClock, logger: silentLogger })
  const put = (key: string, value: Buffer | undefined) => storage.commit([{ key, value, expect: undefined }])
  const file = (): string => join(folder, 'data.mdb')
  const restore = (): void => {
    mock.restoreAll()
    syncBuiltinESMExports()
  }
  const failure = (): Error => Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })

  /** Creates a file that the next compaction rewrites. */
  const fill = async (): Promise<void> => {
    storage = await open()
    const value = Buffer.alloc(1 << 20)
    for (let i = 0; i < 80; i++) await put(`big/${i}`, value)
    await Promise.all(Array.from({ length: 80 }, (_, i) => put(`big/${i}`, undefined)))
    await storage.compact(storage.revision)
  }

  test('is written only after its folder is synced; the old file is never written', async () => {
    await fill()
    const { ino } = statSync(file())
    const { fsync } = fs
    mock.method(fs, 'fsync', (descriptor: number, callback: (error: Error | null) => void) => {
      if (fs.fstatSync(descriptor).isDirectory()) callback(failure())
      else fsync(descriptor, callback)
    })
    syncBuiltinESMExports()
    await storage.compact(storage.revision)
    assert.notEqual(statSync(file()).ino, ino, 'it was rewritten')
    const rewritten = fs.readFileSync(file())
    // Writes continue in the log, which fits the old file and its copy alike: both have the same revision.
    await put('k/acknowledged', Buffer.from('yes'))
    await assert.rejects(storage.compact(storage.revision), /EIO/)
    assert.ok(fs.readFileSync(file()).equals(rewritten), 'nothing was written to the file')
    restore()
    await storage.compact(storage.revision)
    assert.ok(!fs.readFileSync(file()).equals(rewritten))
    await storage.close()
    storage = await open()
    assert.equal(storage.read('k/acknowledged')?.value.toString(), 'yes')
    await storage.close()
  })

  test('rejects writes while it cannot be reopened', async () => {
    await fill()
    const { ino } = statSync(folder)
    const { fsync } = fs
    mock.method(fs, 'fsync', (descriptor: number, callback: (error: Error | null) => void) => {
      if (fs.fstatSync(descriptor).ino === ino) callback(failure())
      else fsync(descriptor, callback)
    })
    syncBuiltinESMExports()
    await storage.compact(storage.revision)
    await put('k/a', Buffer.from('one'))
    const { revision } = storage
    // Simulates a write that reached the disk although it was reported as failed.
    const copy = join(folder, 'copy')
    fs.mkdirSync(copy)
    for (const name of ['data.mdb', 'data.mdb.log-0', 'data.mdb.log-1']) fs.copyFileSync(join(folder, name), join(copy, name))
    const otherStorage = await openLmdbStorage({ folder: copy, mark: 'test', clock: systemClock, logger: silentLogger })
    await otherStorage.commit([{ key: 'k/failed', value: Buffer.from('yes'), expect: undefined }])
    await otherStorage.close()
    fs.renameSync(file(), `${file()}.away`)
    fs.mkdirSync(file())
    await assert.rejects(storage.compact(revision), /EIO/)
    const seen: string[] = []
    storage.follow((changes) => seen.push(...changes.map((change) => `${change.revision - revision} ${change.key}`)))
    const outcome = await put('k/a', Buffer.from('two')).catch((error: unknown) => error)
    fs.rmdirSync(file())
    fs.copyFileSync(join(copy, 'data.mdb'), file())
    restore()
    for (const until = Date.now() + 10_000; !seen.includes('1 k/failed') && Date.now() < until; )
      await new Promise((resolve) => setTimeout(resolve, 20))
    await storage.compact(revision)
    assert.ok(outcome instanceof StorageUnavailableError, 'it was refused')
    assert.deepEqual([storage.read('k/a')?.value.toString(), storage.read('k/failed')?.revision], ['one', revision + 1])
    await put('k/a', Buffer.from('three'))
    assert.deepEqual(seen, ['1 k/failed', '2 k/a'])
    await storage.close()
  })

  test('does not replace the old file if the folder cannot be opened', async () => {
    await fill()
    const { ino } = statSync(file())
    const { openSync } = fs
    mock.method(fs, 'openSync', (...args: Parameters<typeof openSync>) => {
      if (args[0] === folder) throw failure()
      return openSync(...args)
    })
    syncBuiltinESMExports()
    await storage.compact(storage.revision)
    restore()
    assert.equal(statSync(file()).ino, ino)
    await put('k/acknowledged', Buffer.from('yes'))
    await storage.close()
    storage = await open()
    assert.equal(storage.read('k/acknowledged')?.value.toString(), 'yes')
    await storage.close()
  })

  test('is never readable by other users', async () => {
    const path = join(folder, 'any')
    const seen: number[] = []
    const backup = async (copy: string): Promise<void> => {
      seen.push(statSync(dirname(copy)).mode & 0o777)
      writeFileSync(copy, 'secret', { mode: 0o644 })
    }
    await writeDraft({ root: { backup } } as unknown as Tables, path)
    assert.deepEqual([...seen, statSync(draftPath(path)).mode & 0o777], [0o700, 0o600])
    assert.deepEqual(fs.readdirSync(folder), ['any.draft'])
  })
})

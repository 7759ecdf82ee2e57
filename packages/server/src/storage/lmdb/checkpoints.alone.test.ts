// The LMDB engine between two checkpoints: writes that are only in the log and in memory (memtable), not in the data file.

import assert from 'node:assert/strict'
import fs, { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { type Storage, StorageRefusedError, StorageUnavailableError } from '../storage.js'
import { openLmdbStorage } from './lmdb-storage.js'
import { logPaths } from './write-ahead-log.js'

const everything = { start: '', end: '\u{10ffff}' }

describe('writes that are only in the log', () => {
  let folder: string
  let storage: Storage
  const opened: Storage[] = []
  const open = async (dataFolder = folder): Promise<Storage> => {
    const lmdbStorage = await openLmdbStorage({ folder: dataFolder, mark: 'test', clock: systemClock, logger: silentLogger })
    opened.push(lmdbStorage)
    return lmdbStorage
  }
  beforeEach(async () => {
    folder = join(mkdtempSync(join(tmpdir(), 'storage-log-')), 'data')
    storage = await open()
  })
  afterEach(async () => {
    mock.restoreAll()
    syncBuiltinESMExports()
    for (const lmdbStorage of opened.splice(0)) await lmdbStorage.close()
    rmSync(join(folder, '..'), { recursive: true })
  })

  const put = (key: string, value: string | undefined, options: { expect?: number; expiresAtMs?: number } = {}) =>
    storage.commit([{ key, value: value === undefined ? undefined : Buffer.from(value), expect: options.expect, ...options }])
  /** Copies the folder as a crash would leave it. */
  const crash = (): string => {
    const copy = `${folder}-${opened.length}`
    cpSync(folder, copy, { recursive: true })
    for (const name of ['owner.mdb', 'owner.mdb-lock', 'data.mdb-lock']) rmSync(join(copy, name), { force: true })
    return copy
  }
  const openAfterCrash = (): Promise<Storage> => open(crash())
  const contentsOf = (source: Storage) => ({
    revision: source.revision,
    entries: source.range({ ...everything, limit: 1000 }).entries.map(({ key, revision, value }) => `${key} ${revision} ${value}`),
    changes: source
      .changes({ ...everything, after: source.compacted, limit: 1000 })
      .changes.map(({ key, revision, value, previous }) => `${key} ${revision} ${value} after ${previous?.revision} ${previous?.value}`),
    counts: ['k', 'm', 'none'].map((name) => source.count({ start: `${name}/`, end: `${name}0` })),
    rangeCount: source.count({ start: 'k/b', end: 'k/z' }),
    olderEntries: source
      .range({ ...everything, limit: 1000, at: source.revision - 3 })
      .entries.map(({ key, revision }) => `${key} ${revision}`),
  })
  const writeHistory = async (): Promise<void> => {
    for (const key of ['k/c', 'k/a', 'm/x', 'k/b']) await put(key, `${key} first`)
    await storage.compact(1)
    await put('k/a', 'again')
    await put('k/b', undefined)
    await put('k/d', 'new')
    await put('k/d', 'newer')
    await storage.commit([
      { key: 'm/y', value: Buffer.from('y'), expect: 0 },
      { key: 'm/x', value: undefined, expect: undefined },
    ])
  }

  test('are read before and after the checkpoint', async () => {
    await writeHistory()
    const before = contentsOf(storage)
    assert.deepEqual(
      before.entries.map((entry) => entry.split(' ')[0]),
      ['k/a', 'k/c', 'k/d', 'm/y'],
    )
    assert.deepEqual(before.counts, [3, 1, 0])
    assert.equal(before.rangeCount, 2)
    const scanned: string[] = []
    storage.scan(everything, ({ key, bytes, start, end }) => scanned.push(`${key} ${Buffer.from(bytes.subarray(start, end))}`) < 3)
    assert.deepEqual(scanned, ['k/a again', 'k/c k/c first', 'k/d newer'])
    await storage.compact(1)
    assert.deepEqual(contentsOf(storage), before)
  })

  test('survive a crash, and a second one after the checkpoint', async () => {
    await writeHistory()
    const before = contentsOf(storage)
    const first = crash()
    const recovered = await open(first)
    assert.deepEqual(contentsOf(recovered), before)
    const second = `${first}-again`
    cpSync(first, second, { recursive: true })
    for (const name of ['owner.mdb', 'owner.mdb-lock', 'data.mdb-lock']) rmSync(join(second, name), { force: true })
    assert.deepEqual(contentsOf(await open(second)), before)
  })

  test('are in the data file before the log is overwritten, even if keys expire at once', async () => {
    await put('k/first', 'value')
    await put('k/soon', 'value', { expiresAtMs: Date.now() + 500 })
    await put('k/last', 'value')
    const copy = crash()
    // The expiry controller reads the clock first.
    let isRead = false
    const now = (): number => {
      if (!isRead) cpSync(join(copy, 'data.mdb'), join(`${folder}-file`, 'data.mdb'))
      isRead = true
      return Date.now() + 1000
    }
    fs.mkdirSync(`${folder}-file`)
    const recovered = await openLmdbStorage({ folder: copy, mark: 'test', clock: { ...systemClock, now }, logger: silentLogger })
    opened.push(recovered)
    for (const until = Date.now() + 20_000; recovered.read('k/soon') && Date.now() < until; )
      await new Promise((resolve) => setTimeout(resolve, 20))
    const keysOf = (source: Storage) => source.range({ ...everything, limit: 10 }).entries.map(({ key }) => key)
    assert.deepEqual(keysOf(recovered), ['k/first', 'k/last'])
    const withoutLog = await open(`${folder}-file`)
    assert.ok(withoutLog.read('k/first') && withoutLog.read('k/last'), 'the log was still needed')
  })

  test('with a gap in the log, the folder is refused', async () => {
    for (const value of ['first', 'second', 'third']) await put('k/a', value)
    const copy = crash()
    // Records alternate between the two files.
    const paths = logPaths(join(copy, 'data.mdb'))
    const [first, last] = ['first', 'third'].map((text) => paths.find((path) => fs.readFileSync(path).includes(text)) as string)
    assert.notEqual(first, last)
    fs.truncateSync(first as string)
    await assert.rejects(open(copy), (error) => {
      return error instanceof StorageRefusedError && /damaged, revisions \d+ to \d+ are missing from its log: restore/.test(error.message)
    })
  })

  test('keys expire by their newest write', async () => {
    const soon = Date.now() + 300
    await put('k/old', 'stored', { expiresAtMs: soon })
    await put('k/kept', 'stored', { expiresAtMs: soon })
    await storage.compact(1)
    await put('k/new', 'in memory', { expiresAtMs: soon })
    await put('k/kept', 'without an expiry')
    for (const until = Date.now() + 20_000; storage.count({ start: 'k/', end: 'k0' }) > 1 && Date.now() < until; ) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    assert.deepEqual(
      storage.range({ ...everything, limit: 10 }).entries.map(({ key }) => key),
      ['k/kept'],
    )
  })

  test('a write that cannot be logged is rejected and has no effect', async () => {
    await put('k/a', 'one')
    const { revision } = storage
    mock.method(fs, 'write', (...args: readonly unknown[]) => (args.at(-1) as (error: Error) => void)(new Error('EIO: i/o error')))
    syncBuiltinESMExports()
    await assert.rejects(put('k/a', 'two'), StorageUnavailableError)
    await assert.rejects(put('k/b', 'two'), /the write could not be stored: EIO/)
    assert.deepEqual([storage.revision, storage.read('k/a')?.value.toString()], [revision, 'one'])
    mock.restoreAll()
    syncBuiltinESMExports()
    await put('k/c', 'three')
    assert.equal(storage.revision, revision + 1)
    assert.deepEqual(contentsOf(await openAfterCrash()), contentsOf(storage))
  })

  test('log files are synced by every open, and closed if the open fails', async () => {
    const copy = crash()
    for (const path of logPaths(join(copy, 'data.mdb'))) rmSync(path)
    const { fsync, openSync } = fs
    const descriptors = (): number => (process.platform === 'linux' ? fs.readdirSync('/proc/self/fd').length : 0)
    const isFolder = (descriptor: number): boolean => fs.fstatSync(descriptor).isDirectory()
    const failure = new Error('EIO: i/o error')
    const openFails = async (title: string, mocked: () => void): Promise<void> => {
      const before = descriptors()
      mocked()
      syncBuiltinESMExports()
      await assert.rejects(open(copy), /EIO/, title)
      mock.restoreAll()
      syncBuiltinESMExports()
      assert.equal(descriptors(), before, title)
    }
    await openFails('the folder cannot be synced', () =>
      mock.method(fs, 'fsync', (descriptor: number, done: (error: Error | null) => void) =>
        isFolder(descriptor) ? done(failure) : fsync(descriptor, done),
      ),
    )
    await openFails('the second file cannot be opened', () =>
      mock.method(fs, 'openSync', (...args: Parameters<typeof openSync>) => {
        if (String(args[0]).endsWith('.log-1')) throw failure
        return openSync(...args)
      }),
    )
    let synced = 0
    mock.method(fs, 'fsync', (descriptor: number, done: (error: Error | null) => void) => {
      if (isFolder(descriptor)) synced += 1
      fsync(descriptor, done)
    })
    syncBuiltinESMExports()
    await open(copy)
    assert.equal(synced, 1)
  })

  test('writes are rejected if the memtable is full and the data file cannot be written', async () => {
    const { statfsSync } = fs
    let isFull = false
    // The log has space; the data file has none.
    mock.method(fs, 'statfsSync', (...args: Parameters<typeof statfsSync>) => {
      if (isFull) throw new Error('EIO: i/o error')
      return statfsSync(...args)
    })
    syncBuiltinESMExports()
    await put('k/a', 'one')
    isFull = true
    await assert.rejects(async () => {
      for (let i = 0; i < 3000; i++) await put(`k/${i}`, 'value')
    }, StorageUnavailableError)
    const entries = storage.range({ ...everything, limit: 5000 }).entries.length
    isFull = false
    await put('k/again', 'value')
    assert.equal(storage.range({ ...everything, limit: 5000 }).entries.length, entries + 1)
    await storage.compact(1)
    assert.equal(storage.range({ ...everything, limit: 5000 }).entries.length, entries + 1)
  })
})

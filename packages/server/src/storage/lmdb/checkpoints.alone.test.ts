// The embedded engine between two checkpoints, when part of what it holds is in its log and in memory only.

import assert from 'node:assert/strict'
import fs, { cpSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import { systemClock } from '../base/clock.js'
import { silentLogger } from '../base/logger.js'
import { openLmdbStorage } from './lmdb.js'
import { type Storage, StorageRefusedError, StorageUnavailableError } from './storage.js'
import { logPaths } from './write-ahead-log.js'

const everything = { start: '', end: '\u{10ffff}' }

describe('what is in the log only', () => {
  let folder: string
  let storage: Storage
  const opened: Storage[] = []
  const open = async (where = folder): Promise<Storage> => {
    const made = await openLmdbStorage({ folder: where, mark: 'test', clock: systemClock, logger: silentLogger })
    opened.push(made)
    return made
  }
  beforeEach(async () => {
    folder = join(mkdtempSync(join(tmpdir(), 'storage-log-')), 'data')
    storage = await open()
  })
  afterEach(async () => {
    mock.restoreAll()
    syncBuiltinESMExports()
    for (const made of opened.splice(0)) await made.close()
    rmSync(join(folder, '..'), { recursive: true })
  })

  const put = (key: string, value: string | undefined, more: { expect?: number; expiresAtMs?: number } = {}) =>
    storage.commit([{ key, value: value === undefined ? undefined : Buffer.from(value), expect: more.expect, ...more }])
  /** As a crash would leave it. */
  const crash = (): string => {
    const copy = `${folder}-${opened.length}`
    cpSync(folder, copy, { recursive: true })
    for (const name of ['owner.mdb', 'owner.mdb-lock', 'data.mdb-lock']) rmSync(join(copy, name), { force: true })
    return copy
  }
  const crashed = (): Promise<Storage> => open(crash())
  const shown = (of: Storage) => ({
    revision: of.revision,
    entries: of.range({ ...everything, limit: 1000 }).entries.map(({ key, revision, value }) => `${key} ${revision} ${value}`),
    changes: of
      .changes({ ...everything, after: of.compacted, limit: 1000 })
      .changes.map(({ key, revision, value, previous }) => `${key} ${revision} ${value} after ${previous?.revision} ${previous?.value}`),
    counts: ['k', 'm', 'none'].map((name) => of.count({ start: `${name}/`, end: `${name}0` })),
    partly: of.count({ start: 'k/b', end: 'k/z' }),
    past: of.range({ ...everything, limit: 1000, at: of.revision - 3 }).entries.map(({ key, revision }) => `${key} ${revision}`),
  })
  const story = async (): Promise<void> => {
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

  test('is read as if it were in the data file, before and after it gets there', async () => {
    await story()
    const before = shown(storage)
    assert.deepEqual(
      before.entries.map((entry) => entry.split(' ')[0]),
      ['k/a', 'k/c', 'k/d', 'm/y'],
    )
    assert.deepEqual(before.counts, [3, 1, 0])
    assert.equal(before.partly, 2)
    const scanned: string[] = []
    storage.scan(everything, ({ key, bytes, start, end }) => scanned.push(`${key} ${Buffer.from(bytes.subarray(start, end))}`) < 3)
    assert.deepEqual(scanned, ['k/a again', 'k/c k/c first', 'k/d newer'])
    await storage.compact(1)
    assert.deepEqual(shown(storage), before)
  })

  test('survives a crash, all of it, and another one when the data file has it and the log was not begun anew', async () => {
    await story()
    const before = shown(storage)
    const first = crash()
    const recovered = await open(first)
    assert.deepEqual(shown(recovered), before)
    const second = `${first}-again`
    cpSync(first, second, { recursive: true })
    for (const name of ['owner.mdb', 'owner.mdb-lock', 'data.mdb-lock']) rmSync(join(second, name), { force: true })
    assert.deepEqual(shown(await open(second)), before)
  })

  test('is in the data file before anything is written over it, also where keys expire at once', async () => {
    await put('k/first', 'value')
    await put('k/soon', 'value', { expiresAtMs: Date.now() + 500 })
    await put('k/last', 'value')
    const copy = crash()
    // Whoever deletes what has expired asks for the time first.
    let isAsked = false
    const now = (): number => {
      if (!isAsked) cpSync(join(copy, 'data.mdb'), join(`${folder}-file`, 'data.mdb'))
      isAsked = true
      return Date.now() + 1000
    }
    fs.mkdirSync(`${folder}-file`)
    const recovered = await openLmdbStorage({ folder: copy, mark: 'test', clock: { ...systemClock, now }, logger: silentLogger })
    opened.push(recovered)
    for (const until = Date.now() + 20_000; recovered.read('k/soon') && Date.now() < until; )
      await new Promise((resolve) => setTimeout(resolve, 20))
    const keysOf = (of: Storage) => of.range({ ...everything, limit: 10 }).entries.map(({ key }) => key)
    assert.deepEqual(keysOf(recovered), ['k/first', 'k/last'])
    const withoutLog = await open(`${folder}-file`)
    assert.ok(withoutLog.read('k/first') && withoutLog.read('k/last'), 'the log was still needed')
  })

  test('outlasts the end of its data file’s turn: it comes there by itself', async () => {
    const size = (): number => statSync(join(folder, 'data.mdb')).mtimeMs
    const before = size()
    await put('k/a', 'one')
    for (const until = Date.now() + 20_000; size() === before && Date.now() < until; )
      await new Promise((resolve) => setTimeout(resolve, 50))
    assert.notEqual(size(), before)
  })

  test('comes into the data file with many others, not with the few that came while the last ones did', async () => {
    // The number of the last transaction, in one of the two headers of the file.
    const transactions = (): number => {
      const bytes = fs.readFileSync(join(folder, 'data.mdb'))
      return Math.max(bytes.readUInt32LE(152), bytes.readUInt32LE(bytes.readUInt32LE(48) + 152))
    }
    const before = transactions()
    const beganMs = performance.now()
    for (let i = 0; i < 2560; i++) await put(`k/${i % 700}`, 'value')
    // And those for which a second has passed.
    const most = 11 + Math.ceil((performance.now() - beganMs) / 1000)
    assert.ok(transactions() - before <= most, `${transactions() - before} transactions, not ${most}`)
  })

  test('is refused when a part of it is missing', async () => {
    for (const value of ['first', 'second', 'third']) await put('k/a', value)
    const copy = crash()
    // Records follow one another in the two files.
    const paths = logPaths(join(copy, 'data.mdb'))
    const [first, last] = ['first', 'third'].map((text) => paths.find((path) => fs.readFileSync(path).includes(text)) as string)
    assert.notEqual(first, last)
    fs.truncateSync(first as string)
    await assert.rejects(open(copy), (error) => {
      return error instanceof StorageRefusedError && /damaged, revisions \d+ to \d+ are missing from its log: restore/.test(error.message)
    })
  })

  test('keys expire from there, and are not taken for what the data file says', async () => {
    const soon = Date.now() + 300
    await put('k/old', 'stored', { expiresAtMs: soon })
    await put('k/kept', 'stored', { expiresAtMs: soon })
    await storage.compact(1)
    await put('k/new', 'in memory', { expiresAtMs: soon })
    await put('k/kept', 'without an end')
    for (const until = Date.now() + 20_000; storage.count({ start: 'k/', end: 'k0' }) > 1 && Date.now() < until; ) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    assert.deepEqual(
      storage.range({ ...everything, limit: 10 }).entries.map(({ key }) => key),
      ['k/kept'],
    )
  })

  test('a write that cannot be logged is refused and leaves nothing behind', async () => {
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
    assert.deepEqual(shown(await crashed()), shown(storage))
  })

  test('its files last once the storage is open, whoever made them, and are closed where it cannot be opened', async () => {
    const copy = crash()
    for (const path of logPaths(join(copy, 'data.mdb'))) rmSync(path)
    const { fsync, openSync } = fs
    const descriptors = (): number => (process.platform === 'linux' ? fs.readdirSync('/proc/self/fd').length : 0)
    const isFolder = (descriptor: number): boolean => fs.fstatSync(descriptor).isDirectory()
    const failure = new Error('EIO: i/o error')
    const fails = async (what: string, mocked: () => void): Promise<void> => {
      const before = descriptors()
      mocked()
      syncBuiltinESMExports()
      await assert.rejects(open(copy), /EIO/, what)
      mock.restoreAll()
      syncBuiltinESMExports()
      assert.equal(descriptors(), before, what)
    }
    await fails('the folder cannot be synced', () =>
      mock.method(fs, 'fsync', (descriptor: number, done: (error: Error | null) => void) =>
        isFolder(descriptor) ? done(failure) : fsync(descriptor, done),
      ),
    )
    await fails('the second file cannot be opened', () =>
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

  test('writes are refused, and not held, when memory is full and the data file cannot be written', async () => {
    const { statfsSync } = fs
    let isFull = false
    // The batch that is logged sees room; what is to be written to the data file does not.
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

// Data folders: creation, locks, refused folders (foreign, damaged, not writable) and their messages.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { open } from 'lmdb'
import { type Storage, StorageRefusedError } from '../storage.js'
import { openLmdbStorage } from './lmdb-storage.js'

const openFolder = (folder: string, mark = 'test'): Promise<Storage> =>
  openLmdbStorage({ folder, mark, clock: systemClock, logger: silentLogger })

/** Child process: opens the folder, prints a line, and stays. */
async function keepFolderOpen(folder: string): Promise<void> {
  await openFolder(folder)
  process.stdout.write('opened\n')
  setInterval(() => undefined, 1000)
}

const holderArgument = '--hold-folder'
const holderFolder = process.argv[process.argv.indexOf(holderArgument) + 1]
if (process.argv.includes(holderArgument) && holderFolder) await keepFolderOpen(holderFolder)
else describe('data folder', suite)

function suite(): void {
  let folder: string
  beforeEach(() => {
    folder = join(mkdtempSync(join(tmpdir(), 'storage-')), 'a', 'data')
  })
  afterEach(() => rmSync(join(folder, '..', '..'), { recursive: true }))

  const assertRefused = (expected: RegExp, mark?: string) =>
    assert.rejects(openFolder(folder, mark), (error: unknown) => {
      assert.ok(error instanceof StorageRefusedError, String(error))
      assert.match(error.message, expected)
      assert.ok(error.message.includes(folder), 'names the folder')
      return true
    })

  /** A folder with 300 entries and some history. */
  const fillFolder = async (): Promise<void> => {
    const storage = await openFolder(folder)
    for (let round = 0; round < 3; round += 1) {
      const keys = Array.from({ length: 300 }, (_, index) => `k/${index}`)
      await Promise.all(keys.map((key) => storage.commit([{ key, value: Buffer.alloc(700 + round * 1000, key), expect: undefined }])))
    }
    await storage.close()
  }
  const dataPath = (): string => join(folder, 'data.mdb')
  const checkComplete = async (): Promise<void> => {
    const storage = await openFolder(folder)
    assert.equal(storage.range({ start: '', end: 'z', limit: 1000 }).entries.length, 300)
    assert.equal(storage.changes({ start: '', end: 'z', after: 0, limit: 2000 }).changes.length, 900)
    await storage.close()
  }

  test('a missing folder is created with its parents', async () => {
    const storage = await openFolder(folder)
    await storage.close()
    assert.ok(existsSync(dataPath()))
    assert.deepEqual(readdirSync(folder).toSorted(), [
      'data.mdb',
      'data.mdb-lock',
      'data.mdb.closed',
      'data.mdb.log-0',
      'data.mdb.log-1',
      'owner.mdb',
      'owner.mdb-lock',
    ])
  })

  test('a second open in the same process is refused until the first is closed', async () => {
    const first = await openFolder(folder)
    await assertRefused(new RegExp(`in use by process ${process.pid}: stop that process or choose another folder`))
    assert.ok((await first.commit([{ key: 'a', value: Buffer.from('1'), expect: 0 }])).ok)
    await first.close()
    const second = await openFolder(folder)
    assert.equal(second.read('a')?.value.toString(), '1')
    await second.close()
  })

  test('a second process is refused with the pid of the owner; a killed owner leaves no lock', async () => {
    const holder = spawn(process.execPath, [import.meta.filename, holderArgument, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(holder.stdout, 'data')
    await assertRefused(new RegExp(`in use by process ${holder.pid}:`))
    await assertRefused(new RegExp(`in use by process ${holder.pid}:`))
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    const storage = await openFolder(folder)
    await storage.close()
  })

  test('of many processes that start at once exactly one gets the folder', async () => {
    const holders = Array.from({ length: 4 }, () =>
      spawn(process.execPath, [import.meta.filename, holderArgument, folder], { stdio: ['ignore', 'pipe', 'ignore'] }),
    )
    const results = await Promise.all(
      holders.map((holder) => Promise.race([once(holder.stdout, 'data').then(() => 'opened'), once(holder, 'exit').then(() => 'refused')])),
    )
    for (const holder of holders) holder.kill('SIGKILL')
    assert.deepEqual(results.toSorted(), ['opened', 'refused', 'refused', 'refused'])
  })

  test('storages in different folders are independent', async () => {
    const other = `${folder}-2`
    const storages = [await openFolder(folder), await openFolder(other)]
    for (const [index, storage] of storages.entries()) {
      await storage.commit([{ key: `k/${index}`, value: Buffer.from('x'), expect: 0 }])
    }
    for (const [index, storage] of storages.entries()) {
      const keys = storage.range({ start: '', end: 'z', limit: 9 }).entries.map(({ key }) => key)
      assert.deepEqual(keys, [`k/${index}`])
    }
    for (const storage of storages) await storage.close()
  })

  test('a folder with foreign files is refused and unchanged', async () => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'notes.txt'), 'mine')
    await assertRefused(/holds no data of this server but notes\.txt: choose an empty folder/)
    assert.deepEqual(readdirSync(folder), ['notes.txt'])
  })

  test('foreign files that are added later are ignored', async () => {
    await fillFolder()
    writeFileSync(join(folder, 'notes.txt'), 'mine')
    await checkComplete()
  })

  test('leftover files of a crash are removed', async () => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'data.mdb.draft'), 'half')
    const storage = await openFolder(folder)
    await storage.close()
    assert.ok(!existsSync(join(folder, 'data.mdb.draft')))
  })

  test('a folder of another identity (mark) is refused', async () => {
    await fillFolder()
    await assertRefused(/belongs to 'test', not to 'other'/, 'other')
    await checkComplete()
  })

  test('a foreign LMDB file is refused and unchanged', async () => {
    mkdirSync(folder, { recursive: true })
    const foreign = open({ path: dataPath(), noSubdir: true, overlappingSync: false })
    await foreign.put('theirs', 'value')
    await foreign.close()
    const before = readFileSync(dataPath())
    await assertRefused(/is not one of this server/)
    assert.ok(readFileSync(dataPath()).equals(before))
  })

  test('an unknown format is refused', async () => {
    await fillFolder()
    const file = open({ path: dataPath(), noSubdir: true, overlappingSync: false })
    await file.openDB('meta', { encoding: 'binary', keyEncoding: 'binary' }).put(Buffer.from('format'), Buffer.from('1'))
    await file.close()
    await assertRefused(/has a format that this server does not know \(1, not 4\): use the version of the server that wrote it/)
  })

  test('a folder of the format without a log is upgraded', async () => {
    await fillFolder()
    const file = open({ path: dataPath(), noSubdir: true, overlappingSync: false })
    const meta = file.openDB('meta', { encoding: 'binary', keyEncoding: 'binary' })
    await meta.put(Buffer.from('format'), Buffer.from('3'))
    await meta.remove(Buffer.from('log'))
    await file.close()
    for (const name of ['data.mdb.log-0', 'data.mdb.log-1']) rmSync(join(folder, name))
    await checkComplete()
    const again = open({ path: dataPath(), noSubdir: true, overlappingSync: false })
    const format = again.openDB<Buffer, Buffer>('meta', { encoding: 'binary', keyEncoding: 'binary' }).get(Buffer.from('format'))
    assert.equal(format?.toString(), '4')
    await again.close()
    await checkComplete()
  })

  describe('damage', () => {
    /** Returns the damaged file, or the length to truncate it to. */
    const rows: readonly { name: string; damage: (bytes: Buffer) => Buffer | number }[] = [
      { name: 'empty', damage: () => 0 },
      { name: 'truncated within the headers', damage: () => 5000 },
      { name: 'truncated in the middle', damage: (bytes) => bytes.length >> 1 },
      { name: 'not a data file', damage: () => Buffer.from('not a data file at all\n'.repeat(1000)) },
      { name: 'zeros', damage: (bytes) => bytes.fill(0) },
      { name: 'first header', damage: (bytes) => flipped(bytes, 16, 64) },
      { name: 'second header', damage: (bytes) => flipped(bytes, 4096 + 16, 64) },
      { name: 'roots in both headers', damage: (bytes) => flipped(flipped(bytes, 136, 8), 4096 + 136, 8) },
      { name: 'all pages but the headers', damage: (bytes) => flipped(bytes, 8192, bytes.length - 8192) },
      { name: 'a page written over another', damage: (bytes) => withoutRoot(bytes) },
    ]
    for (const { name, damage } of rows) {
      test(name, async () => {
        await fillFolder()
        const backup = `${folder}-backup`
        cpSync(folder, backup, { recursive: true })
        const result = damage(readFileSync(dataPath()))
        if (typeof result === 'number') truncateSync(dataPath(), result)
        else writeFileSync(dataPath(), result)
        const damaged = readFileSync(dataPath())
        await assertRefused(/is damaged, .+: restore the folder from a backup or choose an empty one$/)
        assert.ok(readFileSync(dataPath()).equals(damaged), 'nothing is written to a damaged file')
        cpSync(backup, folder, { recursive: true })
        await checkComplete()
      })
    }

    const harmless: readonly { name: string; change: (path: string, bytes: Buffer) => void }[] = [
      { name: 'space after the last page', change: (path, bytes) => truncateSync(path, bytes.length + 100_000) },
      { name: 'free pages that were never written', change: (path, bytes) => writeFileSync(path, withMorePages(bytes, 3)) },
    ]
    for (const { name, change } of harmless) {
      test(`harmless: ${name}`, async () => {
        await fillFolder()
        change(dataPath(), readFileSync(dataPath()))
        await checkComplete()
      })
    }
  })

  describe('folders that cannot be written', () => {
    const rows = [
      { name: 'below a file', path: () => join(fileIn(folder), 'data') },
      { name: 'a file', path: () => fileIn(folder) },
      { name: 'in a file system without files', path: () => '/proc/storage-test' },
    ]
    for (const { name, path } of rows) {
      test(name, { skip: process.platform !== 'linux' && name.includes('file system') }, async () => {
        const original = folder
        mkdirSync(folder, { recursive: true })
        folder = path()
        await assertRefused(/cannot be used, .+: make it a writable folder or choose another/)
        folder = original
      })
    }
  })
}

function fileIn(folder: string): string {
  const path = join(folder, 'a-file')
  writeFileSync(path, '')
  return path
}

/** Increases the page count in the headers. */
function withMorePages(bytes: Buffer, pages: number): Buffer {
  for (const header of [0, 4096]) bytes.writeUInt32LE(bytes.readUInt32LE(header + 144) + pages, header + 144)
  return bytes
}

function flipped(bytes: Buffer, from: number, count: number): Buffer {
  for (let index = from; index < from + count; index += 1) bytes[index] = (bytes[index] ?? 0) ^ 0xff
  return bytes
}

/** Overwrites the root page of the tables with another page. */
function withoutRoot(bytes: Buffer): Buffer {
  const newest = bytes.readBigUInt64LE(152) > bytes.readBigUInt64LE(4096 + 152) ? 0 : 4096
  const root = Number(bytes.readBigUInt64LE(newest + 136))
  bytes.copy(bytes, root * 4096, 2 * 4096, 3 * 4096)
  return bytes
}

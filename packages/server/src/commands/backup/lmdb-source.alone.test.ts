// Snapshots of an embedded store while its server writes.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { cpSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { openLmdbStorage } from '../../storage/lmdb/lmdb-storage.js'
import type { Storage } from '../../storage/storage.js'
import { openLmdbSource } from './lmdb-source.js'

const moduleUrl = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href)

/** Opens the folder as a server does, then closes it. */
const serverScript = `import { openLmdbStorage } from ${moduleUrl('../../storage/lmdb/lmdb-storage.js')}
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  const storage = await openLmdbStorage({ folder: process.argv[1], mark: 'test', clock: { now: () => Date.now() }, logger })
  await storage.close()`

/** Reads a page, reports it, and reads the others when its input ends. */
const readerScript = `import { once } from 'node:events'
  import { openLmdbSource } from ${moduleUrl('./lmdb-source.js')}
  const source = await openLmdbSource({ folder: process.argv[1], exclusive: false })
  const values = []
  for await (const page of source.pages()) {
    if (values.length === 0) {
      process.stdout.write('reading ')
      process.stdin.resume()
      await once(process.stdin, 'end')
    }
    for (const { value } of page) values.push(value.toString('latin1', 0, 1))
  }
  await source.close()
  process.stdout.write(values.length + ' ' + [...new Set(values)].join())`

describe('a data folder in use', () => {
  let folder: string
  let storage: Storage
  beforeEach(async () => {
    folder = join(mkdtempSync(join(tmpdir(), 'source-')), 'store')
    storage = await openLmdbStorage({ folder, mark: 'test', clock: systemClock, logger: silentLogger })
  })
  afterEach(async () => {
    mock.restoreAll()
    syncBuiltinESMExports()
    await storage.close()
    rmSync(join(folder, '..'), { recursive: true })
  })
  const put = (key: string, value: Buffer | undefined) => storage.commit([{ key, value, expect: undefined }])
  const putMany = (count: number, value: (index: number) => Buffer | undefined) =>
    Promise.all(Array.from({ length: count }, (_, index) => put(`k/${index}`, value(index))))

  test('entries that are checkpointed between both reads are not missed', async () => {
    for (const key of ['k/a', 'k/b', 'k/c']) await put(key, Buffer.from(key))
    const copy = `${folder}-copy`
    cpSync(folder, copy, { recursive: true })
    for (const name of ['owner.mdb', 'owner.mdb-lock', 'owner.json', 'data.mdb-lock']) rmSync(join(copy, name), { force: true })
    const { readFileSync } = fs
    let isFirst = true
    mock.method(fs, 'readFileSync', (...args: Parameters<typeof readFileSync>) => {
      if (isFirst && String(args[0]).includes('.log-')) {
        isFirst = false
        execFileSync(process.execPath, ['--input-type=module', '-e', serverScript, '--', copy], { timeout: 60_000 })
      }
      return readFileSync(...args)
    })
    syncBuiltinESMExports()
    const source = await openLmdbSource({ folder: copy, exclusive: false })
    const keys: string[] = []
    for await (const page of source.pages()) keys.push(...page.map(({ key }) => key))
    await source.close()
    assert.deepEqual([source.revision, keys], [storage.revision, ['k/a', 'k/b', 'k/c']])
    assert.ok(!isFirst)
  })

  test('a snapshot stays the same while the data file is rewritten', { timeout: 120_000 }, async () => {
    const inode = (): number => statSync(join(folder, 'data.mdb')).ino
    const before = inode()
    for (let i = 0; i < 80; i++) await put(`k/${i}`, Buffer.alloc(1 << 20))
    await putMany(80, () => undefined)
    for (let i = 0; i < 2; i++) await storage.compact(storage.revision)
    assert.notEqual(inode(), before, 'it was rewritten')
    await putMany(3000, () => Buffer.alloc(1000, 'a'))
    await storage.compact(storage.revision)
    const child = spawn(process.execPath, ['--input-type=module', '-e', readerScript, '--', folder], { stdio: ['pipe', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (text) => {
      output += text
    })
    const ended = once(child, 'close')
    await once(child.stdout, 'data')
    for (const value of ['b', 'c', 'd', 'e', 'f', 'g']) {
      await putMany(3000, () => Buffer.alloc(1000, value))
      await storage.compact(storage.revision)
    }
    child.stdin.end()
    await ended
    assert.equal(output, 'reading 3000 a')
  })
})

// Backup, restore and migrate of the embedded store; packages/server/test/etcd has those of etcd.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { openLmdbStorage } from '../../storage/lmdb/lmdb-storage.js'
import { CompactedError, type Storage } from '../../storage/storage.js'
import type { BackupCommand } from '../subcommands.js'
import { runBackupCommand } from './backup-command.js'

const folder = mkdtempSync(join(tmpdir(), 'backup-test-'))
after(() => rmSync(folder, { recursive: true }))

let folderCount = 0
const newPath = (): string => join(folder, String(++folderCount))

const openStore = (dataDir: string): Promise<Storage> =>
  openLmdbStorage({ folder: join(dataDir, 'store'), mark: 'test', clock: systemClock, logger: silentLogger })

async function run(command: BackupCommand, ...args: readonly string[]) {
  let stdout = ''
  let stderr = ''
  const code = await runBackupCommand(command, args, {
    print: (text) => {
      stdout += text
    },
    printError: (text) => {
      // Progress, which only a slow machine prints.
      if (!/^\w+: copying, /.test(text)) stderr += text
    },
  })
  return { code, stdout, stderr }
}

const everything = { start: '', end: '\u{10ffff}', limit: Number.POSITIVE_INFINITY }

async function fill(storage: Storage, count: number): Promise<void> {
  const keys = Array.from({ length: count }, (_, index) => `k/n${index % 7}/${index}`)
  await Promise.all(keys.map((key) => storage.commit([{ key, value: Buffer.from(key.repeat(5)), expect: 0 }])))
  await storage.commit([{ key: 'k/n0/0', value: undefined, expect: undefined }])
  await storage.commit([{ key: 'leer', value: Buffer.alloc(0), expect: 0 }])
  await storage.commit([{ key: 'groß/😀', value: Buffer.alloc(3_000_000, 'x'), expect: 0 }])
  await storage.commit([{ key: 'k/later', value: Buffer.from('x'), expect: 0, expiresAtMs: Date.now() + 3_600_000 }])
}

async function newStore(count = 2500): Promise<string> {
  const dataDir = newPath()
  const storage = await openStore(dataDir)
  await fill(storage, count)
  await storage.close()
  return dataDir
}

describe('backup and restore', () => {
  test('a restored store has all entries, and higher revisions than the backup', async () => {
    const [dataDir, file, restored] = [await newStore(), newPath(), newPath()]
    const backup = await run('backup', `--from=${dataDir}`, `--to=${file}`)
    assert.equal(backup.code, 0)
    // Progress only.
    assert.match(backup.stderr, /^(?:backup: (?:copying|checking), .*\n)*$/)
    assert.match(backup.stdout, /^backup: 2502 objects, 3\.1 MB, checksum [0-9a-f]{64}\n$/)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const restore = await run('restore', `--from=${file}`, `--to=${restored}`)
    assert.match(restore.stderr, /^(?:restore: (?:copying|checking), .*\n)*$/)
    assert.equal(restore.stdout.replace('restore', 'backup'), backup.stdout)
    const [original, copy] = [await openStore(dataDir), await openStore(restored)]
    assert.deepEqual(copy.range(everything), original.range(everything))
    assert.equal(copy.count({ start: 'k/', end: 'k0' }), original.count({ start: 'k/', end: 'k0' }))
    assert.ok(copy.revision > original.revision)
    assert.throws(() => copy.changes({ ...everything, after: original.revision, limit: 1 }), CompactedError)
    const next = await copy.commit([{ key: 'k/new', value: Buffer.from('x'), expect: 0 }])
    assert.ok(next.ok && next.revision > original.revision)
    await Promise.all([original.close(), copy.close()])
  })

  test('server registrations and expired entries are not restored', async () => {
    const [dataDir, file, restored] = [newPath(), newPath(), newPath()]
    const storage = await openStore(dataDir)
    const put = (key: string, expiresAtMs: number): Promise<unknown> =>
      storage.commit([{ key, value: Buffer.from('x'), expect: 0, expiresAtMs }])
    await put('servers/one', Date.now() + 3_600_000)
    await put('events/old', Date.now() + 1)
    await put('events/new', Date.now() + 3_600_000)
    await storage.close()
    await setTimeout(2)
    assert.match((await run('backup', `--from=${dataDir}`, `--to=${file}`)).stdout, /^backup: 1 objects/)
    assert.equal((await run('restore', `--from=${file}`, `--to=${restored}`)).code, 0)
    const copy = await openStore(restored)
    assert.deepEqual(
      copy.range(everything).entries.map(({ key }) => key),
      ['events/new'],
    )
    await copy.close()
  })

  test('the backup of a store in use is a consistent snapshot', async () => {
    const [dataDir, file] = [newPath(), newPath()]
    const storage = await openStore(dataDir)
    await fill(storage, 3000)
    let isWriting = true
    const writing = (async () => {
      // Both keys are written in one transaction, so they have equal values in a consistent backup.
      for (let value = 0; isWriting; value += 1) {
        const pair = ['a/first', 'z/last'].map((key) => ({ key, value: Buffer.from(`${value}`), expect: undefined }))
        await storage.commit(pair)
      }
    })()
    const script = `import { runBackupCommand } from ${JSON.stringify(new URL('./backup-command.js', import.meta.url).href)}
      const print = (text) => process.stdout.write(text)
      process.exitCode = await runBackupCommand('backup', process.argv.slice(1), { print, printError: print })`
    const args = ['--input-type=module', '-e', script, '--', `--from=${dataDir}`, `--to=${file}`]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    isWriting = false
    await writing
    await storage.close()
    // After progress lines.
    assert.match(stdout, /^backup: 300\d objects/m)
    const restored = newPath()
    assert.equal((await run('restore', `--from=${file}`, `--to=${restored}`)).code, 0)
    const copy = await openStore(restored)
    assert.equal(copy.read('a/first')?.value.toString(), copy.read('z/last')?.value.toString())
    await copy.close()
  })

  test('existing data is not overwritten', async () => {
    const [dataDir, other, file] = [await newStore(10), await newStore(10), newPath()]
    assert.equal((await run('backup', `--from=${dataDir}`, `--to=${file}`)).code, 0)
    const again = await run('backup', `--from=${dataDir}`, `--to=${file}`)
    assert.deepEqual(again, {
      code: 1,
      stdout: '',
      stderr: `cluster-apiserver backup: ${file} exists already; choose another name or remove it\n`,
    })
    const restore = await run('restore', `--from=${file}`, `--to=${other}`)
    assert.equal(restore.code, 1)
    assert.match(restore.stderr, /has a store already/)
    assert.deepEqual(readdirSync(other), ['store'])
  })

  describe('a damaged backup is refused before anything is written', () => {
    const rows = [
      {
        name: 'a changed byte in a value',
        damage: (bytes: Buffer) => bytes.fill(1, 700, 701),
        error: /is damaged: 1003 of 1003 objects, checksum/,
      },
      { name: 'the end is missing', damage: (bytes: Buffer) => bytes.subarray(0, bytes.length - 3000), error: /is truncated/ },
      { name: 'the last line is missing', damage: (bytes: Buffer) => bytes.subarray(0, bytes.length - 90), error: /is damaged/ },
      {
        name: 'an invalid header',
        damage: (bytes: Buffer) => bytes.fill('x', 'cluster-apiserver backup 2\n'.length, 30),
        error: /is damaged: its header/,
      },
      {
        name: 'an invalid length',
        damage: (bytes: Buffer) => bytes.fill(0xf0, bytes.indexOf('}\n') + 2, bytes.indexOf('}\n') + 6),
        error: /is damaged: the length of an entry/,
      },
      { name: 'another file', damage: () => Buffer.from('something else'), error: /is not a backup of this server/ },
    ]
    for (const { name, damage, error } of rows) {
      test(name, async () => {
        const [dataDir, file, restored] = [await newStore(1001), newPath(), newPath()]
        await run('backup', `--from=${dataDir}`, `--to=${file}`)
        writeFileSync(file, damage(readFileSync(file)))
        const restore = await run('restore', `--from=${file}`, `--to=${restored}`)
        assert.equal(restore.code, 1)
        assert.match(restore.stderr, error)
        assert.ok(!existsSync(restored))
      })
    }
  })

  test('a store in use is not migrated', async () => {
    const dataDir = await newStore(10)
    const storage = await openStore(dataDir)
    const migrate = await run('migrate', `--from=${dataDir}`, `--to=${newPath()}`)
    assert.equal(migrate.code, 1)
    assert.match(migrate.stderr, /is in use by process/)
    await storage.close()
  })

  test('migrate keeps revisions', async () => {
    const [dataDir, other] = [await newStore(100), newPath()]
    assert.equal((await run('migrate', `--from=${dataDir}`, `--to=${other}`)).code, 0)
    const [original, copy] = [await openStore(dataDir), await openStore(other)]
    assert.equal(copy.revision, original.revision)
    assert.deepEqual(copy.range(everything), original.range(everything))
    await Promise.all([original.close(), copy.close()])
  })

  test('an invalid command line is explained', async () => {
    for (const args of [[], ['--from=x'], ['--from=x', '--to=y', '--what=z'], ['--from=', '--to=y']]) {
      const { code, stderr } = await run('backup', ...args)
      assert.equal(code, 2)
      assert.match(stderr, /^cluster-apiserver \w+: .+\n\nusage: cluster-apiserver backup/)
    }
    const missing = await run('backup', `--from=${newPath()}`, `--to=${newPath()}`)
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /there is no store in/)
  })
})

// Backups of the embedded store, and what is restored from them; with etcd see test/etcd/move.test.ts.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { systemClock } from '../../base/clock.js'
import { silentLogger } from '../../base/logger.js'
import { openLmdbStorage } from '../../storage/lmdb.js'
import { CompactedError, type Storage } from '../../storage/storage.js'
import { runMoveCommand } from './move-command.js'
import type { MoveCommand } from './move-commands.js'

const folder = mkdtempSync(join(tmpdir(), 'move-test-'))
after(() => rmSync(folder, { recursive: true }))

let places = 0
const newPlace = (): string => join(folder, String(++places))

const openStore = (dataDir: string): Promise<Storage> =>
  openLmdbStorage({ folder: join(dataDir, 'store'), mark: 'test', clock: systemClock, logger: silentLogger })

async function run(command: MoveCommand, ...args: readonly string[]) {
  let stdout = ''
  let stderr = ''
  const code = await runMoveCommand(command, args, {
    print: (text) => {
      stdout += text
    },
    complain: (text) => {
      // How far it is, which only a slow machine says.
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
  const dataDir = newPlace()
  const storage = await openStore(dataDir)
  await fill(storage, count)
  await storage.close()
  return dataDir
}

describe('backup and restore', () => {
  test('everything is as it was, and revisions go on above those that were used', async () => {
    const [dataDir, file, restored] = [await newStore(), newPlace(), newPlace()]
    const backup = await run('backup', `--from=${dataDir}`, `--to=${file}`)
    assert.equal(backup.code, 0)
    // Nothing but progress, where it takes long.
    assert.match(backup.stderr, /^(?:backup: (?:copying|checking), .*\n)*$/)
    assert.match(backup.stdout, /^backup: 2502 objects, 3\.1 MB, checksum [0-9a-f]{64}\n$/)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const restore = await run('restore', `--from=${file}`, `--to=${restored}`)
    assert.match(restore.stderr, /^(?:restore: (?:copying|checking), .*\n)*$/)
    assert.equal(restore.stdout.replace('restore', 'backup'), backup.stdout)
    const [before, now] = [await openStore(dataDir), await openStore(restored)]
    assert.deepEqual(now.range(everything), before.range(everything))
    assert.equal(now.count({ start: 'k/', end: 'k0' }), before.count({ start: 'k/', end: 'k0' }))
    assert.ok(now.revision > before.revision)
    assert.throws(() => now.changes({ ...everything, after: before.revision, limit: 1 }), CompactedError)
    const next = await now.commit([{ key: 'k/new', value: Buffer.from('x'), expect: 0 }])
    assert.ok(next.ok && next.revision > before.revision)
    await Promise.all([before.close(), now.close()])
  })

  test('neither servers that ran on it nor what has expired is brought back', async () => {
    const [dataDir, file, restored] = [newPlace(), newPlace(), newPlace()]
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

  test('a store that is in use is backed up as of one moment', async () => {
    const [dataDir, file] = [newPlace(), newPlace()]
    const storage = await openStore(dataDir)
    await fill(storage, 3000)
    let isWriting = true
    const writing = (async () => {
      // Both are written together, always: a backup that has them unequal is not of one moment.
      for (let value = 0; isWriting; value += 1) {
        const pair = ['a/first', 'z/last'].map((key) => ({ key, value: Buffer.from(`${value}`), expect: undefined }))
        await storage.commit(pair)
      }
    })()
    const script = `import { runMoveCommand } from ${JSON.stringify(new URL('./move-command.js', import.meta.url).href)}
      const print = (text) => process.stdout.write(text)
      process.exitCode = await runMoveCommand('backup', process.argv.slice(1), { print, complain: print })`
    const args = ['--input-type=module', '-e', script, '--', `--from=${dataDir}`, `--to=${file}`]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    isWriting = false
    await writing
    await storage.close()
    // Behind its progress, where it takes long.
    assert.match(stdout, /^backup: 300\d objects/m)
    const restored = newPlace()
    assert.equal((await run('restore', `--from=${file}`, `--to=${restored}`)).code, 0)
    const copy = await openStore(restored)
    assert.equal(copy.read('a/first')?.value.toString(), copy.read('z/last')?.value.toString())
    await copy.close()
  })

  test('nothing is overwritten', async () => {
    const [dataDir, other, file] = [await newStore(10), await newStore(10), newPlace()]
    assert.equal((await run('backup', `--from=${dataDir}`, `--to=${file}`)).code, 0)
    const again = await run('backup', `--from=${dataDir}`, `--to=${file}`)
    assert.deepEqual(again, {
      code: 1,
      stdout: '',
      stderr: `cluster-apiserver backup: ${file} is there already: choose another name, or move it away\n`,
    })
    const restore = await run('restore', `--from=${file}`, `--to=${other}`)
    assert.equal(restore.code, 1)
    assert.match(restore.stderr, /there is a store in .* already/)
    assert.deepEqual(readdirSync(other), ['store'])
  })

  describe('a damaged backup is refused before anything is written', () => {
    const rows = [
      {
        name: 'a changed byte in a value',
        damage: (bytes: Buffer) => bytes.fill(1, 700, 701),
        says: /is damaged: 1003 objects of 1003, its checksum/,
      },
      { name: 'the end is missing', damage: (bytes: Buffer) => bytes.subarray(0, bytes.length - 3000), says: /ends in the middle/ },
      { name: 'the last line is missing', damage: (bytes: Buffer) => bytes.subarray(0, bytes.length - 90), says: /is damaged/ },
      {
        name: 'the line about its source',
        damage: (bytes: Buffer) => bytes.fill('x', 'cluster-apiserver backup 2\n'.length, 30),
        says: /is damaged: its second line/,
      },
      {
        name: 'a length that is none',
        damage: (bytes: Buffer) => bytes.fill(0xf0, bytes.indexOf('}\n') + 2, bytes.indexOf('}\n') + 6),
        says: /is damaged: an entry is longer/,
      },
      { name: 'something else', damage: () => Buffer.from('something else'), says: /is no backup of this server/ },
    ]
    for (const { name, damage, says } of rows) {
      test(name, async () => {
        const [dataDir, file, restored] = [await newStore(1001), newPlace(), newPlace()]
        await run('backup', `--from=${dataDir}`, `--to=${file}`)
        writeFileSync(file, damage(readFileSync(file)))
        const restore = await run('restore', `--from=${file}`, `--to=${restored}`)
        assert.equal(restore.code, 1)
        assert.match(restore.stderr, says)
        assert.ok(!existsSync(restored))
      })
    }
  })

  test('a store that is in use is not migrated', async () => {
    const dataDir = await newStore(10)
    const storage = await openStore(dataDir)
    const migrate = await run('migrate', `--from=${dataDir}`, `--to=${newPlace()}`)
    assert.equal(migrate.code, 1)
    assert.match(migrate.stderr, /is in use by process/)
    await storage.close()
  })

  test('migrating keeps every revision', async () => {
    const [dataDir, other] = [await newStore(100), newPlace()]
    assert.equal((await run('migrate', `--from=${dataDir}`, `--to=${other}`)).code, 0)
    const [before, now] = [await openStore(dataDir), await openStore(other)]
    assert.equal(now.revision, before.revision)
    assert.deepEqual(now.range(everything), before.range(everything))
    await Promise.all([before.close(), now.close()])
  })

  test('a wrong command line is explained', async () => {
    for (const args of [[], ['--from=x'], ['--from=x', '--to=y', '--what=z'], ['--from=', '--to=y']]) {
      const { code, stderr } = await run('backup', ...args)
      assert.equal(code, 2)
      assert.match(stderr, /^cluster-apiserver \w+: .+\n\nusage: cluster-apiserver backup/)
    }
    const missing = await run('backup', `--from=${newPlace()}`, `--to=${newPlace()}`)
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /there is no store in/)
  })
})

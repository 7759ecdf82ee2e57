// Migration between the embedded store, etcd and backups, in both directions.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../../api/src/base/clock.js'
import { silentLogger } from '../../../api/src/base/logger.js'
import { runBackupCommand } from '../../src/commands/backup/backup-command.js'
import type { BackupCommand } from '../../src/commands/subcommands.js'
import { openLmdbStorage } from '../../src/storage/lmdb/lmdb-storage.js'
import { CompactedError, type Storage } from '../../src/storage/storage.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix, openReplica, put } from './open-replica.js'

const everything = { start: '', end: '\u{10ffff}', limit: Number.POSITIVE_INFINITY }

async function run(command: BackupCommand, ...args: readonly string[]) {
  let output = ''
  const record = (text: string): void => {
    output += text
  }
  const code = await runBackupCommand(command, args, { print: record, printError: record })
  return { code, output }
}

/** Removes progress lines, which slow runs print first. */
const lastLine = ({ output }: { readonly output: string }): string => output.trimEnd().split('\n').at(-1) ?? ''

const contentOf = (storage: Storage) => storage.range(everything).entries.map(({ key, value }) => ({ key, value: value.toString() }))

describe('migrate', { skip: whyNoEtcd ?? false }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'move-test-'))
  let cluster: EtcdCluster
  let etcd: string
  let pathCount = 0
  const newPath = (): string => join(folder, String(++pathCount))
  before(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
    etcd = cluster.endpoints.join(',')
  })
  after(async () => {
    await cluster.stop()
    rmSync(folder, { recursive: true })
  })

  const openStore = (dataDir: string): Promise<Storage> =>
    openLmdbStorage({ folder: join(dataDir, 'store'), mark: 'test', clock: systemClock, logger: silentLogger })

  async function fill(storage: Storage): Promise<void> {
    await Promise.all(Array.from({ length: 1234 }, (_, index) => put(storage, `k/n${index % 3}/${index}`, `${index} `.repeat(100))))
    await put(storage, 'k/n0/0', 'changed')
    await storage.commit([{ key: 'k/later', value: Buffer.from('x'), expect: 0, expiresAtMs: Date.now() + 3_600_000 }])
    await storage.commit([{ key: 'k/n0/3', value: undefined, expect: undefined }])
  }

  test('from the embedded store to etcd, and back', async () => {
    const [from, prefix, back] = [newPath(), newPrefix(), newPath()]
    const store = await openStore(from)
    await fill(store)
    const content = contentOf(store)
    const { revision } = store
    await store.close()

    const toEtcd = await run('migrate', `--from=${from}`, `--to=${etcd}`, `--etcd-prefix=${prefix}`)
    assert.equal(toEtcd.code, 0, toEtcd.output)
    const replica = await openReplica({ endpoints: cluster.endpoints, prefix })
    assert.deepEqual(contentOf(replica), content)
    assert.ok(replica.range(everything).entries.every((entry) => entry.revision > revision))
    assert.throws(() => replica.changes({ ...everything, after: revision, limit: 1 }), CompactedError)
    const next = await put(replica, 'k/new', 'new')
    assert.ok(next > revision)
    const changes = replica.changes({ ...everything, after: replica.compacted, limit: 100 }).changes
    assert.deepEqual(
      changes.map(({ key }) => key),
      ['k/new'],
      'migrated entries are not changes',
    )
    await replica.close()

    const again = await run('migrate', `--from=${etcd}`, `--etcd-prefix=${prefix}`, `--to=${back}`)
    assert.equal(again.code, 0, again.output)
    const restored = await openStore(back)
    assert.deepEqual(
      contentOf(restored),
      [...content, { key: 'k/new', value: 'new' }].sort((a, b) => (a.key < b.key ? -1 : 1)),
    )
    assert.equal(restored.read('k/new')?.revision, next, 'versions of objects stay')
    assert.ok(restored.revision >= next)
    await restored.close()
  })

  test('backup of an etcd in use, and restore to another prefix', async () => {
    const [prefix, file, other] = [newPrefix(), newPath(), newPrefix()]
    const replica = await openReplica({ endpoints: cluster.endpoints, prefix })
    await fill(replica)
    let isWriting = true
    const writing = (async () => {
      for (let value = 0; isWriting; value += 1) {
        await replica.commit(['a/first', 'z/last'].map((key) => ({ key, value: Buffer.from(`${value}`), expect: undefined })))
      }
    })()
    const backup = await run('backup', `--from=${etcd}`, `--etcd-prefix=${prefix}`, `--to=${file}`)
    isWriting = false
    await writing
    assert.match(lastLine(backup), /^backup: 123\d objects/)
    const restore = await run('restore', `--from=${file}`, `--to=${etcd}`, `--etcd-prefix=${other}`)
    assert.equal(lastLine(restore).replace('restore', 'backup'), lastLine(backup))
    const copy = await openReplica({ endpoints: cluster.endpoints, prefix: other })
    assert.equal(copy.read('a/first')?.value.toString(), copy.read('z/last')?.value.toString())
    assert.equal(copy.read('k/n0/0')?.value.toString(), 'changed')
    assert.ok(copy.revision > replica.revision)
    await Promise.all([replica.close(), copy.close()])
  })

  test('existing data is not overwritten, and an unfinished migration is rejected', async () => {
    const [prefix, from] = [newPrefix(), newPath()]
    const store = await openStore(from)
    await put(store, 'k/1', '1')
    await store.close()
    const target = [`--to=${etcd}`, `--etcd-prefix=${prefix}`]
    assert.equal((await run('migrate', `--from=${from}`, ...target)).code, 0)
    const again = await run('migrate', `--from=${from}`, ...target)
    assert.equal(again.code, 1)
    assert.match(again.output, /the prefix .* has data already/)

    const [tooLarge, unfinished] = [newPath(), newPrefix()]
    const large = await openStore(tooLarge)
    await large.commit([{ key: 'k/large', value: Buffer.alloc(9 << 20), expect: 0 }])
    await large.close()
    const failed = await run('migrate', `--from=${tooLarge}`, `--to=${etcd}`, `--etcd-prefix=${unfinished}`)
    assert.equal(failed.code, 1)
    assert.match(failed.output, /too large|larger than max/)
    await assert.rejects(openReplica({ endpoints: cluster.endpoints, prefix: unfinished }), /a restore .* has not ended/)
  })
})

// Replicas of the etcd engine: consistent reads, no lost updates, monotonic revisions.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { CompactedError, type Storage } from '../../src/storage/storage.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix, openReplica, put, recordingLogger } from './open-replica.js'

describe('replicas', { skip: whyNoEtcd ?? false }, () => {
  let cluster: EtcdCluster
  before(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
  })
  after(() => cluster.stop())

  const withReplicas = async (count: number, work: (replicas: readonly Storage[]) => Promise<void>): Promise<void> => {
    const prefix = newPrefix()
    const replicas = await Promise.all(Array.from({ length: count }, () => openReplica({ endpoints: cluster.endpoints, prefix })))
    try {
      await work(replicas)
    } finally {
      await Promise.all(replicas.map((replica) => replica.close()))
    }
  }

  test('a consistent read shows every acknowledged write of any replica', async () => {
    await withReplicas(3, async (replicas) => {
      for (let round = 0; round < 60; round += 1) {
        const writer = replicas[round % 3] as Storage
        const reader = replicas[(round + 1) % 3] as Storage
        const revision = await put(writer, 'k/1', `${round}`)
        assert.ok((await reader.readIndex()) >= revision)
        assert.equal(reader.read('k/1')?.value.toString(), `${round}`)
        assert.equal(reader.read('k/1')?.revision, revision)
      }
    })
  })

  test('a watch resumes at another replica, also at one that started later', async () => {
    const prefix = newPrefix()
    const first = await openReplica({ endpoints: cluster.endpoints, prefix })
    const after = await put(first, 'k/1', '1')
    for (const [key, value] of Object.entries({ 'k/1': '2', 'k/2': '3', 'k/3': '4' })) await put(first, key, value)
    await first.commit([{ key: 'k/2', value: undefined, expect: undefined }])
    const second = await openReplica({ endpoints: cluster.endpoints, prefix })
    const query = { start: '', end: '\u{10ffff}', after, limit: 100 }
    assert.deepEqual(second.changes(query), first.changes(query))
    assert.equal(second.changes(query).changes.length, 4)
    await Promise.all([first.close(), second.close()])
  })

  test('one of the replicas that compact concurrently compacts etcd, and each trims its own history', async () => {
    await withReplicas(3, async (replicas) => {
      const [first] = replicas as [Storage]
      const old = await put(first, 'k/1', '1')
      const kept = await put(first, 'k/1', '2')
      await put(first, 'k/1', '3')
      await Promise.all(replicas.map((replica) => replica.readIndex()))
      await Promise.all(replicas.map((replica) => replica.compact(kept)))
      for (const replica of replicas) {
        assert.equal(replica.compacted, kept)
        assert.throws(() => replica.changes({ start: '', end: 'z', after: old, limit: 1 }), CompactedError)
        assert.equal(replica.changes({ start: '', end: 'z', after: kept, limit: 9 }).changes.length, 1)
      }
    })
  })

  test('keys that expire together are separate changes', async () => {
    await withReplicas(2, async ([first, second]) => {
      assert.ok(first && second)
      const deleted: { readonly key: string; readonly revision: number }[] = []
      second.follow((changes) => deleted.push(...changes.filter(({ value }) => value === undefined)))
      const expiresAtMs = Date.now() + 500
      const keys = Array.from({ length: 20 }, (_, index) => `e/${index}`)
      await Promise.all(keys.map((key) => first.commit([{ key, value: Buffer.from(key), expect: 0, expiresAtMs }])))
      for (let waited = 0; deleted.length < keys.length && waited < 30_000; waited += 20) await sleep(20)
      assert.equal(deleted.length, keys.length)
      assert.equal(new Set(deleted.map(({ revision }) => revision)).size, keys.length, 'each has a revision of its own')
      for (let waited = 0; first.revision < second.revision && waited < 30_000; waited += 20) await sleep(20)
      assert.equal(first.revision, second.revision)
    })
  })

  test('a prefix of another program is rejected', async () => {
    const prefix = newPrefix()
    const options = { endpoints: cluster.endpoints, prefix }
    const ours = await openReplica(options)
    await put(ours, 'k/1', '1')
    await ours.close()
    await assert.rejects(openReplica({ ...options, mark: 'other' }), /belongs to 'test', not to 'other'/)
    await assert.rejects(openReplica({ ...options, prefix: prefix.slice(0, prefix.lastIndexOf('/')) }), /holds data of something else/)
  })

  test('a mirror is reused after a restart, but not for another prefix', async () => {
    const mirrorFolder = mkdtempSync(join(tmpdir(), 'mirror-test-'))
    const prefix = newPrefix()
    const open = (keyPrefix: string, logger = recordingLogger()) =>
      openReplica({ endpoints: cluster.endpoints, mirrorFolder, prefix: keyPrefix, logger })
    const first = await open(prefix)
    await put(first, 'k/1', '1')
    await assert.rejects(open(newPrefix()), /is in use by process/)
    await first.close()
    const logger = recordingLogger()
    const again = await open(prefix, logger)
    assert.ok(!logger.lines.includes('etcd mirror loaded'))
    assert.equal(again.read('k/1')?.value.toString(), '1')
    await again.close()
    const other = await open(newPrefix())
    assert.equal(other.count({ start: '', end: '\u{10ffff}' }), 0)
    await other.close()
    rmSync(mirrorFolder, { recursive: true })
  })
})

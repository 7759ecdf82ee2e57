// Upgrade of an etcd prefix from the previous storage format: one of the starting servers does it, also after another was killed.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { configMapOf, configMaps, expectFailure, expectStatus } from '../../../../test/kit/fixtures.js'
import { oldKey, oldValue } from '../../../../test/kit/old-storage-format.js'
import { silentLogger } from '../../../api/src/base/logger.js'
import { box, boxes } from '../../src/objects/box-store.fixture.js'
import { oldEntry } from '../../src/objects/entry/format-0-entry.fixture.js'
import { encodeStored } from '../../src/objects/entry/stored-object.js'
import { entryUpgrade } from '../../src/objects/entry/upgrade-entries.js'
import { EtcdClient } from '../../src/storage/etcd/etcd-client.js'
import { readEndpoints } from '../../src/storage/etcd/etcd-endpoint.js'
import { createEtcdKeys } from '../../src/storage/etcd/etcd-keys.js'
import { decodeRange, encodeRange, encodeTxn, methods, type Operation } from '../../src/storage/etcd/grpc/etcd-messages.js'
import { type Entry, type FormatUpgrade, type Storage, StorageRefusedError } from '../../src/storage/storage.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix, openReplica, recordingLogger } from './open-replica.js'
import { startReplica } from './start-replicas.js'

const upgrade = entryUpgrade(new Map([['boxes', 'v1']]))
const everything = { start: '', end: '\u{10ffff}', limit: Number.POSITIVE_INFINITY }
const childArgument = '--killed-upgrade'
const childAt = process.argv.indexOf(childArgument)
const count = 300
const uniqueKeys = 400

if (childAt >= 0) await upgradeUntilKilled(process.argv.slice(childAt + 1))
else describe('a prefix of the previous storage format', { skip: whyNoEtcd ?? false }, suite)

/** Runs the upgrade in this process, which kills itself when `keys` keys were read. */
async function upgradeUntilKilled([endpoint = '', prefix = '', keys = '0']: readonly string[]): Promise<void> {
  let left = Number(keys)
  const killingUpgrade: FormatUpgrade = {
    ...upgrade,
    upgradeKey(key) {
      left -= 1
      if (left === 0) process.kill(process.pid, 'SIGKILL')
      return upgrade.upgradeKey(key)
    },
  }
  const replica = await openReplica({ endpoints: [endpoint], prefix, upgrade: killingUpgrade })
  await replica.close()
}

/** A direct client of etcd. */
class Etcd {
  readonly #client: EtcdClient
  constructor(urls: readonly string[]) {
    const { endpoints, credentials } = readEndpoints(urls)
    this.#client = new EtcdClient({ endpoints, credentials, tls: {}, logger: silentLogger })
  }

  async run(success: readonly Operation[]): Promise<void> {
    await this.#client.call(methods.txn, encodeTxn({ compare: [], success, failure: [] }, 1 << 16), 5000)
  }

  async range(key: string, end: string): Promise<readonly { readonly key: string; readonly value: Buffer }[]> {
    const response = await this.#client.call(methods.range, encodeRange({ key, end }), 5000)
    return decodeRange(response).items.map((item) => ({ key: item.key.toString(), value: Buffer.from(item.value) }))
  }

  async format(prefix: string): Promise<Record<string, unknown>> {
    const [item] = await this.range(`${prefix}.format`, `${prefix}.format\0`)
    return JSON.parse(String(item?.value))
  }

  async setFormat(prefix: string, version: number): Promise<void> {
    const { isUpgrading: _, ...format } = await this.format(prefix)
    await this.run([{ kind: 'put', key: `${prefix}.format`, value: [Buffer.from(JSON.stringify({ ...format, version }))] }])
  }

  close(): Promise<void> {
    return this.#client.close()
  }
}

const contentOf = (storage: Storage): readonly Entry[] => storage.range(everything).entries
const nameOf = (i: number): string => `b${String(i).padStart(4, '0')}`

function suite(): void {
  let cluster: EtcdCluster
  let etcd: Etcd
  before(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
    etcd = new Etcd(cluster.endpoints)
  })
  after(async () => {
    await etcd.close()
    await cluster.stop()
  })

  async function oldPrefix(): Promise<{ readonly prefix: string; readonly entries: readonly Entry[] }> {
    const prefix = newPrefix()
    const replica = await openReplica({ endpoints: cluster.endpoints, prefix })
    const values = Array.from(
      { length: count },
      (_, i) => [`boxes/n/${nameOf(i)}`, oldEntry(boxes, box(nameOf(i), { color: 'red' }))] as const,
    )
    const unique = Array.from({ length: uniqueKeys }, (_, i) => [`claims.ports/${i}`, Buffer.from('boxes/n/x')] as const)
    await Promise.all([...values, ...unique].map(([key, value]) => replica.commit([{ key, value, expect: 0 }])))
    const entries = contentOf(replica)
    await replica.close()
    await etcd.setFormat(prefix, 1)
    return { prefix, entries }
  }

  function checkContent(storage: Storage, old: readonly Entry[]): void {
    const found = contentOf(storage)
    assert.equal(found.length, old.length)
    const isBox = ({ key }: Entry): boolean => key.startsWith('boxes/')
    const expected = old
      .filter(isBox)
      .map(({ key, revision }) => ({ key, revision, value: encodeStored(boxes, box(key.slice(-5), { color: 'red' })) }))
    assert.deepEqual(found.filter(isBox), expected)
    const ports = found.filter((entry) => !isBox(entry))
    assert.deepEqual(new Set(ports.map(({ key }) => key)), new Set(Array.from({ length: uniqueKeys }, (_, i) => `unique.ports/${i}`)))
    assert.ok(ports.every(({ value }) => value.toString() === 'boxes/n/x'))
  }

  test('of several servers that start together one upgrades; all entries keep their versions', async () => {
    const { prefix, entries } = await oldPrefix()
    const logs = [recordingLogger(), recordingLogger(), recordingLogger()]
    const replicas = await Promise.all(logs.map((logger) => openReplica({ endpoints: cluster.endpoints, prefix, upgrade, logger })))
    for (const replica of replicas) checkContent(replica, entries)
    assert.equal(logs.filter(({ lines }) => lines.some((text) => text === 'etcd prefix upgraded')).length, 1)
    assert.deepEqual(await etcd.format(prefix), { version: 3, mark: 'test', base: 0, isUnfinished: false })
    assert.deepEqual(await etcd.range(createEtcdKeys(prefix).upgrade, `${createEtcdKeys(prefix).upgrade}\0`), [])
    const [first, second] = replicas as [Storage, Storage]
    const value = encodeStored(boxes, box(nameOf(0), { color: 'blue' }))
    const expect = first.read(`boxes/n/${nameOf(0)}`)?.revision ?? 0
    const outcome = await first.commit([{ key: `boxes/n/${nameOf(0)}`, value, expect }])
    assert.ok(outcome.ok, 'an entry that was not written since can be changed')
    await second.readIndex()
    assert.deepEqual(second.read(`boxes/n/${nameOf(0)}`)?.value, value)
    await Promise.all(replicas.map((replica) => replica.close()))
  })

  test('an interrupted upgrade is finished by the next server', { timeout: 300_000 }, async () => {
    const { prefix, entries } = await oldPrefix()
    for (const keys of [350, 520, 610]) {
      const args = [fileURLToPath(import.meta.url), childArgument, cluster.endpoints[0] ?? '', prefix, String(keys)]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
      assert.deepEqual(await once(child, 'close'), [null, 'SIGKILL'])
      const { isUpgrading, version } = await etcd.format(prefix)
      assert.deepEqual([isUpgrading, version], [true, 3])
      const data = createEtcdKeys(prefix)
      const names = (await etcd.range(data.dataStart, data.dataEnd)).map(({ key }) => upgrade.upgradeKey(key.slice(data.dataStart.length)))
      assert.deepEqual([names.length, new Set(names).size], [count + uniqueKeys, count + uniqueKeys])
    }
    const replica = await openReplica({ endpoints: cluster.endpoints, prefix, upgrade })
    checkContent(replica, entries)
    await replica.close()
  })

  test('the format with a writer key: the key is removed, everything else stays', async () => {
    const prefix = newPrefix()
    const first = await openReplica({ endpoints: cluster.endpoints, prefix })
    await first.commit([{ key: 'boxes/n/a', value: Buffer.from('a'), expect: 0 }])
    const entries = contentOf(first)
    await first.close()
    const { formerOwner } = createEtcdKeys(prefix)
    await etcd.run([{ kind: 'put', key: formerOwner, value: [Buffer.from('somebody')] }])
    await etcd.setFormat(prefix, 2)
    const second = await openReplica({ endpoints: cluster.endpoints, prefix })
    assert.deepEqual(contentOf(second), entries)
    assert.deepEqual(await etcd.range(formerOwner, `${formerOwner}\0`), [])
    await second.close()
  })

  test('the upgrade waits for running servers of the older version', async () => {
    const { prefix, entries } = await oldPrefix()
    const key = createEtcdKeys(prefix).dataKey('servers/old')
    await etcd.run([{ kind: 'put', key, value: [Buffer.from([1, 0]), Buffer.from('10.0.0.1')] }])
    const logger = recordingLogger()
    let isOpen = false
    const opening = openReplica({ endpoints: cluster.endpoints, prefix, upgrade, logger }).then((replica) => {
      isOpen = true
      return replica
    })
    await new Promise((resolve) => setTimeout(resolve, 1200))
    assert.equal(isOpen, false)
    assert.ok(logger.lines.some((text) => text.includes('1 servers of the older version are still running: stop them')))
    await etcd.run([{ kind: 'delete', key }])
    const replica = await opening
    checkContent(replica, entries)
    await replica.close()
  })

  test('a newer format is rejected', async () => {
    const { prefix } = await oldPrefix()
    await etcd.setFormat(prefix, 4)
    await assert.rejects(openReplica({ endpoints: cluster.endpoints, prefix, upgrade }), (error: unknown) => {
      assert.ok(error instanceof StorageRefusedError)
      assert.match(error.message, /has a newer format than this server knows \(4, not 3\): use the version of the server that wrote it/)
      return true
    })
  })

  test('a whole server continues on upgraded data', async () => {
    const prefix = newPrefix()
    const start = () => startReplica({ servers: cluster.endpoints, prefix })
    const services = '/api/v1/namespaces/default/services'
    const first = await start()
    for (const name of ['a', 'b']) expectStatus(await first.client.post(configMaps('default'), configMapOf(name, { data: { name } })), 201)
    const service = expectStatus(await first.client.post(services, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }), 201).json
    await first.close()
    const data = createEtcdKeys(prefix)
    for (const { key, value } of await etcd.range(data.dataStart, data.dataEnd)) {
      const name = key.slice(data.dataStart.length)
      const start = value[0] === 2 ? 8 : 2
      const bytes = Buffer.concat([value.subarray(0, start), oldValue(name, value.subarray(start))])
      const removal: readonly Operation[] = oldKey(name) === name ? [] : [{ kind: 'delete', key }]
      await etcd.run([{ kind: 'put', key: data.dataKey(oldKey(name)), value: [bytes] }, ...removal])
    }
    await etcd.setFormat(prefix, 1)
    const second = await start()
    const { items } = expectStatus(await second.client.get(configMaps('default')), 200).json
    assert.deepEqual(
      items.map(({ metadata, data: content }) => [metadata.name, content]),
      [
        ['a', { name: 'a' }],
        ['b', { name: 'b' }],
      ],
    )
    const { clusterIP } = service['spec'] as { readonly clusterIP: string }
    expectFailure(
      await second.client.post(services, { metadata: { name: 't' }, spec: { clusterIP, ports: [{ port: 80 }] } }),
      422,
      'Invalid',
    )
    expectStatus(await second.client.put(configMaps('default', 'a'), configMapOf('a', { data: { name: 'c' } })), 200)
    await second.close()
  })
}

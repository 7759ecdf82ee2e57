// A replica that alone writes is not sent back what it has written, and misses nothing of what others do.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Closing, timedTest } from '../../src/base/timed-test.fixture.js'
import type { Storage } from '../../src/storage/storage.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix, openReplica, put } from './open-replica.js'
import { TcpProxy } from './tcp-proxy.js'

const valueBytes = 10_000

describe('standing by', { skip: whyNoEtcd ?? false }, () => {
  let cluster: EtcdCluster
  let proxy: TcpProxy
  before(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
    proxy = await TcpProxy.start(cluster.endpoints[0] ?? '')
  })
  after(async () => {
    await proxy.close()
    await cluster.stop()
  })

  const open = async (context: Closing, prefix: string, endpoint = cluster.endpoints[0] ?? ''): Promise<Storage> => {
    const replica = await openReplica({ endpoints: [endpoint], prefix, quietMs: 50, leaseReuseMs: 1 })
    context.after(() => replica.close())
    return replica
  }
  const big = (mark: string): string => mark.padEnd(valueBytes, '.')
  /** How many bytes etcd sends for so many writes. */
  const answered = async (replica: Storage, writes: number): Promise<number> => {
    const before = proxy.answeredBytes
    for (let count = 0; count < writes; count += 1) await put(replica, 'k/1', big(String(count)))
    await sleep(150)
    return proxy.answeredBytes - before
  }
  const standBy = async (replica: Storage): Promise<void> => {
    for (let round = 0; ; round += 1) {
      assert.ok(round < 50, 'it begins to stand by')
      await replica.readIndex()
      if ((await answered(replica, 2)) < valueBytes) return
    }
  }
  const historyOf = (replica: Storage): readonly string[] =>
    replica
      .changes({ start: '', end: '\uffff', after: replica.compacted, limit: 100_000 })
      .changes.map(({ key, revision, value }) => `${revision} ${key} ${value?.length ?? 'gone'}`)

  test('writes are not sent back to the only one who writes', async (context) => {
    const replica = await open(context, newPrefix(), proxy.url)
    await standBy(replica)
    assert.ok((await answered(replica, 50)) < 10 * valueBytes)
    assert.equal(replica.read('k/1')?.value.toString(), big('49'))
  })

  test('another replica writes: it is seen, and its writes are sent', async (context) => {
    const prefix = newPrefix()
    const [first, second] = [await open(context, prefix, proxy.url), await open(context, prefix)]
    await standBy(first)
    const seen: string[] = []
    first.follow((changes) => seen.push(...changes.map(({ key }) => key)))
    await put(second, 'k/2', 'by another')
    for (let waited = 0; !seen.includes('k/2'); waited += 10) {
      assert.ok(waited < 30_000, 'the change arrives although nobody reads')
      await sleep(10)
    }
    await put(first, 'k/3', 'again')
    await Promise.all([first.readIndex(), second.readIndex()])
    assert.deepEqual(historyOf(first), historyOf(second))
  })

  timedTest('somebody else uses the same etcd: writes are answered all the same', async (context) => {
    const [replica, foreign] = [await open(context, newPrefix(), proxy.url), await open(context, newPrefix())]
    for (let round = 0; round < 3; round += 1) {
      await standBy(replica)
      await put(foreign, 'k/1', 'foreign')
      const startedMs = performance.now()
      await put(replica, 'k/2', `${round}`)
      assert.ok(performance.now() - startedMs < 20_000)
      assert.equal(replica.read('k/2')?.value.toString(), `${round}`)
    }
  })

  timedTest('what expires goes, while others write and while nobody does', async (context) => {
    const replica = await open(context, newPrefix(), proxy.url)
    await standBy(replica)
    const expiring = (key: string): Promise<unknown> =>
      replica.commit([{ key, value: Buffer.from('short'), expect: undefined, expiresAtMs: Date.now() + 1000 }])
    for (let index = 0; index < 5; index += 1) await expiring(`e/${index}`)
    for (let waited = 0; replica.read('e/0') || replica.read('e/4'); waited += 20) {
      assert.ok(waited < 30_000, 'they expire')
      await sleep(20)
    }
    for (let index = 0; index < 5; index += 1) await expiring(`f/${index}`)
    const endMs = performance.now() + 60_000
    for (let count = 0; replica.read('f/0') || replica.read('f/4'); count += 1) {
      assert.ok(performance.now() < endMs, 'they expire')
      await put(replica, 'k/2', `${count}`)
    }
  })

  test('the history of a replica that stands by now and then is that of one that sees everything', async (context) => {
    const prefix = newPrefix()
    const writers = [await open(context, prefix, proxy.url), await open(context, prefix)]
    const witness = await open(context, prefix)
    const foreign = await open(context, newPrefix())
    const random = (below: number): number => Math.floor(Math.random() * below)
    const write = async (storage: Storage): Promise<void> => {
      const key = `k/${random(8)}`
      const expiry = random(6) === 0 ? { expiresAtMs: Date.now() + 1000 } : {}
      if (random(3) === 0) await storage.commit([{ key, value: undefined, expect: undefined }])
      else await storage.commit([{ key, value: Buffer.from('x'.repeat(random(2000))), expect: undefined, ...expiry }])
    }
    let writes = 0
    for (let turn = 0; turn < 8; turn += 1) {
      const storage = writers[turn % 2] as Storage
      const endMs = performance.now() + 600
      // A slow machine takes longer for so many.
      while (performance.now() < endMs || writes < 25 * (turn + 1)) {
        const some = 1 + random(3)
        await Promise.all(Array.from({ length: some }, () => write(storage)))
        writes += some
        if (random(10) === 0) await storage.readIndex()
        if (turn % 4 === 3 && random(20) === 0) await put(foreign, 'k/1', 'foreign')
        if (random(4) === 0) await sleep(random(30))
      }
    }
    await Promise.all([...writers, witness].map((storage) => storage.readIndex()))
    await sleep(1500)
    // The last of what expires is told to each by a stream of its own: for a moment one may know what another does not.
    const isTold = (): boolean => writers.every((storage) => historyOf(storage).length === historyOf(witness).length)
    for (let waited = 0; waited < 30_000 && !isTold(); waited += 50) await sleep(50)
    const expected = historyOf(witness)
    assert.ok(expected.length > 50)
    for (const storage of writers) assert.deepEqual(historyOf(storage), expected)
  })
})

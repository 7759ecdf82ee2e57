// A replica that alone writes answers consistent reads without asking etcd, and stops in time when another one wants to write.

import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/base/clock.js'
import { silentLogger } from '../../src/base/logger.js'
import { type Closing, timedTest } from '../../src/base/timed-test.fixture.js'
import { readEndpoints } from '../../src/storage/etcd/endpoint.js'
import { EtcdClient } from '../../src/storage/etcd/etcd-client.js'
import { createEtcdKeys } from '../../src/storage/etcd/etcd-keys.js'
import { createLeases } from '../../src/storage/etcd/leases.js'
import { encodeTxn, methods } from '../../src/storage/etcd/messages.js'
import { ReaderKey } from '../../src/storage/etcd/reader-key.js'
import type { Storage } from '../../src/storage/storage.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { HeadWatch } from './head-keys.js'
import { becomeOwner, newPrefix, openReplica, put } from './open-replica.js'
import { ReplicaChild } from './replica-child.js'
import { TcpProxy } from './tcp-proxy.js'

describe('the right to write', { skip: whyNoEtcd ?? false }, () => {
  let cluster: EtcdCluster
  before(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
  })
  after(() => cluster.stop())

  const open = async (context: Closing, prefix: string, endpoints = cluster.endpoints, quietMs = 50): Promise<Storage> => {
    const replica = await openReplica({ endpoints, prefix, quietMs })
    context.after(() => replica.close())
    return replica
  }

  timedTest('belongs to the only one who writes, and its reads show its writes', async (context) => {
    const replica = await open(context, newPrefix())
    await becomeOwner(replica)
    for (let round = 0; round < 20; round += 1) {
      const revision = await put(replica, 'k/1', `${round}`)
      assert.equal(replica.readIndex(), revision)
      assert.equal(replica.read('k/1')?.value.toString(), `${round}`)
    }
  })

  timedTest('belongs at once to one beside whom nobody is, and not while another one answers reads', async (context) => {
    const [prefix, endless] = [newPrefix(), 3_600_000]
    const replica = await open(context, prefix, cluster.endpoints, endless)
    await becomeOwner(replica)
    const other = await open(context, prefix, cluster.endpoints, endless)
    for (let round = 0; round < 40; round += 1) {
      const asked = [other.readIndex(), replica.readIndex()]
      assert.ok(
        asked.every((answer) => answer instanceof Promise),
        'neither is the owner',
      )
      await Promise.all([...asked, sleep(20)])
    }
  })

  timedTest('belongs at once to the only one, in a process that has just been started, too', async (context) => {
    const prefix = newPrefix()
    const watch = new HeadWatch(cluster.endpoints)
    context.after(() => watch.close())
    const child = new ReplicaChild(cluster.endpoints, prefix, 3_600_000)
    context.after(() => child.end())
    assert.equal(await child.says(), 'open')
    // Nothing is read or written: what opened it has claimed the right, or nothing will.
    let { owner, readers } = await watch.keysOf(prefix)
    for (let looks = 0; owner === '' && looks < 200; looks += 1) {
      await sleep(10)
      ;({ owner, readers } = await watch.keysOf(prefix))
    }
    assert.deepEqual(readers, [owner])
  })

  /** A write that is stored, and whose answer does not come. */
  const writeUnanswered = async (replica: Storage, proxy: TcpProxy): Promise<{ readonly writing: Promise<number> }> => {
    proxy.swallowAnswers()
    const writing = put(replica, 'k/1', 'on its way')
    // It is sent at the end of this turn.
    for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    return { writing }
  }

  timedTest('lets reads go on beside a write that takes its time, where nobody else reads', async (context) => {
    const prefix = newPrefix()
    const proxy = await TcpProxy.start(cluster.endpoints[0] ?? '')
    context.after(() => proxy.close())
    const passing = await open(context, prefix)
    const replica = await open(context, prefix, [proxy.url])
    await passing.close()
    const revision = await put(replica, 'k/1', 'before')
    // Until a question has been answered that found nobody else.
    for (;;) {
      await becomeOwner(replica)
      const { writing } = await writeUnanswered(replica, proxy)
      const reading = replica.readIndex()
      const shown = replica.read('k/1')?.value.toString()
      proxy.heal()
      await Promise.all([writing, reading])
      if (typeof reading !== 'number') continue
      assert.ok(reading >= revision)
      assert.ok(shown === 'before' || shown === 'on its way')
      break
    }
  })

  timedTest('does not spare reads the question beside a write that another one may have shown', async (context) => {
    const prefix = newPrefix()
    const proxy = await TcpProxy.start(cluster.endpoints[0] ?? '')
    context.after(() => proxy.close())
    const replica = await open(context, prefix, [proxy.url])
    await put(replica, 'k/1', 'before')
    await becomeOwner(replica)
    const reader = await open(context, prefix)
    for (let round = 0; round < 3; round += 1) {
      await becomeOwner(replica)
      const { writing } = await writeUnanswered(replica, proxy)
      while (reader.read('k/1')?.value.toString() !== 'on its way') await reader.readIndex()
      const reading = replica.readIndex()
      assert.ok(reading instanceof Promise)
      proxy.heal()
      await Promise.all([writing, reading])
      assert.equal(replica.read('k/1')?.value.toString(), 'on its way')
      await put(replica, 'k/1', 'before')
    }
  })

  timedTest('whoever begins to read is known to the owner before it shows anything', async (context) => {
    const prefix = newPrefix()
    const proxy = await TcpProxy.start(cluster.endpoints[0] ?? '')
    context.after(() => proxy.close())
    const owner = await open(context, prefix, [proxy.url])
    await put(owner, 'k/1', '0')
    let written = 0
    let isDone = false
    const numberAt = (replica: Storage): number => Number(replica.read('k/1')?.value.toString())
    for (let round = 0; round < 2; round += 1) {
      await becomeOwner(owner)
      // What is written is seen by others for a while before the owner hears of it.
      proxy.delay(15)
      isDone = false
      const writing = (async () => {
        while (!isDone) await put(owner, 'k/1', String(++written))
      })()
      const reader = await open(context, prefix)
      for (let read = 0; read < 10; read += 1) {
        await reader.readIndex()
        const shown = numberAt(reader)
        await owner.readIndex()
        assert.ok(numberAt(owner) >= shown, `the owner shows ${numberAt(owner)} after another one has shown ${shown}`)
      }
      isDone = true
      await writing
      proxy.delay(0)
      await reader.close()
    }
  })

  timedTest('stays while it is read, and is confirmed again and again', async (context) => {
    const replica = await open(context, newPrefix())
    await becomeOwner(replica)
    let questions = 0
    for (let round = 0; round < 150; round += 1) {
      if (replica.readIndex() instanceof Promise) questions += 1
      await sleep(10)
    }
    assert.equal(questions, 0)
  })

  timedTest('goes to another who writes, at once when the owner answers', async (context) => {
    const prefix = newPrefix()
    const [first, second] = [await open(context, prefix), await open(context, prefix)]
    await put(first, 'k/1', 'first')
    await becomeOwner(first)
    const startedMs = performance.now()
    const revision = await put(second, 'k/1', 'second')
    assert.ok(performance.now() - startedMs < 900)
    assert.ok((await first.readIndex()) >= revision)
    assert.equal(first.read('k/1')?.value.toString(), 'second')
    for (let round = 0; round < 10; round += 1) {
      await put(round % 2 === 0 ? first : second, 'k/1', `${round}`)
      const reader = round % 2 === 0 ? second : first
      await reader.readIndex()
      assert.equal(reader.read('k/1')?.value.toString(), `${round}`)
    }
  })

  timedTest('goes to another when the owner is cut off, but not before the owner has stopped to rely on it', async (context) => {
    const prefix = newPrefix()
    const proxy = await TcpProxy.start(cluster.endpoints[0] ?? '')
    context.after(() => proxy.close())
    const owner = await open(context, prefix, [proxy.url])
    const other = await open(context, prefix)
    await put(owner, 'k/1', 'before')
    await becomeOwner(owner)
    proxy.swallow()
    assert.equal(typeof owner.readIndex(), 'number', 'for a moment it is still certain')
    const startedMs = performance.now()
    const writing = put(other, 'k/1', 'after').then(() => performance.now())
    let unaskedMs = 0
    while (performance.now() - startedMs < 1800) {
      const reading = owner.readIndex()
      if (typeof reading === 'number') unaskedMs = performance.now()
      else reading.catch(() => undefined)
      await sleep(5)
    }
    const writtenMs = await writing
    assert.ok(unaskedMs < writtenMs, 'the last read without a question came before the write')
    assert.ok(writtenMs - startedMs > 1000 && writtenMs - startedMs < 4000)
    proxy.heal()
    await owner.readIndex()
    assert.equal(owner.read('k/1')?.value.toString(), 'after')
  })

  timedTest('goes to another when the owner stands still, who shows nothing old when it goes on', async (context) => {
    const prefix = newPrefix()
    const proxy = await TcpProxy.start(cluster.endpoints[0] ?? '')
    context.after(() => proxy.close())
    const child = new ReplicaChild([proxy.url], prefix, 50)
    context.after(() => child.end())
    assert.equal(await child.says(), 'open')
    const other = await open(context, prefix)
    await child.ask('put k/1 before')
    for (let looks = 0; !/ at once before$/.test(await child.ask('read k/1')); looks += 1) assert.ok(looks < 1000, 'it becomes the owner')
    child.signal('SIGSTOP')
    // When it goes on it is asked before it can have heard of anything.
    proxy.swallow()
    await put(other, 'k/1', 'after')
    for (const line of ['read k/1', 'put k/2 mine', 'read k/2']) child.tell(line)
    child.signal('SIGCONT')
    proxy.heal()
    assert.match(await child.says(), /^read \d+ asked after$/)
    assert.match(await child.says(), /^put \d+$/)
    assert.match(await child.says(), /^read \d+ .* mine$/)
    await other.readIndex()
    assert.equal(other.read('k/2')?.value.toString(), 'mine')
  })

  timedTest('is asked for at once by two that start at the same moment, and both write', async (context) => {
    for (let round = 0; round < 6; round += 1) {
      const prefix = newPrefix()
      const replicas = await Promise.all([0, 1].map(() => open(context, prefix, cluster.endpoints, round % 2 === 0 ? 50 : 3000)))
      await Promise.all(replicas.map((replica, index) => put(replica, `k/${index}`, 'x')))
      for (const replica of replicas) {
        await replica.readIndex()
        assert.equal(replica.count({ start: 'k/', end: 'k0' }), 2)
      }
    }
  })

  timedTest('is given up by an owner that ends', async (context) => {
    const prefix = newPrefix()
    const [first, second] = [await open(context, prefix), await open(context, prefix)]
    await put(first, 'k/1', 'first')
    await becomeOwner(first)
    await first.close()
    const startedMs = performance.now()
    await put(second, 'k/1', 'second')
    assert.ok(performance.now() - startedMs < 900)
  })

  timedTest('is asked for again by a reader whose key has gone, but not by one that renews it', async (context) => {
    const client = new EtcdClient({ ...readEndpoints(cluster.endpoints), tls: {}, logger: silentLogger })
    context.after(() => client.close())
    const keys = createEtcdKeys(newPrefix())
    let asked = 0
    const ownership = {
      note: () => undefined,
      beAllowed: async () => {
        asked += 1
      },
    }
    const leases = createLeases({ client, clock: systemClock, reuseMs: 1 })
    const reader = new ReaderKey({ client, keys, leases, ownership, id: 'r', patienceMs: 10_000 })
    assert.ok(!reader.isThere)
    await reader.announce()
    assert.ok(reader.isThere)
    await Promise.all([reader.announce(), reader.announce()])
    assert.equal(asked, 1)
    await client.call(methods.txn, encodeTxn({ compare: [], success: [{ kind: 'delete', key: keys.reader('r') }], failure: [] }, 256), 5000)
    await reader.announce()
    assert.equal(asked, 2)
    await reader.remove()
    assert.ok(!reader.isThere)
  })

  /** Every value that a key has had. */
  const historyOf = (replica: Storage, key: string): readonly (string | undefined)[] =>
    replica.changes({ start: key, end: `${key}\0`, after: replica.compacted, limit: 100 }).changes.map(({ value }) => value?.toString())

  for (const { isStored, what } of [
    { isStored: true, what: 'that was stored, but whose answer is lost,' },
    { isStored: false, what: 'that is lost on its way' },
  ]) {
    timedTest(`an owner's write ${what} happens once, though the right has gone to another since`, async (context) => {
      const prefix = newPrefix()
      const proxy = await TcpProxy.start(cluster.endpoints[0] ?? '')
      context.after(() => proxy.close())
      const [first, second] = [await open(context, prefix, [proxy.url]), await open(context, prefix)]
      await put(first, 'k/1', 'before')
      await becomeOwner(first)
      await put(first, 'k/1', 'as owner')
      if (isStored) proxy.swallowAnswers()
      else proxy.swallow()
      const writing = put(first, 'k/1', 'in doubt')
      if (isStored) {
        const has = async (): Promise<boolean> => {
          await second.readIndex()
          return second.read('k/1')?.value.toString() === 'in doubt'
        }
        while (!(await has())) await sleep(10)
      }
      const revision = await put(second, 'k/1', 'by another')
      proxy.heal()
      assert.equal((await writing) < revision, isStored)
      await Promise.all([first.readIndex(), second.readIndex()])
      const expected = isStored ? ['in doubt', 'by another'] : ['by another', 'in doubt']
      for (const replica of [first, second]) assert.deepEqual(historyOf(replica, 'k/1'), ['before', 'as owner', ...expected])
      // And it goes on.
      await put(first, 'k/1', 'after')
      await put(second, 'k/1', 'later')
    })
  }
})

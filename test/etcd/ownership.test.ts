// A replica that alone writes answers consistent reads without asking etcd, and stops in time when another one wants to write.

import assert from 'node:assert/strict'
import { after, before, describe, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { timedTest } from '../../src/base/timed-test.fixture.js'
import type { Storage } from '../../src/storage/storage.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix, openReplica, put } from './open-replica.js'
import { TcpProxy } from './tcp-proxy.js'

describe('the right to write', { skip: whyNoEtcd ?? false }, () => {
  let cluster: EtcdCluster
  before(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
  })
  after(() => cluster.stop())

  const open = async (context: TestContext, prefix: string, endpoints = cluster.endpoints): Promise<Storage> => {
    const replica = await openReplica({ endpoints, prefix, quietMs: 50 })
    context.after(() => replica.close())
    return replica
  }

  /** Reads until a read needs no question. */
  const becomeOwner = async (replica: Storage): Promise<void> => {
    const endMs = performance.now() + 20_000
    for (;;) {
      const reading = replica.readIndex()
      if (typeof reading === 'number') return
      await reading
      assert.ok(performance.now() < endMs, 'it becomes the owner')
      await sleep(20)
    }
  }

  timedTest('belongs to the only one who writes, and its reads show its writes', async (context) => {
    const replica = await open(context, newPrefix())
    await becomeOwner(replica)
    for (let round = 0; round < 20; round += 1) {
      const revision = await put(replica, 'k/1', `${round}`)
      assert.equal(replica.readIndex(), revision)
      assert.equal(replica.read('k/1')?.value.toString(), `${round}`)
    }
    const writing = put(replica, 'k/1', 'on its way')
    // It is sent at the end of this turn.
    for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    // While it is on its way somebody else may have seen it already: who does not ask must show it.
    const isAsking = replica.readIndex() instanceof Promise
    assert.ok(isAsking || replica.read('k/1')?.value.toString() === 'on its way')
    await writing
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

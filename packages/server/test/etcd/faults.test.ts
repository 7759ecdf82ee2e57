// Faults of a three-member etcd and of its network while replicas read, write and watch: no acknowledged write is lost,
// no change is missed or repeated, errors are reported, and the replicas recover.

import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Cleanup, timedTest } from '../../../api/src/base/testing/timed-test.fixture.js'
import { type Storage, StorageUnavailableError } from '../../src/storage/storage.js'
import { Counting } from './counters.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix, openReplica, put, recordingLogger } from './open-replica.js'
import { TcpProxy } from './tcp-proxy.js'
import { WatchedState } from './watched-state.js'

const until = async (isDone: () => boolean, condition: string): Promise<void> => {
  for (let waited = 0; !isDone(); waited += 20) {
    assert.ok(waited < 30_000, condition)
    await sleep(20)
  }
}

describe('faults of etcd', { skip: whyNoEtcd ?? false }, () => {
  let cluster: EtcdCluster
  before(async () => {
    cluster = await EtcdCluster.start({ members: 3 })
  })
  after(() => cluster.stop())

  /** Two replicas, connected to all members, increment counters and watch during a fault. */
  const whileCounting = async (fault: (counting: Counting) => Promise<void>): Promise<void> => {
    const prefix = newPrefix()
    const { endpoints } = cluster
    const replicas = [await openReplica({ endpoints, prefix }), await openReplica({ endpoints: endpoints.toReversed(), prefix })]
    const watched = replicas.map((replica) => new WatchedState(replica))
    const counting = new Counting({ storages: replicas, keys: ['c/1', 'c/2', 'c/3', 'c/4'] })
    try {
      await sleep(200)
      await fault(counting)
      await untilIncremented(counting)
      await counting.stop()
      await Promise.all(replicas.map((replica) => replica.readIndex()))
      for (const replica of replicas) assert.deepEqual(counting.faults(replica), [])
      for (const state of watched) state.check()
    } finally {
      await counting.stop()
      await Promise.all(replicas.map((replica) => replica.close()))
    }
  }

  /** Resolves when every counter was incremented again. */
  const untilIncremented = async (counting: Counting): Promise<void> => {
    const before = new Map(counting.acknowledged)
    await until(() => [...before].every(([key, count]) => (counting.acknowledged.get(key) ?? 0) > count), 'writes continue')
  }

  const kill = async (counting: Counting, member: number): Promise<void> => {
    await cluster.kill(member)
    await untilIncremented(counting)
    cluster.startMember(member)
    await cluster.ready()
  }
  const faults: { readonly [name: string]: (counting: Counting) => Promise<void> } = {
    'the leader is killed, and comes back': async (counting) => kill(counting, await cluster.leader()),
    'each member is killed in turn': async (counting) => {
      for (const member of [0, 1, 2]) await kill(counting, member)
    },
    'the leader is suspended, and continues later': async (counting) => {
      const leader = await cluster.leader()
      cluster.signal(leader, 'SIGSTOP')
      await sleep(100)
      await untilIncremented(counting)
      cluster.signal(leader, 'SIGCONT')
      await cluster.ready()
    },
  }
  for (const [name, fault] of Object.entries(faults)) test(name, () => whileCounting(fault))

  /** Stops two of three members, and restarts them if the test fails. */
  const loseQuorum = async (context: Cleanup): Promise<() => Promise<void>> => {
    const down = new Set<number>()
    const restore = async (): Promise<void> => {
      for (const member of down) cluster.startMember(member)
      down.clear()
      await cluster.ready()
    }
    context.after(restore)
    for (const member of [0, 1]) {
      await cluster.kill(member)
      down.add(member)
    }
    return restore
  }

  timedTest(
    'without quorum reads succeed, writes and consistent reads fail, and all recover when the members are back',
    async (context) => {
      const logger = recordingLogger()
      const replica = await openReplica({ endpoints: cluster.endpoints, prefix: newPrefix(), retryTimeoutMs: 1500, logger })
      context.after(() => replica.close())
      const watched = new WatchedState(replica)
      await put(replica, 'k/1', 'before')
      const restore = await loseQuorum(context)
      await Promise.all([
        assert.rejects(put(replica, 'k/2', 'meanwhile'), StorageUnavailableError),
        assert.rejects(async () => replica.readIndex(), StorageUnavailableError),
      ])
      assert.equal(replica.read('k/1')?.value.toString(), 'before')
      assert.equal(replica.count({ start: 'k/', end: 'k0' }), 1)
      await until(() => logger.lines.some((line) => line.startsWith('etcd is unavailable')), 'the log says so')
      await restore()
      for (let tries = 0; ; tries += 1) {
        if (await put(replica, 'k/3', 'after').catch(() => undefined)) break
        assert.ok(tries < 40, 'writes are possible again')
      }
      await replica.readIndex()
      assert.equal(replica.read('k/3')?.value.toString(), 'after')
      watched.check()
    },
  )
})

describe('faults of the network to etcd', { skip: whyNoEtcd ?? false }, () => {
  let cluster: EtcdCluster
  before(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
  })
  after(() => cluster.stop())

  interface ReplicasWithProxy {
    readonly proxy: TcpProxy
    readonly near: Storage
    readonly far: Storage
  }

  /** One replica with a direct connection to etcd, and one behind the proxy. */
  const openReplicas = async (context: TestContext): Promise<ReplicasWithProxy> => {
    const prefix = newPrefix()
    const proxy = await TcpProxy.start(cluster.endpoints[0] ?? '')
    const near = await openReplica({ endpoints: cluster.endpoints, prefix })
    const far = await openReplica({ endpoints: [proxy.url], prefix, retryTimeoutMs: 8000 })
    context.after(async () => {
      await Promise.all([near.close(), far.close()])
      await proxy.close()
    })
    return { proxy, near, far }
  }

  test('broken connections are reopened, and no change is missed', async (context) => {
    const { proxy, near, far } = await openReplicas(context)
    const watched = new WatchedState(far)
    const counting = new Counting({ storages: [near, far], keys: ['c/1', 'c/2'] })
    for (let round = 0; round < 10; round += 1) {
      await sleep(60)
      proxy.cut()
    }
    await counting.stop()
    await far.readIndex()
    assert.deepEqual(counting.faults(far), [])
    assert.ok(counting.total > 20)
    watched.check()
  })

  for (const isStored of [true, false]) {
    test(`a write whose ${isStored ? 'response' : 'request'} is lost is applied once, although another replica writes meanwhile`, async (context) => {
      const { proxy, near, far } = await openReplicas(context)
      await put(far, 'k/1', 'before')
      if (isStored) proxy.dropResponses()
      else proxy.dropAll()
      const writing = put(far, 'k/1', 'in doubt')
      const isSeen = async (): Promise<boolean> => (await near.readIndex()) > 0 && near.read('k/1')?.value.toString() === 'in doubt'
      while (isStored && !(await isSeen())) await sleep(10)
      const revision = await put(near, 'k/1', 'by another')
      proxy.heal()
      assert.equal((await writing) < revision, isStored)
      await Promise.all([near.readIndex(), far.readIndex()])
      for (const replica of [near, far]) {
        const { changes } = replica.changes({ start: 'k/1', end: 'k/2', after: replica.compacted, limit: 100 })
        const expected = isStored ? ['in doubt', 'by another'] : ['by another', 'in doubt']
        assert.deepEqual(
          changes.map(({ value }) => value?.toString()),
          ['before', ...expected],
        )
      }
      await put(far, 'k/1', 'after')
    })
  }

  test('a network that drops packets is detected, and compacted history is bridged', async (context) => {
    const { proxy, near, far } = await openReplicas(context)
    const write = (key: string, value?: string) =>
      near.commit([{ key, value: value === undefined ? undefined : Buffer.from(value), expect: undefined }])
    for (const key of ['k/changed', 'k/deleted', 'k/again', 'k/untouched']) await write(key, 'before')
    const revisionBefore = await far.readIndex()
    const watched = new WatchedState(far)
    const delivered: string[] = []
    let gaps = 0
    far.follow((changes, hasGap) => {
      delivered.push(...changes.map(({ key, value }) => `${key} ${value}`))
      gaps += Number(hasGap)
    })
    proxy.dropAll()
    await write('k/changed', 'once')
    await write('k/changed', 'twice')
    await write('k/deleted')
    await write('k/again')
    await write('k/again', 'created again')
    await write('k/passing', 'x')
    await write('k/passing')
    await write('k/new', 'new')
    await near.compact(near.revision)
    await write('k/late', 'after the compaction')
    assert.equal(far.revision, revisionBefore)
    proxy.heal()
    await far.readIndex()
    watched.check()
    assert.deepEqual(delivered, [
      'k/deleted undefined',
      'k/changed twice',
      'k/again created again',
      'k/new new',
      'k/late after the compaction',
    ])
    assert.equal(gaps, 1, 'the gap is reported')
    assert.equal(far.revision, near.revision)
    const everything = { start: '', end: '\u{10ffff}', limit: 100 }
    assert.deepEqual(far.range(everything), near.range(everything))
    assert.ok(far.compacted > revisionBefore, 'history with holes is not shown')
  })

  test('a deletion at the compacted revision is not missed', async (context) => {
    const { proxy, near, far } = await openReplicas(context)
    await put(near, 'k/kept', 'before')
    await put(near, 'k/deleted', 'before')
    await far.readIndex()
    const watched = new WatchedState(far)
    proxy.dropAll()
    const deleted = await near.commit([{ key: 'k/deleted', value: undefined, expect: undefined }])
    const revision = await put(near, 'k/kept', 'after')
    await near.compact(revision)
    assert.ok(deleted.ok && near.compacted > deleted.revision)
    proxy.heal()
    await far.readIndex()
    assert.equal(far.read('k/deleted'), undefined)
    watched.check()
  })
})

// What goes wrong with an etcd of three members while replicas read, write and watch: no acknowledged write is lost, no change is missed or
// repeated, what cannot work says so, and everything recovers by itself.

import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Closing, timedTest } from '../../src/base/timed-test.fixture.js'
import { type Storage, StorageUnavailableError } from '../../src/storage/storage.js'
import { Counting } from './counters.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { becomeOwner, newPrefix, openReplica, put, recordingLogger } from './open-replica.js'
import { TcpProxy } from './tcp-proxy.js'
import { WatchedState } from './watched-state.js'

const until = async (isDone: () => boolean, what: string): Promise<void> => {
  for (let waited = 0; !isDone(); waited += 20) {
    assert.ok(waited < 30_000, what)
    await sleep(20)
  }
}

describe('faults of etcd', { skip: whyNoEtcd ?? false }, () => {
  let cluster: EtcdCluster
  before(async () => {
    cluster = await EtcdCluster.start({ members: 3 })
  })
  after(() => cluster.stop())

  /** Two replicas, each with all members as addresses, count and watch while something happens. */
  const whileCounting = async (happening: (counting: Counting) => Promise<void>): Promise<void> => {
    const prefix = newPrefix()
    const { endpoints } = cluster
    const replicas = [await openReplica({ endpoints, prefix }), await openReplica({ endpoints: endpoints.toReversed(), prefix })]
    const watched = replicas.map((replica) => new WatchedState(replica))
    const counting = new Counting({ storages: replicas, keys: ['c/1', 'c/2', 'c/3', 'c/4'] })
    try {
      await sleep(200)
      await happening(counting)
      await goesOn(counting)
      await counting.stop()
      await Promise.all(replicas.map((replica) => replica.readIndex()))
      for (const replica of replicas) assert.deepEqual(counting.faults(replica), [])
      for (const state of watched) state.check()
    } finally {
      await counting.stop()
      await Promise.all(replicas.map((replica) => replica.close()))
    }
  }

  /** Resolves when every counter has been added to again. */
  const goesOn = async (counting: Counting): Promise<void> => {
    const before = new Map(counting.acknowledged)
    await until(() => [...before].every(([key, count]) => (counting.acknowledged.get(key) ?? 0) > count), 'writes go on')
  }

  test('the leader is killed, and comes back', async () => {
    await whileCounting(async (counting) => {
      const leader = await cluster.leader()
      await cluster.kill(leader)
      await goesOn(counting)
      cluster.startMember(leader)
      await cluster.ready()
    })
  })

  test('each member is killed in turn', async () => {
    await whileCounting(async (counting) => {
      for (const member of [0, 1, 2]) {
        await cluster.kill(member)
        await goesOn(counting)
        cluster.startMember(member)
        await cluster.ready()
      }
    })
  })

  test('the leader stands still, and goes on later', async () => {
    await whileCounting(async (counting) => {
      const leader = await cluster.leader()
      cluster.signal(leader, 'SIGSTOP')
      await sleep(100)
      await goesOn(counting)
      cluster.signal(leader, 'SIGCONT')
      await cluster.ready()
    })
  })

  /** Ends two of three. A test that fails in between leaves none of them behind. */
  const loseQuorum = async (context: Closing): Promise<() => Promise<void>> => {
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
    'too few members are left: reads go on, writes say that they cannot, and all is well when the members are back',
    async (context) => {
      const logger = recordingLogger()
      const replica = await openReplica({ endpoints: cluster.endpoints, prefix: newPrefix(), patienceMs: 1500, logger })
      context.after(() => replica.close())
      const watched = new WatchedState(replica)
      await becomeOwner(replica)
      await put(replica, 'k/1', 'before')
      const restore = await loseQuorum(context)
      const startedMs = performance.now()
      const writing = assert.rejects(put(replica, 'k/2', 'meanwhile'), StorageUnavailableError)
      // One that alone writes is certain of it for a second after etcd's last answer, and no longer.
      let answered = 0
      let askedMs = startedMs
      let reading = replica.readIndex()
      for (; typeof reading === 'number'; reading = replica.readIndex()) {
        assert.ok(askedMs <= startedMs + 1000, `a read is answered ${askedMs - startedMs} ms after the last answer`)
        answered += 1
        await sleep(50)
        askedMs = performance.now()
      }
      const refused = assert.rejects(reading, StorageUnavailableError)
      await Promise.all([writing, refused])
      assert.ok(answered > 1, `${answered} reads are answered beside the write`)
      assert.ok(performance.now() - startedMs < 20_000, 'failing takes no longer than it may')
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

describe('faults of the way to etcd', { skip: whyNoEtcd ?? false }, () => {
  let cluster: EtcdCluster
  before(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
  })
  after(() => cluster.stop())

  interface Distant {
    readonly proxy: TcpProxy
    readonly near: Storage
    readonly far: Storage
  }

  /** One replica beside etcd, and one at the other end of a network. */
  const distant = async (context: TestContext): Promise<Distant> => {
    const prefix = newPrefix()
    const proxy = await TcpProxy.start(cluster.endpoints[0] ?? '')
    const near = await openReplica({ endpoints: cluster.endpoints, prefix })
    const far = await openReplica({ endpoints: [proxy.url], prefix, patienceMs: 8000 })
    context.after(async () => {
      await Promise.all([near.close(), far.close()])
      await proxy.close()
    })
    return { proxy, near, far }
  }

  test('cut connections are made again, and nothing is missed', async (context) => {
    const { proxy, near, far } = await distant(context)
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

  test('a slow network slows down, and no more', async (context) => {
    const { proxy, near, far } = await distant(context)
    proxy.delay(150)
    await put(far, 'k/1', 'slow')
    const revision = await put(near, 'k/2', 'quick')
    assert.ok((await far.readIndex()) >= revision)
    assert.equal(far.read('k/2')?.value.toString(), 'quick')
  })

  test('a network that swallows everything is noticed, and history that was compacted meanwhile is bridged', async (context) => {
    const { proxy, near, far } = await distant(context)
    const write = (key: string, value?: string) =>
      near.commit([{ key, value: value === undefined ? undefined : Buffer.from(value), expect: undefined }])
    for (const key of ['k/changed', 'k/deleted', 'k/again', 'k/untouched']) await write(key, 'before')
    const known = await far.readIndex()
    const watched = new WatchedState(far)
    const told: string[] = []
    let gaps = 0
    far.follow((changes, hasGap) => {
      told.push(...changes.map(({ key, value }) => `${key} ${value}`))
      gaps += Number(hasGap)
    })
    proxy.swallow()
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
    assert.equal(far.revision, known)
    proxy.heal()
    await far.readIndex()
    watched.check()
    assert.deepEqual(told, ['k/deleted undefined', 'k/changed twice', 'k/again created again', 'k/new new', 'k/late after the compaction'])
    assert.equal(gaps, 1, 'that not everything was told is said')
    assert.equal(far.revision, near.revision)
    const everything = { start: '', end: '\u{10ffff}', limit: 100 }
    assert.deepEqual(far.range(everything), near.range(everything))
    assert.ok(far.compacted > known, 'history with holes is not shown')
  })

  test('a deletion in the very step up to which history is given up is not missed', async (context) => {
    const { proxy, near, far } = await distant(context)
    await put(near, 'k/kept', 'before')
    await put(near, 'k/deleted', 'before')
    await far.readIndex()
    const watched = new WatchedState(far)
    proxy.swallow()
    const deleted = await near.commit([{ key: 'k/deleted', value: undefined, expect: undefined }])
    const revision = await put(near, 'k/kept', 'after')
    await near.compact(revision)
    assert.ok(deleted.ok && near.compacted > deleted.revision)
    proxy.heal()
    await far.readIndex()
    assert.equal(far.read('k/deleted'), undefined)
    watched.check()
  })

  test('a silent network is noticed although nobody says anything', async (context) => {
    const { proxy, far } = await distant(context)
    proxy.swallow()
    const writing = put(far, 'k/1', 'patient')
    await sleep(4500)
    proxy.heal()
    await writing
    assert.equal(far.read('k/1')?.value.toString(), 'patient')
  })
})

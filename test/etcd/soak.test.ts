// Everything that can go wrong, at random, while replicas count, watch and compact. ETCD_SOAK_SECONDS sets how long, ETCD_SOAK_SEED repeats the
// choices of an earlier run (not its timing).

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Storage } from '../../src/storage/storage.js'
import { seededRandom } from '../kit/seeded-random.js'
import { Counting } from './counters.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix, openReplica } from './open-replica.js'
import { TcpProxy } from './tcp-proxy.js'
import { WatchedState } from './watched-state.js'

const seconds = Number(process.env['ETCD_SOAK_SECONDS'] ?? 5)
const keys = ['c/1', 'c/2', 'c/3', 'c/4']
const everything = { start: '', end: '\u{10ffff}', limit: Number.POSITIVE_INFINITY }

/** Deletes and writes again, so that there is more to be seen than numbers that grow. */
async function comeAndGo(storage: Storage, isDone: () => boolean): Promise<void> {
  for (let round = 0; !isDone(); round += 1) {
    const key = `t/${round % 5}`
    const value = storage.read(key) ? undefined : Buffer.from(String(round))
    await storage.commit([{ key, value, expect: undefined }]).catch(() => undefined)
  }
}

/** Goes from replica to replica, and must never see less than was acknowledged or than it has seen. */
class ConsistentReader {
  readonly faults: string[] = []
  reads = 0
  unasked = 0
  readonly #replicas: readonly Storage[]
  readonly #counting: Counting
  readonly #seen = new Map<string, number>()

  constructor(replicas: readonly Storage[], counting: Counting) {
    this.#replicas = replicas
    this.#counting = counting
  }

  async read(names: readonly string[], isDone: () => boolean): Promise<void> {
    for (let round = 0; !isDone(); round += 1) {
      const replica = this.#replicas[round % this.#replicas.length] as Storage
      const least = new Map(names.map((key) => [key, Math.max(this.#counting.acknowledged.get(key) ?? 0, this.#seen.get(key) ?? 0)]))
      // Whoever is going to write is promised the same.
      const reading = replica.readIndex(Math.random() < 0.5 ? 'write' : undefined)
      if (typeof reading === 'number') this.unasked += 1
      const isRead = typeof reading === 'number' || (await reading.catch(() => undefined)) !== undefined
      if (isRead) this.#check(replica, least)
      if (round % 20 === 0) await sleep(1)
    }
  }

  #check(replica: Storage, least: ReadonlyMap<string, number>): void {
    this.reads += 1
    for (const [key, count] of least) {
      const shown = Number(replica.read(key)?.value.toString() ?? 0)
      if (shown < count) this.faults.push(`${key} is ${shown} at replica ${this.#replicas.indexOf(replica)}, and was ${count} before`)
      this.#seen.set(key, Math.max(shown, count))
    }
  }
}

describe('soak', { skip: whyNoEtcd ?? false }, () => {
  test('nothing is lost, missed, repeated or invented', { timeout: seconds * 1000 + 120_000 }, async (context) => {
    const random = seededRandom('ETCD_SOAK_SEED')
    context.diagnostic(`ETCD_SOAK_SEED=${random.seed}`)
    const pick = (limit: number): number => random.below(limit)
    const cluster = await EtcdCluster.start({ members: 3 })
    const prefix = newPrefix()
    const proxies = await Promise.all(cluster.endpoints.map((endpoint) => TcpProxy.start(endpoint)))
    const far = proxies.map(({ url }) => url)
    const replicas = await Promise.all(
      [far, far.toReversed(), cluster.endpoints].map((endpoints) => openReplica({ endpoints, prefix, quietMs: 150 })),
    )
    context.after(async () => {
      await Promise.all(replicas.map((replica) => replica.close()))
      await Promise.all(proxies.map((each) => each.close()))
      await cluster.stop()
    })
    const watched = replicas.map((replica) => new WatchedState(replica))
    // Now and then only one replica writes, and not always: it becomes the owner of the right to write, and reads without asking.
    let loner: Storage | undefined
    const mayWrite = (storage: Storage): boolean => loner === undefined || (loner === storage && Math.random() < 0.1)
    const counting = new Counting({ storages: replicas, keys, mayWrite })
    const endMs = performance.now() + seconds * 1000
    const isDone = (): boolean => performance.now() > endMs
    const coming = replicas.map((replica) => comeAndGo(replica, () => isDone() || (loner !== undefined && loner !== replica)))
    const reader = new ConsistentReader(replicas, counting)
    const reading = reader.read(keys, isDone)

    const member = (): number => pick(3)
    const proxy = (): TcpProxy => random.pick(proxies)
    const replica = (): Storage => random.pick(replicas)
    const happenings: (() => Promise<void>)[] = [
      async () => {
        const victim = member()
        await cluster.kill(victim)
        await sleep(pick(1500))
        cluster.startMember(victim)
        await cluster.ready()
      },
      async () => {
        const victim = member()
        cluster.signal(victim, 'SIGSTOP')
        await sleep(pick(3000))
        cluster.signal(victim, 'SIGCONT')
      },
      async () => proxy().cut(),
      async () => {
        const broken = proxy()
        broken.swallow()
        await sleep(pick(2000))
        broken.heal()
      },
      async () => {
        const slow = proxy()
        slow.delay(pick(100))
        await sleep(pick(500))
        slow.delay(0)
      },
      async () => {
        loner = random.pick([undefined, ...replicas])
        await sleep(pick(1500))
      },
      async () => {
        const compacting = replica()
        await compacting.compact(compacting.revision - pick(2000)).catch(() => undefined)
      },
    ]
    while (performance.now() < endMs) {
      await random.pick(happenings)()
      await sleep(pick(200))
    }
    loner = undefined
    await cluster.ready()
    await Promise.all([...coming, reading, counting.stop()])
    await Promise.all(replicas.map((each) => each.readIndex()))
    context.diagnostic(
      `${counting.total} additions, ${watched[0]?.changes} changes, ${reader.reads} consistent reads, ${reader.unasked} of them without a question`,
    )
    assert.deepEqual(reader.faults, [])
    for (const each of replicas) assert.deepEqual(counting.faults(each), [])
    for (const state of watched) state.check()
    for (const each of replicas) assert.deepEqual(each.range(everything), replicas[0]?.range(everything))
    assert.ok(counting.total > 10)
  })
})

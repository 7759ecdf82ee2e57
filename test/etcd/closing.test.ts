// A replica that ends, at whatever moment of its life, leaves no key behind that names it: the next one would wait for it, or believe that it reads.

import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/base/clock.js'
import { type Closing, timedTest } from '../../src/base/timed-test.fixture.js'
import type { EtcdClient } from '../../src/storage/etcd/etcd-client.js'
import { createEtcdKeys } from '../../src/storage/etcd/etcd-keys.js'
import { createLeases } from '../../src/storage/etcd/leases.js'
import { methods } from '../../src/storage/etcd/messages.js'
import { Ownership } from '../../src/storage/etcd/ownership.js'
import { ReaderKey } from '../../src/storage/etcd/reader-key.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { HeadWatch, noOwnerAndNoReaders } from './head-keys.js'
import { becomeOwner, newPrefix, openReplica } from './open-replica.js'

/** What may happen to a transaction on its way. */
type Fate = (send: () => Promise<Buffer>) => Promise<Buffer>

interface Gate {
  readonly opened: Promise<void>
  open(): void
}

function newGate(): Gate {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

describe('a replica ends', { skip: whyNoEtcd ?? false }, () => {
  let cluster: EtcdCluster
  let watch: HeadWatch
  before(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
    watch = new HeadWatch(cluster.endpoints)
  })
  after(async () => {
    await watch.close()
    await cluster.stop()
  })

  /** A client whose first transaction has this fate; all others go their way. */
  const clientWith = (fate: Fate): Pick<EtcdClient, 'call' | 'persist'> => {
    const { client } = watch
    let sent = 0
    return {
      call: (method, message, timeoutMs) => {
        const send = (): Promise<Buffer> => client.call(method, message, timeoutMs)
        if (method === methods.txn) sent += 1
        return method === methods.txn && sent === 1 ? fate(send) : send()
      },
      persist: (deadlineMs, attempt) => client.persist(deadlineMs, attempt),
    }
  }

  /** One that has just claimed the right to write; its claim has this fate. */
  const claiming = (prefix: string, fate: Fate) => {
    const ownership = new Ownership({ client: clientWith(fate), keys: createEtcdKeys(prefix), id: 'me', quietMs: 0 })
    ownership.confirm([], performance.now())
    return { ownership, claimed: ownership.claimIfQuiet() }
  }

  timedTest('while its claim is on its way: the claim comes too late', async () => {
    const [prefix, gate] = [newPrefix(), newGate()]
    const { ownership, claimed } = claiming(prefix, async (send) => {
      await gate.opened
      return send()
    })
    await ownership.giveUp()
    gate.open()
    await claimed
    assert.equal((await watch.keysOf(prefix)).owner, '')
    assert.ok(!ownership.isOurs)
  })

  timedTest('while the answer to its claim is on its way: the right is given back', async () => {
    const [prefix, stored, gate] = [newPrefix(), newGate(), newGate()]
    const { ownership, claimed } = claiming(prefix, async (send) => {
      const answer = await send()
      stored.open()
      await gate.opened
      return answer
    })
    await stored.opened
    assert.equal((await watch.keysOf(prefix)).owner, 'me')
    await ownership.giveUp()
    assert.equal((await watch.keysOf(prefix)).owner, '')
    gate.open()
    await claimed
    assert.ok(!ownership.isOurs)
    await ownership.claimIfQuiet()
    assert.equal((await watch.keysOf(prefix)).owner, '')
  })

  timedTest('after the answer to its claim was lost: the right is given back', async () => {
    const prefix = newPrefix()
    const { ownership, claimed } = claiming(prefix, async (send) => {
      await send()
      throw new Error('lost')
    })
    await assert.rejects(claimed, /lost/)
    assert.equal((await watch.keysOf(prefix)).owner, 'me')
    await ownership.giveUp()
    assert.equal((await watch.keysOf(prefix)).owner, '')
  })

  timedTest('and a question that is answered later claims nothing', async () => {
    const prefix = newPrefix()
    const ownership = new Ownership({ client: watch.client, keys: createEtcdKeys(prefix), id: 'me', quietMs: 0 })
    await ownership.giveUp()
    ownership.confirm([], performance.now())
    await ownership.claimIfQuiet()
    assert.equal((await watch.keysOf(prefix)).owner, '')
  })

  timedTest('while another one waits for it to leave: the other need not wait any longer', async () => {
    const prefix = newPrefix()
    const keys = createEtcdKeys(prefix)
    const { ownership, claimed } = claiming(prefix, (send) => send())
    await claimed
    const { client } = watch
    const other = new Ownership({ client, keys, id: 'other', quietMs: 0 })
    other.note({ key: Buffer.from(keys.owner), value: Buffer.from('me'), modRevision: ownership.step })
    // Nobody tells the one that ends: it has no stream of changes here.
    const allowed = other.beAllowed()
    while ((await watch.keysOf(prefix)).owner === 'me') await new Promise((resolve) => setImmediate(resolve))
    await ownership.giveUp()
    assert.equal((await watch.keysOf(prefix)).owner, '')
    other.note({ key: Buffer.from(keys.owner), value: Buffer.from(''), modRevision: ownership.step })
    await allowed
    assert.ok(other.isAllowed)
  })

  const readerOf = (context: Closing, prefix: string, fate: Fate): ReaderKey => {
    const client = clientWith(fate)
    const leases = createLeases({ client, clock: systemClock, reuseMs: 1 })
    const ownership = { note: () => undefined, beAllowed: async () => undefined }
    const reader = new ReaderKey({ client, keys: createEtcdKeys(prefix), leases, ownership, id: 'me', patienceMs: 10_000 })
    context.after(() => reader.remove())
    return reader
  }

  timedTest('while its key as a reader is on its way: the key is not there afterwards', async (context) => {
    const [prefix, sent, gate] = [newPrefix(), newGate(), newGate()]
    const reader = readerOf(context, prefix, async (send) => {
      sent.open()
      await gate.opened
      return send()
    })
    const announced = reader.announce()
    await sent.opened
    const removed = reader.remove()
    await Promise.race([removed, sleep(100)])
    gate.open()
    await Promise.all([announced, removed])
    assert.deepEqual((await watch.keysOf(prefix)).readers, [])
    assert.ok(!reader.isThere)
  })

  timedTest('before its key as a reader was sent: it is not sent', async (context) => {
    const prefix = newPrefix()
    const reader = readerOf(context, prefix, (send) => send())
    const announced = assert.rejects(reader.announce(), /the storage is closed/)
    await reader.remove()
    await announced
    assert.deepEqual((await watch.keysOf(prefix)).readers, [])
  })

  timedTest('while etcd is started again: nothing names it when etcd is back', async () => {
    const prefix = newPrefix()
    const replica = await openReplica({ endpoints: cluster.endpoints, prefix })
    await becomeOwner(replica)
    await cluster.kill(0)
    const closed = replica.close()
    await sleep(1000)
    cluster.startMember(0)
    await cluster.ready()
    await closed
    assert.deepEqual(await watch.keysOf(prefix), noOwnerAndNoReaders)
  })

  timedTest('while it is opened, after each of the first milliseconds: nothing names it', async () => {
    const prefix = newPrefix()
    for (let delayMs = 0; delayMs < 40; delayMs += 1) {
      const ending = new AbortController()
      const opening = openReplica({ endpoints: cluster.endpoints, prefix, signal: ending.signal }).catch((error: unknown) => {
        if (!ending.signal.aborted) throw error
      })
      await sleep(delayMs)
      ending.abort()
      await (await opening)?.close()
      assert.deepEqual(await watch.keysOf(prefix), noOwnerAndNoReaders, `after ${delayMs} ms`)
    }
  })

  timedTest("while another one reads and claims: the right is nobody's or the other's", async (context) => {
    const prefix = newPrefix()
    const other = await openReplica({ endpoints: cluster.endpoints, prefix, quietMs: 0 })
    context.after(() => other.close())
    const { readers } = await watch.keysOf(prefix)
    for (let round = 0; round < 6; round += 1) {
      const replica = await openReplica({ endpoints: cluster.endpoints, prefix, quietMs: 0 })
      const until = Promise.all([sleep(round * 6), replica.readIndex()])
      for (let isOver = false; !isOver; ) {
        await other.readIndex()
        isOver = await Promise.race([until.then(() => true), sleep(1, false)])
      }
      await Promise.all([replica.close(), other.readIndex()])
      const left = await watch.keysOf(prefix)
      assert.deepEqual(left.readers, readers)
      assert.ok(left.owner === '' || left.owner === readers[0], `${left.owner} after ${round} rounds`)
      await becomeOwner(other)
    }
  })

  timedTest('as soon as it has been opened, again and again: nothing names it', async () => {
    const prefix = newPrefix()
    for (let round = 0; round < 12; round += 1) {
      const replica = await openReplica({ endpoints: cluster.endpoints, prefix })
      await replica.close()
      assert.deepEqual(await watch.keysOf(prefix), noOwnerAndNoReaders, `after ${round + 1} replicas`)
    }
  })
})

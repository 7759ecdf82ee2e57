// Says that this replica answers reads, to whoever owns the right to write (see ownership.ts). The key is written first, and then the right is taken
// from whoever has it, so that every owner after that finds the key. It has a lease, and a replica that could not renew it in time does not answer
// consistent reads before it has done all this again.

import { atMost } from '../../base/clock.js'
import { StorageUnavailableError } from '../storage.js'
import type { EtcdClient } from './etcd-client.js'
import type { EtcdKeys } from './etcd-keys.js'
import type { Leases } from './leases.js'
import { decodeTxn, encodeTxn, methods, type Operation } from './messages.js'
import type { Ownership } from './ownership.js'

export interface ReaderKeyOptions {
  readonly client: Pick<EtcdClient, 'call' | 'persist'>
  readonly keys: EtcdKeys
  readonly leases: Leases
  readonly ownership: Pick<Ownership, 'note' | 'beAllowed'>
  /** This replica; no other ever has the same. */
  readonly id: string
  readonly patienceMs: number
}

/** After a crash the next owner believes for this long that somebody else reads: it asks more often. */
const lifeMs = 60_000
const renewMs = lifeMs / 3
/** A read that has begun is answered within this time, and clocks may differ by a little. */
const marginMs = 15_000
const betweenTriesMs = 1000
/** As long as the right to write is tried to be given back (see ownership.ts), with what is on its way at the beginning. */
const removePatienceMs = 2500
const writingPatienceMs = 1000

export class ReaderKey {
  readonly #options: ReaderKeyOptions
  readonly #key: string
  /** etcd's revision of the key as this replica wrote it last; 0: never. */
  #step = 0
  #isThereUntilMs = 0
  #announcing: Promise<void> | undefined
  /** The key is on its way to etcd. */
  #writing: Promise<unknown> | undefined
  #timer: NodeJS.Timeout | undefined
  #isRemoved = false

  constructor(options: ReaderKeyOptions) {
    this.#options = options
    this.#key = options.keys.reader(options.id)
  }

  /** Whether every owner certainly knows of this replica. */
  get isThere(): boolean {
    return performance.now() < this.#isThereUntilMs
  }

  /** Rejects with StorageUnavailableError. */
  announce(): Promise<void> {
    this.#announcing ??= this.#announce().finally(() => {
      this.#announcing = undefined
    })
    return this.#announcing
  }

  /** For a replica that ends. What is on its way would be there again after it was deleted, and count as another reader for a minute. */
  async remove(): Promise<void> {
    this.#isRemoved = true
    this.#isThereUntilMs = 0
    clearTimeout(this.#timer)
    const endMs = performance.now() + removePatienceMs
    if (this.#writing) await atMost(writingPatienceMs, this.#writing)
    const message = encodeTxn({ compare: [], success: [{ kind: 'delete', key: this.#key }], failure: [] }, 256)
    const { client } = this.#options
    await client.persist(endMs, (timeoutMs) => client.call(methods.txn, message, timeoutMs))
  }

  async #announce(): Promise<void> {
    const { client, ownership, patienceMs } = this.#options
    clearTimeout(this.#timer)
    try {
      await client.persist(performance.now() + patienceMs, async (timeoutMs) => {
        const begunMs = performance.now()
        const wasThere = await this.#put(timeoutMs)
        if (!wasThere) await ownership.beAllowed()
        if (!this.#isRemoved) this.#isThereUntilMs = begunMs + lifeMs - marginMs
      })
      this.#renewAfter(renewMs)
    } catch (error) {
      this.#renewAfter(betweenTriesMs)
      throw error
    }
  }

  /** Reads say why it failed, as soon as they depend on it. */
  #renewAfter(ms: number): void {
    if (this.#isRemoved) return
    this.#timer = setTimeout(() => void this.announce().catch(() => undefined), ms)
    this.#timer.unref()
  }

  /** Whether it has been there since it was written before. */
  async #put(timeoutMs: number): Promise<boolean> {
    const { client, keys, leases, ownership } = this.#options
    const [key, before] = [this.#key, this.#step]
    const lease = await leases.grant(lifeMs, timeoutMs)
    // Who the owner is must be known as of the writing: one who became it a moment before does not know of this replica.
    const work: readonly Operation[] = [
      { kind: 'put', key, value: [], lease },
      { kind: 'range', request: { key: keys.owner } },
    ]
    const message = encodeTxn({ compare: [{ key, modRevision: before }], success: work, failure: work }, 256)
    if (this.#isRemoved) throw new StorageUnavailableError('the storage is closed')
    const writing = client.call(methods.txn, message, timeoutMs)
    this.#writing = writing
    const { succeeded, revision, answers } = decodeTxn(await writing)
    this.#step = revision
    ownership.note(answers[1]?.range?.items[0])
    return succeeded && before > 0 && this.isThere
  }
}

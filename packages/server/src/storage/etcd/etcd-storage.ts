// The engine for many replicas: the data is in etcd, which decides every write; each replica answers reads from a mirror that etcd's changes feed.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../base/clock.js'
import { Closing } from '../base/closing.js'
import type { Logger } from '../base/logger.js'
import { unlessAborted } from '../base/unless-aborted.js'
import type { Dial } from '../net/tunnel.js'
import { BatchWriter } from './etcd/batch-writer.js'
import { ChangeFeed } from './etcd/change-feed.js'
import { claimPrefix, prefixFormat } from './etcd/claim-prefix.js'
import { type Compaction, createCompaction } from './etcd/compaction.js'
import { type EtcdCredentials, type EtcdTls, readEndpoints } from './etcd/endpoint.js'
import { EtcdClient } from './etcd/etcd-client.js'
import { createEtcdKeys } from './etcd/etcd-keys.js'
import { createLeases } from './etcd/leases.js'
import { loadMirror } from './etcd/load-mirror.js'
import { createNumbering } from './etcd/numbering.js'
import { Ownership } from './etcd/ownership.js'
import { createReadIndex } from './etcd/read-index.js'
import { ReaderKey } from './etcd/reader-key.js'
import { SeenBatch } from './etcd/seen-batch.js'
import { upgradePrefix } from './etcd/upgrade-prefix.js'
import { Mirror } from './mirror.js'
import { MirrorFile } from './mirror-file.js'
import {
  type ChangeListener,
  type ChangesPage,
  type ChangesQuery,
  type CommitOutcome,
  type Entry,
  type FormatUpgrade,
  type KeyRange,
  type RangePage,
  type RangeQuery,
  type ScannedEntry,
  type Storage,
  StorageRefusedError,
  type StorageSize,
  StorageUnavailableError,
  type Unfollow,
  type Write,
} from './storage.js'

export interface EtcdOptions {
  /** Such as `https://10.0.0.1:2379`, one for each member; one of them may name a user: `https://name:password@10.0.0.1:2379`. */
  readonly endpoints: readonly string[]
  /** The beginning of every key, such as `/registry`. */
  readonly prefix: string
  /** Whose data this is: a prefix that was made with another mark is refused. */
  readonly mark: string
  readonly tls?: EtcdTls
  /** Left out: directly. */
  readonly dial?: Dial | undefined
  readonly credentials?: EtcdCredentials
  /** Where the mirror is kept from one start to the next; left out: in a temporary folder. */
  readonly mirrorFolder?: string
  /** How long a write or a consistent read may take before it fails. */
  readonly patienceMs?: number
  /** How much longer keys with an expiry may live for the sake of sharing a lease. */
  readonly leaseReuseMs?: number
  /** How long nobody else may have written before this replica takes the right to write, and answers consistent reads without asking. */
  readonly quietMs?: number
  /** How a prefix of the format before becomes one of this. */
  readonly upgrade?: FormatUpgrade | undefined
  readonly clock: Clock
  readonly logger: Logger
  /** Ends the wait for an etcd that cannot be reached. */
  readonly signal?: AbortSignal
}

const usualPatienceMs = 10_000
const usualReuseMs = 60_000
const usualQuietMs = 3000
const betweenTriesMs = 1000

/**
 * Waits for etcd as long as it takes, and says so in the log. Rejects with StorageRefusedError for settings that can never work and for a
 * prefix that holds something else.
 */
export async function openEtcdStorage(options: EtcdOptions): Promise<Storage> {
  const closing = new Closing()
  try {
    return new EtcdStorage(await openParts(options, closing), closing)
  } catch (error) {
    await closing.close()
    throw error
  }
}

interface EtcdParts {
  readonly mirror: Mirror
  readonly writer: BatchWriter
  readonly readIndex: Storage['readIndex']
  readonly compaction: Compaction
  readonly measure: () => Promise<readonly StorageSize[]>
}

async function openParts(options: EtcdOptions, closing: Closing): Promise<EtcdParts> {
  const { logger, clock, patienceMs = usualPatienceMs } = options
  if (options.endpoints.length === 0) throw new StorageRefusedError('etcd needs at least one address')
  const { endpoints, credentials = options.credentials } = readEndpoints(options.endpoints)
  const client = new EtcdClient({ endpoints, credentials, tls: options.tls ?? {}, dial: options.dial, logger })
  closing.add(() => client.close())
  const keys = createEtcdKeys(options.prefix)
  const shared = { client, keys, logger, patienceMs }
  const format = await waitFor(() => claimPrefix(options.mark, shared), options)
  const { upgrade, signal } = options
  if (format.isUpgrading) await waitFor(() => upgradePrefix(format, { ...shared, upgrade, signal }), options)
  const numbering = createNumbering(format.base)
  const { clusterId } = await client.status()
  const source = `${clusterId} ${keys.prefix} ${format.base} ${prefixFormat}`
  const folder = options.mirrorFolder === undefined ? {} : { folder: options.mirrorFolder }
  const mirror = new Mirror({ file: await MirrorFile.open({ ...folder, source, logger }), positionOf: numbering.stepOf, upgrade, logger })
  closing.add(() => mirror.close())
  const replicaId = randomUUID()
  const quietMs = options.quietMs ?? usualQuietMs
  const ownership = new Ownership({ client, keys, id: replicaId, quietMs })
  const parts = { ...shared, numbering, mirror, ownership, replicaId, seenBatch: new SeenBatch() }
  await waitFor(() => loadMirror(parts), options)
  const feed: ChangeFeed = new ChangeFeed({ ...parts, quietMs, ownWrites: () => writer })
  closing.add(() => feed.close())
  // Before the feed is closed, which may be waiting for etcd, and after the writer, which needs it to the end.
  closing.add(() => client.close())
  const leases = createLeases({ client, clock, reuseMs: options.leaseReuseMs ?? usualReuseMs })
  const readerKey = new ReaderKey({ ...parts, leases, id: replicaId })
  closing.add(() => Promise.allSettled([ownership.giveUp(), readerKey.remove()]))
  const writer: BatchWriter = new BatchWriter({ ...parts, feed, leases })
  closing.add(() => writer.close())
  await waitFor(() => readerKey.announce(), options)
  const readIndex = createReadIndex({ ...parts, readerKey, ownWrites: writer })
  await waitFor(async () => readIndex(), options)
  const compaction = await waitFor(() => createCompaction(parts), options)
  return { mirror, writer, readIndex, compaction, measure: () => client.measure(patienceMs) }
}

/** At the start there is nobody yet who could be told that etcd cannot be used, so it is waited for. */
async function waitFor<T>(work: () => Promise<T>, { signal, logger }: EtcdOptions): Promise<T> {
  for (;;) {
    try {
      // What goes on after that ends with the connection, which is closed then.
      return await unlessAborted(work(), signal)
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) throw error
      signal?.throwIfAborted()
      logger.warn({}, `waiting for etcd: ${error.message}`)
      await sleep(betweenTriesMs, undefined, signal ? { signal } : {})
    }
  }
}

class EtcdStorage implements Storage {
  readonly #parts: EtcdParts
  readonly #mirror: Mirror
  readonly #closing: Closing
  #closed: Promise<void> | undefined

  constructor(parts: EtcdParts, closing: Closing) {
    this.#parts = parts
    this.#mirror = parts.mirror
    this.#closing = closing
  }

  get revision(): number {
    return this.#mirror.revision
  }

  get compacted(): number {
    return this.#mirror.compacted
  }

  readIndex(purpose?: 'write'): number | Promise<number> {
    return this.#closed ? Promise.reject(closedError()) : this.#parts.readIndex(purpose)
  }

  read(key: string): Entry | undefined {
    return this.#mirror.read(key)
  }

  recall(range: KeyRange, at: number): Generator<undefined, void, void> {
    return this.#mirror.recall(range, at)
  }

  scan(range: KeyRange, look: (scanned: ScannedEntry) => boolean): void {
    this.#mirror.scan(range, look)
  }

  range(query: RangeQuery): RangePage {
    return this.#mirror.range(query)
  }

  /** Whole collections and namespaces are counted as they change; any other range is scanned. */
  count(range: KeyRange, at?: number): number {
    return this.#mirror.count(range, at)
  }

  commit(writes: readonly Write[]): Promise<CommitOutcome> {
    if (this.#closed) return Promise.reject(closedError())
    if (writes.length === 0) return Promise.resolve({ ok: true, revision: this.revision })
    return this.#parts.writer.commit(writes)
  }

  changes(query: ChangesQuery): ChangesPage {
    return this.#mirror.changes(query)
  }

  follow(listener: ChangeListener): Unfollow {
    return this.#mirror.follow(listener)
  }

  /** Here at once; in etcd, when no other replica has done so since the last call. */
  async compact(revision: number): Promise<void> {
    if (this.#closed) throw closedError()
    const compacted = Math.min(revision, this.revision)
    if (compacted <= this.compacted) return
    await this.#mirror.compact(compacted)
    await this.#parts.compaction.run(compacted)
  }

  measure(): Promise<readonly StorageSize[]> {
    return this.#closed ? Promise.reject(closedError()) : this.#parts.measure()
  }

  close(): Promise<void> {
    this.#closed ??= this.#closing.close()
    return this.#closed
  }
}

function closedError(): StorageUnavailableError {
  return new StorageUnavailableError('the storage is closed')
}

// The etcd engine, for several replicas: etcd decides every write; each replica reads from a local mirror, which an etcd watch updates.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { CleanupStack } from '@cluster-apiserver/api/base/async/cleanup-stack.js'
import { rejectOnAbort } from '@cluster-apiserver/api/base/async/reject-on-abort.js'
import type { Clock } from '@cluster-apiserver/api/base/clock.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import type { Dial } from '../../net/outbound/http-connect-tunnel.js'
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
} from '../storage.js'
import { BatchWriter } from './batch-writer.js'
import { ChangeFeed } from './change-feed.js'
import { claimPrefix, prefixFormat } from './claim-prefix.js'
import { EtcdClient } from './etcd-client.js'
import { type Compaction, createCompaction } from './etcd-compaction.js'
import { type EtcdCredentials, type EtcdTls, readEndpoints } from './etcd-endpoint.js'
import { createEtcdKeys, type EtcdKeys } from './etcd-keys.js'
import { decodeRange, encodeRange, methods } from './grpc/etcd-messages.js'
import { GrpcError } from './grpc/grpc-error.js'
import { createLeases } from './leases.js'
import { loadMirror } from './mirror/load-mirror.js'
import { Mirror } from './mirror/mirror.js'
import { MirrorFile } from './mirror/mirror-file.js'
import { createNumbering } from './revision-numbering.js'
import { upgradePrefix } from './upgrade-prefix.js'

export interface EtcdOptions {
  /** Such as `https://10.0.0.1:2379`, one for each member; one may name a user: `https://name:password@10.0.0.1:2379`. */
  readonly endpoints: readonly string[]
  readonly prefix: string
  /** Name of the identity that owns the data: a prefix with another mark is refused. */
  readonly mark: string
  readonly tls?: EtcdTls
  readonly dial?: Dial | undefined
  readonly credentials?: EtcdCredentials
  /** Default: a temporary folder. */
  readonly mirrorFolder?: string
  /** Time after which a write or a consistent read fails. */
  readonly retryTimeoutMs?: number
  /** Keys may live this much longer to share a lease, but at most a twentieth of their lifetime. */
  readonly leaseReuseMs?: number
  readonly upgrade?: FormatUpgrade | undefined
  readonly clock: Clock
  readonly logger: Logger
  readonly signal?: AbortSignal
}

const defaultTimeoutMs = 10_000
const defaultLeaseReuseMs = 60_000
const retryMs = 1000

/** Waits for etcd. Rejects with StorageRefusedError for settings that can never work and for a prefix with other data. */
export async function openEtcdStorage(options: EtcdOptions): Promise<Storage> {
  const cleanup = new CleanupStack()
  try {
    return new EtcdStorage(await openParts(options, cleanup), cleanup)
  } catch (error) {
    await cleanup.close()
    throw error
  }
}

interface EtcdParts {
  readonly mirror: Mirror
  readonly writer: BatchWriter
  readonly readIndex: () => Promise<number>
  readonly compaction: Compaction
  readonly measure: () => Promise<readonly StorageSize[]>
}

async function openParts(options: EtcdOptions, cleanup: CleanupStack): Promise<EtcdParts> {
  const { logger, clock, retryTimeoutMs = defaultTimeoutMs } = options
  if (options.endpoints.length === 0) throw new StorageRefusedError('etcd needs at least one address')
  const { endpoints, credentials = options.credentials } = readEndpoints(options.endpoints)
  const client = new EtcdClient({ endpoints, credentials, tls: options.tls ?? {}, dial: options.dial, logger })
  cleanup.add(() => client.close())
  const keys = createEtcdKeys(options.prefix)
  const shared = { client, keys, logger, retryTimeoutMs }
  const format = await waitFor(() => claimPrefix(options.mark, shared), options)
  const { upgrade, signal } = options
  if (format.isUpgrading) await waitFor(() => upgradePrefix(format, { ...shared, upgrade, signal }), options)
  const numbering = createNumbering(format.base)
  const { clusterId } = await client.status()
  const source = `${clusterId} ${keys.prefix} ${format.base} ${prefixFormat}`
  const folder = options.mirrorFolder === undefined ? {} : { folder: options.mirrorFolder }
  const mirror = new Mirror({ file: await MirrorFile.open({ ...folder, source, logger }), positionOf: numbering.stepOf, upgrade, logger })
  cleanup.add(() => mirror.close())
  const context = { ...shared, numbering, mirror }
  await waitFor(() => loadMirror(context), options)
  const feed = new ChangeFeed(context)
  cleanup.add(() => feed.close())
  // Closed before the feed, which may be waiting for etcd, and after the writer, which needs the client.
  cleanup.add(() => client.close())
  const leases = createLeases({ client, clock, reuseMs: options.leaseReuseMs ?? defaultLeaseReuseMs })
  const writer = new BatchWriter({ ...context, leases, replicaId: randomUUID() })
  cleanup.add(() => writer.close())
  const readIndex = createReadIndex(context)
  await waitFor(readIndex, options)
  const compaction = await waitFor(() => createCompaction(context), options)
  return { mirror, writer, readIndex, compaction, measure: () => client.measure(retryTimeoutMs) }
}

/** At startup there is no client to report an error to, so wait for etcd. */
async function waitFor<T>(work: () => Promise<T>, { signal, logger }: EtcdOptions): Promise<T> {
  for (;;) {
    try {
      return await rejectOnAbort(work(), signal)
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) throw error
      signal?.throwIfAborted()
      logger.warn({ error: error.message }, 'waiting for etcd')
      await sleep(retryMs, undefined, signal ? { signal } : {})
    }
  }
}

class EtcdStorage implements Storage {
  readonly #parts: EtcdParts
  readonly #mirror: Mirror
  readonly #cleanup: CleanupStack
  #closed: Promise<void> | undefined

  constructor(parts: EtcdParts, cleanup: CleanupStack) {
    this.#parts = parts
    this.#mirror = parts.mirror
    this.#cleanup = cleanup
  }

  get revision(): number {
    return this.#mirror.revision
  }

  get compacted(): number {
    return this.#mirror.compacted
  }

  readIndex(): Promise<number> {
    return this.#closed ? Promise.reject(closedError()) : this.#parts.readIndex()
  }

  read(key: string): Entry | undefined {
    return this.#mirror.read(key)
  }

  prepareRangeAt(range: KeyRange, at: number): Generator<undefined, void, void> {
    return this.#mirror.prepareRangeAt(range, at)
  }

  scan(range: KeyRange, visit: (scanned: ScannedEntry) => boolean): void {
    this.#mirror.scan(range, visit)
  }

  range(query: RangeQuery): RangePage {
    return this.#mirror.range(query)
  }

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

  /** Compacts the mirror, and etcd unless another replica has done so since the last call. */
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
    this.#closed ??= this.#cleanup.close()
    return this.#closed
  }
}

function closedError(): StorageUnavailableError {
  return new StorageUnavailableError('the storage is closed')
}

interface ReadIndexOptions {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly mirror: Mirror
  readonly retryTimeoutMs: number
}

const minTimeoutMs = 500

/** Callers that arrive while a read is in flight share the next read, so a thousand concurrent callers cost etcd two small reads. */
function createReadIndex({ client, keys, mirror, retryTimeoutMs }: ReadIndexOptions): () => Promise<number> {
  const request = encodeRange({ key: keys.head })
  let inFlight: Promise<number> | undefined
  let next: Promise<number> | undefined

  const readHead = async (timeoutMs: number): Promise<number> =>
    decodeRange(await client.call(methods.range, request, timeoutMs)).items[0]?.modRevision ?? 0

  const readNow = async (deadlineMs: number): Promise<number> => {
    next = undefined
    inFlight = client.retryUntil(deadlineMs, readHead)
    let step: number
    try {
      step = await inFlight
    } catch (error) {
      throw error instanceof GrpcError ? new StorageUnavailableError(`etcd does not respond: ${error.message}`) : error
    } finally {
      inFlight = undefined
    }
    const before = mirror.position
    if (await mirror.reach(step, retryTimeoutMs)) return mirror.revision
    // The mirror may be fed by a member that is cut off from the others.
    if (mirror.position === before) client.changeMember('changes do not arrive')
    throw new StorageUnavailableError('etcd is unavailable: changes do not arrive')
  }

  return () => {
    const deadlineMs = performance.now() + retryTimeoutMs
    if (!inFlight) return readNow(deadlineMs)
    // The deadline includes the wait for the read in flight.
    const readAgain = (): Promise<number> => readNow(Math.max(deadlineMs, performance.now() + minTimeoutMs))
    next ??= inFlight.then(readAgain, readAgain)
    return next
  }
}

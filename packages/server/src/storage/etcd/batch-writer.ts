// Sends commits of consecutive event-loop iterations to etcd in one transaction, which is applied exactly once even if it is retried.

import { waitAtMost } from '@cluster-apiserver/api/base/clock.js'
import { checkWrites, coalesce } from '../commit-queue.js'
import { type CommitOutcome, StorageUnavailableError, TooLargeError, TooManyWritesError, type Write } from '../storage.js'
import { batchBytes, batchTxn, countForBatch, maxWritesPerCommit, ownOperations, type PendingCommit } from './batch-transaction.js'
import type { EtcdClient } from './etcd-client.js'
import type { EtcdKeys } from './etcd-keys.js'
import { decodeTxn, encodeTxn, methods } from './grpc/etcd-messages.js'
import { GrpcError, grpcCodes, isTooLarge } from './grpc/grpc-error.js'
import type { Leases } from './leases.js'
import type { Mirror } from './mirror/mirror.js'
import type { Numbering } from './revision-numbering.js'

interface BatchWriterOptions {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly numbering: Numbering
  readonly mirror: Mirror
  readonly leases: Leases
  readonly replicaId: string
  readonly retryTimeoutMs: number
}

interface WrittenBatch {
  /** Revision of etcd. */
  readonly step: number
  /** Whether each commit met its conditions; undefined if the response was lost, but the author's key shows that the batch was stored. */
  readonly succeeded: readonly boolean[] | undefined
}

/** Lifetime of the author's key after its last write; its lease is replaced at half of that. */
const authorLifeMs = 3_600_000
const closeTimeoutMs = 1_000

export class BatchWriter {
  readonly #options: BatchWriterOptions
  readonly #authorKey: string
  readonly #waiting: PendingCommit[] = []
  readonly #arriving = new Set<Promise<void>>()
  #authorRevision = 0
  #authorLease: { readonly id: bigint; readonly renewMs: number } | undefined
  #batches = 0
  #recentMaxCommits = Number.POSITIVE_INFINITY
  #lastBatchCommits = Number.POSITIVE_INFINITY
  #running: Promise<void> | undefined

  constructor(options: BatchWriterOptions) {
    this.#options = options
    this.#authorKey = options.keys.author(options.replicaId)
  }

  commit(writes: readonly Write[]): Promise<CommitOutcome> {
    return new Promise((resolve, reject) => {
      checkWrites(writes)
      if (writes.length > maxWritesPerCommit) throw new TooManyWritesError(maxWritesPerCommit)
      const deadlineMs = performance.now() + this.#options.retryTimeoutMs
      this.#waiting.push({ writes, deadlineMs, resolve, reject })
      this.#running ??= this.#run()
    })
  }

  /** Waits for commits in flight, at most `closeTimeoutMs`: etcd may be down. */
  close(): Promise<void> {
    return waitAtMost(
      closeTimeoutMs,
      Promise.resolve(this.#running).then(() => Promise.all(this.#arriving)),
    )
  }

  #sizeOfBatch(): number | undefined {
    const waiting = this.#waiting.length
    return countForBatch(this.#waiting) < waiting ? undefined : waiting
  }

  async #run(): Promise<void> {
    do {
      await new Promise<void>((resolve) => coalesce(() => this.#sizeOfBatch(), resolve, this.#recentMaxCommits <= 1))
      const commits = this.#waiting.splice(0, countForBatch(this.#waiting))
      this.#recentMaxCommits = Math.max(this.#lastBatchCommits, commits.length)
      this.#lastBatchCommits = commits.length
      try {
        const written = await this.#write(commits)
        // The next batch may be in flight while this one arrives in the mirror, the local copy of etcd's data.
        const arriving = this.#resolveOnArrival(commits, written).finally(() => this.#arriving.delete(arriving))
        this.#arriving.add(arriving)
      } catch (error) {
        for (const { reject } of commits) reject(toStorageError(error))
      }
    } while (this.#waiting.length > 0)
    this.#running = undefined
  }

  #write(commits: readonly PendingCommit[]): Promise<WrittenBatch> {
    const deadlineMs = commits[0]?.deadlineMs ?? 0
    if (performance.now() > deadlineMs) throw new StorageUnavailableError('etcd is unavailable: the write has waited too long')
    const batchNumber = ++this.#batches
    return this.#options.client.retryUntil(deadlineMs, (timeoutMs) => this.#attempt(commits, batchNumber, timeoutMs))
  }

  async #attempt(commits: readonly PendingCommit[], batchNumber: number, timeoutMs: number): Promise<WrittenBatch> {
    const { client, leases, keys, numbering, replicaId } = this.#options
    try {
      const leaseIds = await this.#takeLeases(commits, timeoutMs)
      const author = { key: this.#authorKey, revision: this.#authorRevision, lease: await this.#leaseOfAuthor(timeoutMs) }
      const leaseOf = (write: Write): bigint | undefined => leaseIds.get(write)
      const txn = batchTxn(commits, { keys, numbering, replicaId, author, batchNumber, leaseOf })
      const { succeeded, revision, responses } = decodeTxn(await client.call(methods.txn, encodeTxn(txn, batchBytes(commits)), timeoutMs))
      if (succeeded) {
        this.#authorRevision = revision
        return { step: revision, succeeded: responses.slice(ownOperations).map(({ txn }) => txn?.succeeded ?? false) }
      }
      const found = responses[0]?.range?.items[0]
      this.#authorRevision = found?.modRevision ?? 0
      if (found?.value.toString() === String(batchNumber)) return { step: found.modRevision, succeeded: undefined }
    } catch (error) {
      if (!(error instanceof GrpcError && error.code === grpcCodes.notFound)) throw error
      leases.forget()
      this.#authorLease = undefined
      throw new GrpcError(grpcCodes.aborted, error.message)
    }
    throw new GrpcError(grpcCodes.aborted, 'an earlier write has arrived after all')
  }

  async #takeLeases(commits: readonly PendingCommit[], timeoutMs: number): Promise<ReadonlyMap<Write, bigint>> {
    const leaseIds = new Map<Write, bigint>()
    for (const { writes } of commits) {
      for (const write of writes) {
        if (write.value === undefined || write.expiresAtMs === undefined) continue
        leaseIds.set(write, await this.#options.leases.leaseUntil(write.expiresAtMs, timeoutMs))
      }
    }
    return leaseIds
  }

  async #leaseOfAuthor(timeoutMs: number): Promise<bigint> {
    if (this.#authorLease === undefined || performance.now() > this.#authorLease.renewMs) {
      const id = await this.#options.leases.grant(authorLifeMs, timeoutMs)
      this.#authorLease = { id, renewMs: performance.now() + authorLifeMs / 2 }
    }
    return this.#authorLease.id
  }

  async #resolveOnArrival(commits: readonly PendingCommit[], { step, succeeded }: WrittenBatch): Promise<void> {
    const { client, mirror, numbering, retryTimeoutMs } = this.#options
    const before = mirror.position
    const hasArrived = await mirror.reach(step, retryTimeoutMs)
    if (!hasArrived && mirror.position === before) client.changeMember('changes do not arrive')
    for (const [index, { writes, resolve, reject }] of commits.entries()) {
      try {
        if (!hasArrived) throw new StorageUnavailableError('etcd is unavailable: the write is stored, but its change does not arrive')
        resolve(this.#outcome(writes, numbering.revisionOf(step, index), succeeded?.[index]))
      } catch (error) {
        reject(error)
      }
    }
  }

  #outcome(writes: readonly Write[], revision: number, isKnownToSucceed: boolean | undefined): CommitOutcome {
    const { mirror } = this.#options
    const hasPut = writes.some(({ value }) => value !== undefined)
    if (isKnownToSucceed && hasPut) return { ok: true, revision }
    if (isKnownToSucceed === undefined && revision <= mirror.compacted) {
      throw new StorageUnavailableError('etcd could not be used for so long that it is unknown whether the write was stored')
    }
    if (mirror.hasChangeAt(revision)) return { ok: true, revision }
    const isUnconditional = writes.every(({ expect }) => expect === undefined)
    // Only deletions of absent keys: nothing has changed.
    if (isKnownToSucceed || (isUnconditional && !hasPut)) return { ok: true, revision: mirror.revision }
    return this.#conflict(writes)
  }

  #conflict(writes: readonly Write[]): CommitOutcome {
    const { mirror } = this.#options
    const conditional = writes.filter(({ expect }) => expect !== undefined)
    const conflicting = conditional.find(({ key, expect }) => (mirror.read(key)?.revision ?? 0) !== expect) ?? conditional[0]
    const key = conflicting?.key ?? ''
    return { ok: false, key, current: mirror.read(key) }
  }
}

function toStorageError(error: unknown): unknown {
  if (!(error instanceof GrpcError)) return error
  if (isTooLarge(error)) return new TooLargeError('the object is larger than etcd takes: start etcd with a greater --max-request-bytes')
  return new StorageUnavailableError(`etcd refuses the write: ${error.message}`)
}

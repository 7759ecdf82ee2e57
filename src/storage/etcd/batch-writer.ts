// Carries commits out: those of turns that follow one another in one transaction of etcd, one batch after the other, each exactly once however often
// it has to be sent. A commit is answered when the mirror shows it.

import { atMost } from '../../base/clock.js'
import { coalesce } from '../coalesce.js'
import { checkWrites } from '../commit-batch.js'
import type { Mirror } from '../mirror.js'
import { type CommitOutcome, StorageUnavailableError, type Write } from '../storage.js'
import { batchBytes, batchTxn, countForBatch, type PendingCommit, widestCommit } from './batch.js'
import type { EtcdClient } from './etcd-client.js'
import type { EtcdKeys } from './etcd-keys.js'
import { GrpcError, grpcCodes } from './grpc-error.js'
import type { Leases } from './leases.js'
import { decodeTxn, encodeTxn, methods, type TxnAnswer } from './messages.js'
import type { Numbering } from './numbering.js'
import type { Ownership } from './ownership.js'

export interface BatchWriterOptions {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly numbering: Numbering
  readonly mirror: Mirror
  readonly leases: Leases
  readonly ownership: Ownership
  readonly replicaId: string
  /** How long a commit may take before it fails. */
  readonly patienceMs: number
}

/** Where a batch was written, and which of its commits met their conditions; undefined where the answer was lost. */
interface Written {
  readonly batchNumber: number
  readonly step: number
  readonly succeeded: readonly boolean[] | undefined
}

/** The author's key goes this long after its process, and is given a new lease at half of that. */
const authorLifeMs = 3_600_000
const closePatienceMs = 1_000

export class BatchWriter {
  readonly #options: BatchWriterOptions
  readonly #author: string
  readonly #answering = new Set<Promise<void>>()
  readonly #waiting: PendingCommit[] = []
  #authorRevision = 0
  #authorLease: { readonly id: bigint; readonly renewMs: number } | undefined
  #batches = 0
  #underWay = 0
  /** The last batch of which it is unknown whether it was stored; 0: none. */
  #inDoubt = 0
  #running: Promise<void> | undefined
  /** Of the batch that was sent last. Batches arrive in order. */
  #arrival: Promise<void> = Promise.resolve()

  constructor(options: BatchWriterOptions) {
    this.#options = options
    this.#author = options.keys.author(options.replicaId)
  }

  commit(writes: readonly Write[]): Promise<CommitOutcome> {
    return new Promise((resolve, reject) => {
      checkWrites(writes)
      if (writes.length > widestCommit) throw new RangeError(`a commit to etcd must not have more than ${widestCommit} writes`)
      const deadlineMs = performance.now() + this.#options.patienceMs
      this.#waiting.push({ writes, deadlineMs, resolve, reject })
      this.#running ??= this.#run()
    })
  }

  /** Whether the mirror shows everything that this replica has sent, even what was given up. */
  get hasArrived(): boolean {
    return this.#underWay === 0 && this.#inDoubt === 0
  }

  /** Resolves when the mirror shows what has been sent until now: then with true, or with false where that is in doubt. */
  async arrive(): Promise<boolean> {
    await this.#arrival
    return this.#inDoubt === 0
  }

  /** Waits for what is on its way, but not as long as those who asked for it would: etcd may be gone. */
  close(): Promise<void> {
    const isDone = Promise.resolve(this.#running).then(() => Promise.all(this.#answering))
    return atMost(closePatienceMs, isDone)
  }

  /** Undefined when it is full. */
  #sizeOfBatch(): number | undefined {
    const waiting = this.#waiting.length
    return countForBatch(this.#waiting) < waiting ? undefined : waiting
  }

  async #run(): Promise<void> {
    do {
      await new Promise<void>((resolve) => coalesce(() => this.#sizeOfBatch(), resolve))
      const commits = this.#waiting.splice(0, countForBatch(this.#waiting))
      await this.#carryOut(commits)
    } while (this.#waiting.length > 0)
    this.#running = undefined
  }

  async #carryOut(commits: readonly PendingCommit[]): Promise<void> {
    this.#underWay += 1
    const batchNumber = ++this.#batches
    let arrive = (): void => undefined
    this.#arrival = new Promise((resolve) => {
      arrive = resolve
    })
    try {
      const written = await this.#write(commits, batchNumber)
      // The next batch may be on its way while this one arrives in the mirror.
      const answering = this.#answer(commits, { ...written, batchNumber }).finally(() => {
        arrive()
        this.#answering.delete(answering)
      })
      this.#answering.add(answering)
    } catch (error) {
      this.#underWay -= 1
      this.#inDoubt = batchNumber
      arrive()
      for (const { reject } of commits) reject(readable(error))
    }
  }

  async #write(commits: readonly PendingCommit[], batchNumber: number): Promise<Omit<Written, 'batchNumber'>> {
    const deadlineMs = commits[0]?.deadlineMs ?? 0
    if (performance.now() > deadlineMs) throw new StorageUnavailableError('etcd cannot be used now: the write has waited too long')
    return this.#options.client.persist(deadlineMs, async (timeoutMs) => {
      const answer = await this.#attempt(commits, batchNumber, timeoutMs)
      if (answer.succeeded) {
        this.#authorRevision = answer.revision
        return { step: answer.revision, succeeded: answer.answers.slice(2).map(({ txn }) => txn?.succeeded ?? false) }
      }
      const found = answer.answers[0]?.range?.items[0]
      this.#options.ownership.note(answer.answers[1]?.range?.items[0])
      this.#authorRevision = found?.modRevision ?? 0
      if (found?.value.toString() === String(batchNumber)) return { step: found.modRevision, succeeded: undefined }
      throw new GrpcError(grpcCodes.aborted, 'somebody else has taken the right to write, or an earlier write has arrived after all')
    })
  }

  async #attempt(commits: readonly PendingCommit[], batchNumber: number, timeoutMs: number): Promise<TxnAnswer> {
    const { client, leases, ownership } = this.#options
    try {
      await ownership.beAllowed()
      const authorLease = await this.#leaseOfAuthor(timeoutMs)
      const leaseOf = await this.#takeLeases(commits, timeoutMs)
      const author = { author: this.#author, authorRevision: this.#authorRevision, authorLease }
      const details = { ...this.#options, ...author, ownerRevision: ownership.step, batchNumber, leaseOf }
      const message = encodeTxn(batchTxn(commits, details), batchBytes(commits))
      const sentMs = performance.now()
      const answer = decodeTxn(await client.call(methods.txn, message, timeoutMs))
      // Its condition has told what a question would have told.
      if (answer.succeeded) ownership.confirmStep(details.ownerRevision, sentMs)
      return answer
    } catch (error) {
      if (!(error instanceof GrpcError && error.code === grpcCodes.notFound)) throw error
      leases.forget()
      this.#authorLease = undefined
      throw new GrpcError(grpcCodes.aborted, error.message)
    }
  }

  async #leaseOfAuthor(timeoutMs: number): Promise<bigint> {
    if (!this.#authorLease || performance.now() > this.#authorLease.renewMs) {
      const id = await this.#options.leases.grant(authorLifeMs, timeoutMs)
      this.#authorLease = { id, renewMs: performance.now() + authorLifeMs / 2 }
    }
    return this.#authorLease.id
  }

  async #takeLeases(commits: readonly PendingCommit[], timeoutMs: number): Promise<(write: Write) => bigint | undefined> {
    const taken = new Map<Write, bigint>()
    for (const { writes } of commits) {
      for (const write of writes) {
        if (write.value === undefined || write.expiresAtMs === undefined) continue
        taken.set(write, await this.#options.leases.leaseUntil(write.expiresAtMs, timeoutMs))
      }
    }
    return (write) => taken.get(write)
  }

  async #answer(commits: readonly PendingCommit[], { batchNumber, step, succeeded }: Written): Promise<void> {
    const { mirror, patienceMs } = this.#options
    const before = mirror.position
    const hasArrived = await mirror.reach(step, patienceMs)
    this.#underWay -= 1
    // What was given up before this one has arrived before it, or never will.
    if (!hasArrived) this.#inDoubt = Math.max(this.#inDoubt, batchNumber)
    else if (this.#inDoubt <= batchNumber) this.#inDoubt = 0
    for (const [index, { writes, resolve, reject }] of commits.entries()) {
      try {
        if (!hasArrived) throw new StorageUnavailableError('etcd cannot be used now: the write is stored, but its change does not arrive')
        resolve(this.#outcome(writes, this.#options.numbering.revisionOf(step, index), succeeded?.[index]))
      } catch (error) {
        reject(error)
      }
    }
    if (!hasArrived && mirror.position === before) this.#options.client.changeMember('changes do not arrive')
  }

  #outcome(writes: readonly Write[], revision: number, isKnownToSucceed: boolean | undefined): CommitOutcome {
    const { mirror } = this.#options
    const hasPut = writes.some(({ value }) => value !== undefined)
    if (isKnownToSucceed && hasPut) return { ok: true, revision }
    if (isKnownToSucceed === undefined && revision <= mirror.compacted) {
      throw new StorageUnavailableError('etcd could not be used for so long that it is unknown whether the write was stored')
    }
    const hasChange = mirror.hasChangeAt(revision)
    if (hasChange) return { ok: true, revision }
    const isUnconditional = writes.every(({ expect }) => expect === undefined)
    // Nothing was there to be deleted.
    if (isKnownToSucceed || (isUnconditional && !hasPut)) return { ok: true, revision: mirror.revision }
    return this.#conflict(writes)
  }

  #conflict(writes: readonly Write[]): CommitOutcome {
    const { mirror } = this.#options
    const conditional = writes.filter(({ expect }) => expect !== undefined)
    const culprit = conditional.find(({ key, expect }) => (mirror.read(key)?.revision ?? 0) !== expect) ?? conditional[0]
    const key = culprit?.key ?? ''
    return { ok: false, key, current: mirror.read(key) }
  }
}

function readable(error: unknown): unknown {
  if (!(error instanceof GrpcError)) return error
  if (/too large|larger than max/.test(error.message)) {
    return new RangeError('the object is larger than etcd takes: start etcd with a greater --max-request-bytes')
  }
  return new StorageUnavailableError(`etcd refuses the write: ${error.message}`)
}

// Carries commits out: those of turns that follow one another in one transaction of etcd, one batch after the other, each exactly once however often
// it has to be sent. A commit is answered when the mirror shows it.
//
// A batch that is sent again finds its own number in the author's key, or in the head where this replica is the owner (see batch.ts). That works as
// long as the owner's key stays as it is, for each attempt has it for a condition. When it has changed, what was sent before can have been
// stored only before the change: the mirror is waited for up to there, and the stream of changes has shown the batch or nobody ever will.

import { atMost } from '../../base/clock.js'
import type { Logger } from '../../base/logger.js'
import { coalesce } from '../coalesce.js'
import { checkWrites } from '../commit-batch.js'
import type { Mirror, MirroredWrite } from '../mirror.js'
import { type CommitOutcome, StorageUnavailableError, TooLargeError, TooManyWritesError, type Write } from '../storage.js'
import {
  type AuthorKey,
  batchBytes,
  batchTxn,
  countForBatch,
  operationsBefore,
  type PendingCommit,
  readHeadValue,
  widestCommit,
} from './batch.js'
import type { ChangeFeed } from './change-feed.js'
import type { EtcdClient } from './etcd-client.js'
import type { EtcdKeys } from './etcd-keys.js'
import { GrpcError, grpcCodes, isTooLarge } from './grpc-error.js'
import type { Leases } from './leases.js'
import { decodeTxn, encodeTxn, methods, type TxnAnswer } from './messages.js'
import type { Numbering } from './numbering.js'
import type { Ownership } from './ownership.js'
import type { SeenBatch } from './seen-batch.js'

export interface BatchWriterOptions {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly numbering: Numbering
  readonly mirror: Mirror
  readonly feed: ChangeFeed
  readonly leases: Leases
  readonly ownership: Ownership
  readonly seenBatch: SeenBatch
  readonly replicaId: string
  readonly logger: Logger
  /** How long a commit may take before it fails. */
  readonly patienceMs: number
}

interface Batch {
  readonly commits: readonly PendingCommit[]
  readonly number: number
  /** Where the mirror was when the batch was made. */
  readonly position: number
  /** The owner's key that was a condition of the last attempt, or under which all attempts before are known to have failed. */
  sentUnder: number | undefined
}

/** Where a batch was written, and which of its commits met their conditions; undefined where the answer was lost. */
interface Written {
  readonly step: number
  readonly succeeded: readonly boolean[] | undefined
}

/** The author's key goes this long after its process, and is given a new lease at half of that. */
const authorLifeMs = 3_600_000
const closePatienceMs = 1_000

type LeaseOf = (write: Write) => bigint | undefined
const noLease: LeaseOf = () => undefined

export class BatchWriter {
  readonly #options: BatchWriterOptions
  readonly #author: string
  readonly #answering = new Set<Promise<void>>()
  readonly #waiting: PendingCommit[] = []
  #authorRevision = 0
  #authorLease: { readonly id: bigint; readonly renewMs: number } | undefined
  #headRevision = 0
  #batches = 0
  /** The most commits that one of the last two batches has had. */
  #mostLately = Number.POSITIVE_INFINITY
  #lastSize = Number.POSITIVE_INFINITY
  #underWay = 0
  #isSending = false
  /** The last batch of which it is unknown whether it was stored; 0: none. */
  #inDoubt = 0
  #running: Promise<void> | undefined
  /** Batches arrive in order. */
  #onArrived: { readonly batchNumber: number; readonly tell: () => void }[] = []

  constructor(options: BatchWriterOptions) {
    this.#options = options
    this.#author = options.keys.author(options.replicaId)
  }

  commit(writes: readonly Write[]): Promise<CommitOutcome> {
    return new Promise((resolve, reject) => {
      checkWrites(writes)
      if (writes.length > widestCommit) throw new TooManyWritesError(widestCommit)
      const deadlineMs = performance.now() + this.#options.patienceMs
      this.#waiting.push({ writes, deadlineMs, resolve, reject })
      this.#running ??= this.#run()
    })
  }

  /** Whether the mirror shows everything that this replica has sent, even what was given up. */
  get hasArrived(): boolean {
    return this.#underWay === 0 && this.#inDoubt === 0
  }

  /** Whether something may be in etcd whose answer is not here. */
  get isWriting(): boolean {
    return this.#isSending || this.#inDoubt !== 0
  }

  /** Resolves when the mirror shows what has been sent until now: then with true, or with false where that is in doubt. */
  async arrive(): Promise<boolean> {
    if (this.#underWay > 0) await new Promise<void>((tell) => this.#onArrived.push({ batchNumber: this.#batches, tell }))
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
      await new Promise<void>((resolve) => coalesce(() => this.#sizeOfBatch(), resolve, this.#mostLately <= 1))
      const commits = this.#waiting.splice(0, countForBatch(this.#waiting))
      this.#mostLately = Math.max(this.#lastSize, commits.length)
      this.#lastSize = commits.length
      await this.#carryOut(commits)
    } while (this.#waiting.length > 0)
    this.#running = undefined
  }

  async #carryOut(commits: readonly PendingCommit[]): Promise<void> {
    const { mirror } = this.#options
    this.#underWay += 1
    const batch: Batch = { commits, number: ++this.#batches, position: mirror.position, sentUnder: undefined }
    try {
      this.#isSending = true
      const written = await this.#write(batch)
      this.#isSending = false
      this.#show(batch, written)
      if (mirror.position >= written.step) this.#finish(batch, written, true)
      else this.#finishLater(batch, written)
    } catch (error) {
      this.#inDoubt = batch.number
      this.#isSending = false
      this.#arrived(batch)
      for (const { reject } of commits) reject(readable(error))
    }
  }

  #write(batch: Batch): Promise<Written> {
    const deadlineMs = batch.commits[0]?.deadlineMs ?? 0
    if (performance.now() > deadlineMs) throw new StorageUnavailableError('etcd is unavailable: the write has waited too long')
    return this.#options.client.persist(deadlineMs, (timeoutMs) => this.#attempt(batch, timeoutMs))
  }

  async #attempt(batch: Batch, timeoutMs: number): Promise<Written> {
    const { client, leases, ownership, keys, numbering, replicaId } = this.#options
    const { commits, number: batchNumber } = batch
    try {
      const leaseOf = commits.some(expires) ? await this.#takeLeases(commits, timeoutMs) : noLease
      // Nothing is waited for between the last look at the owner's key and the sending of what depends on it.
      while (!this.#isReady || (batch.sentUnder !== undefined && batch.sentUnder !== ownership.step)) {
        const stored = await this.#clearTheWay(batch, timeoutMs)
        if (stored) return stored
      }
      const author = ownership.isOurs ? undefined : this.#authorKey()
      const ownerRevision = ownership.step
      batch.sentUnder = ownerRevision
      const headRevision = this.#headRevision
      const txn = batchTxn(commits, { keys, numbering, replicaId, ownerRevision, author, headRevision, batchNumber, leaseOf })
      const message = encodeTxn(txn, batchBytes(commits))
      const sentMs = performance.now()
      const answer = decodeTxn(await client.call(methods.txn, message, timeoutMs))
      if (!answer.succeeded) return this.#findIn(answer, batchNumber)
      // Its condition has told what a question would have told.
      ownership.confirmStep(ownerRevision, sentMs)
      this.#headRevision = answer.revision
      if (author) this.#authorRevision = answer.revision
      const succeeded: boolean[] = []
      for (let i = operationsBefore(author); i < answer.answers.length; i++) succeeded.push(answer.answers[i]?.txn?.succeeded ?? false)
      return { step: answer.revision, succeeded }
    } catch (error) {
      // What was written may be seen in the stream of changes before it is known here.
      this.#options.feed.followAll()
      if (!(error instanceof GrpcError && error.code === grpcCodes.notFound)) throw error
      leases.forget()
      this.#authorLease = undefined
      throw new GrpcError(grpcCodes.aborted, error.message)
    }
  }

  /** Whether nothing has to be asked for before a batch can be sent. */
  get #isReady(): boolean {
    const { ownership } = this.#options
    return ownership.isOurs || (ownership.isAllowed && performance.now() <= (this.#authorLease?.renewMs ?? 0))
  }

  /** What must be there before a batch can be sent; or where it was stored, if it was sent before. */
  async #clearTheWay(batch: Batch, timeoutMs: number): Promise<Written | undefined> {
    const { leases, ownership, mirror, seenBatch, numbering } = this.#options
    if (!ownership.isAllowed) await ownership.beAllowed()
    if (!this.#isReady) {
      const id = await leases.grant(authorLifeMs, timeoutMs)
      this.#authorLease = { id, renewMs: performance.now() + authorLifeMs / 2 }
    }
    const { step } = ownership
    if (batch.sentUnder === undefined || batch.sentUnder === step) return undefined
    if (!(await mirror.reach(step, timeoutMs))) throw new GrpcError(grpcCodes.unavailable, 'changes do not arrive')
    const storedAt = seenBatch.stepOf(batch.number)
    if (storedAt !== undefined) return { step: storedAt, succeeded: undefined }
    if (mirror.compacted > numbering.endOf(batch.position)) throw unknownOutcome()
    batch.sentUnder = step
    return undefined
  }

  #authorKey(): AuthorKey {
    return { key: this.#author, revision: this.#authorRevision, lease: this.#authorLease?.id ?? 0n }
  }

  /** Looks for the batch in the answer to an attempt that failed. */
  #findIn({ answers }: TxnAnswer, batchNumber: number): Written {
    const { keys, ownership, replicaId } = this.#options
    const heads = answers[0]?.range?.items ?? []
    ownership.note(heads.find(({ key }) => keys.kindOf(key) === 'owner'))
    const head = heads.find(({ key }) => keys.kindOf(key) === 'head')
    this.#headRevision = head?.modRevision ?? 0
    const author = answers[1]?.range?.items[0]
    if (answers[1]?.range) this.#authorRevision = author?.modRevision ?? 0
    if (author?.value.toString() === String(batchNumber)) return { step: author.modRevision, succeeded: undefined }
    const last = head && readHeadValue(head.value)
    if (last?.replicaId === replicaId && last.batchNumber === batchNumber) return { step: head?.modRevision ?? 0, succeeded: undefined }
    throw new GrpcError(grpcCodes.aborted, 'somebody else has taken the right to write, or an earlier write has arrived after all')
  }

  async #takeLeases(commits: readonly PendingCommit[], timeoutMs: number): Promise<LeaseOf> {
    const taken = new Map<Write, bigint>()
    for (const { writes } of commits) {
      for (const write of writes) {
        if (write.value === undefined || write.expiresAtMs === undefined) continue
        taken.set(write, await this.#options.leases.leaseUntil(write.expiresAtMs, timeoutMs))
      }
    }
    return (write) => taken.get(write)
  }

  /** The mirror need not wait to be told what was written here: it is known. */
  #show({ commits }: Batch, { step, succeeded }: Written): void {
    const { feed, numbering, logger } = this.#options
    if (!succeeded) return
    const writes: MirroredWrite[] = []
    for (let i = 0; i < commits.length; i++) {
      if (!succeeded[i]) continue
      const revision = numbering.revisionOf(step, i)
      for (const { key, value } of commits[i]?.writes ?? []) writes.push({ key, revision, value })
    }
    try {
      feed.takeOwn({ step, writes })
    } catch (error) {
      // It is stored, and the stream of changes brings it as well: that one begins again until the mirror takes it.
      feed.followAll()
      logger.warn({ reason: error instanceof Error ? error.message : String(error) }, 'the mirror does not take a write')
    }
  }

  #finishLater(batch: Batch, written: Written): void {
    const { mirror, client, patienceMs } = this.#options
    const before = mirror.position
    // The next batch may be on its way while this one arrives in the mirror.
    const answering = mirror
      .reach(written.step, patienceMs)
      .then((hasArrived) => {
        this.#finish(batch, written, hasArrived)
        if (!hasArrived && mirror.position === before) client.changeMember('changes do not arrive')
      })
      .finally(() => this.#answering.delete(answering))
    this.#answering.add(answering)
  }

  #finish(batch: Batch, { step, succeeded }: Written, hasArrived: boolean): void {
    // What was given up before this one has arrived before it, or never will.
    if (!hasArrived) this.#inDoubt = Math.max(this.#inDoubt, batch.number)
    else if (this.#inDoubt <= batch.number) this.#inDoubt = 0
    this.#arrived(batch)
    for (const [index, { writes, resolve, reject }] of batch.commits.entries()) {
      try {
        if (!hasArrived) throw new StorageUnavailableError('etcd is unavailable: the write is stored, but its change does not arrive')
        resolve(this.#outcome(writes, this.#options.numbering.revisionOf(step, index), succeeded?.[index]))
      } catch (error) {
        reject(error)
      }
    }
  }

  /** It is in the mirror, or nobody waits for it any more. */
  #arrived({ number }: Batch): void {
    this.#underWay -= 1
    if (this.#onArrived.length === 0) return
    const told = this.#onArrived.filter(({ batchNumber }) => batchNumber <= number)
    this.#onArrived = this.#onArrived.filter(({ batchNumber }) => batchNumber > number)
    for (const { tell } of told) tell()
  }

  #outcome(writes: readonly Write[], revision: number, isKnownToSucceed: boolean | undefined): CommitOutcome {
    const { mirror } = this.#options
    const hasPut = writes.some(({ value }) => value !== undefined)
    if (isKnownToSucceed && hasPut) return { ok: true, revision }
    if (isKnownToSucceed === undefined && revision <= mirror.compacted) {
      throw unknownOutcome()
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

const expires = ({ writes }: PendingCommit): boolean =>
  writes.some(({ value, expiresAtMs }) => value !== undefined && expiresAtMs !== undefined)

function unknownOutcome(): StorageUnavailableError {
  return new StorageUnavailableError('etcd could not be used for so long that it is unknown whether the write was stored')
}

function readable(error: unknown): unknown {
  if (!(error instanceof GrpcError)) return error
  if (isTooLarge(error)) {
    return new TooLargeError('the object is larger than etcd takes: start etcd with a greater --max-request-bytes')
  }
  return new StorageUnavailableError(`etcd refuses the write: ${error.message}`)
}

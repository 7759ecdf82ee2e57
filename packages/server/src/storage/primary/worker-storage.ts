// The engine of a worker: reads the data file of the primary process and, for changes that the file lacks, a memtable that the primary's
// changes fill. Commits are requests to the primary, which responds after it has sent every earlier change. A consistent read waits for
// the changes up to the shared revision; without one, it requests the revision.

import { stat } from 'node:fs/promises'
import type { Duplex } from 'node:stream'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { checkWrites, entryOf, type Row, type StagedWrite } from '../commit-queue.js'
import { Memtable } from '../memtable.js'
import {
  type CommitOutcome,
  type Storage,
  StorageRefusedError,
  type StorageSize,
  StorageUnavailableError,
  TooLargeError,
  type Write,
} from '../storage.js'
import { StoredReads } from '../stored-reads.js'
import { ConsistentReads } from './consistent-reads.js'
import { FrameChannel } from './frame-channel.js'
import {
  type ChangesMessage,
  decodeChanges,
  decodeLinesOutcome,
  decodeOutcome,
  decodeState,
  encodeCommit,
  encodeHello,
  encodeId,
  encodeLines,
  type KnownConflict,
  type SentChange,
  type StoreState,
  toPrimary,
  toWorker,
} from './messages.js'
import { SharedDataFile } from './shared-data-file.js'

export interface WorkerStorageOptions {
  /** The data file of the primary. */
  readonly path: string
  readonly stream: Duplex
  readonly nonce: string
  readonly logger: Logger
  /** Newest revision of the store, read without a request to the primary; undefined if it cannot be read. */
  readonly sharedRevision?: (() => number | undefined) | undefined
  /** The channel has ended, except by `close`: the worker must end. */
  readonly onLost: (reason: string) => void
}

/** A worker's engine, and its way to the audit log of the primary. */
export interface WorkerStorage extends Storage {
  /** Rejects if lines are lost. */
  appendLines(lines: Buffer): Promise<void>
}

export async function openWorkerStorage(options: WorkerStorageOptions): Promise<WorkerStorage> {
  const file = new SharedDataFile(options.path)
  const storage = new WorkerEngine(options, file)
  try {
    await storage.greeted
  } catch (error) {
    await storage.close()
    throw error
  }
  return storage
}

/** Maximum size of the commits without an outcome; further commits wait. */
const maxPendingBytes = 16 << 20
const maxCommitBytes = 128 << 20
const aliveMs = 1000
/** After this long without a frame of the primary, the shared revision is not trusted: a read index is a request. */
const maxSilentMs = 3_000
/** Number of writes in the memtable after which a newer snapshot is tried again. */
const writesBetweenTries = 64

interface PendingCommit {
  readonly payload: Buffer
  readonly resolve: (outcome: CommitOutcome) => void
  readonly reject: (error: unknown) => void
}

class WorkerEngine extends StoredReads implements WorkerStorage {
  readonly #options: WorkerStorageOptions
  readonly #file: SharedDataFile
  readonly #channel: FrameChannel
  readonly #timer: NodeJS.Timeout
  readonly #commits = new Map<number, PendingCommit>()
  readonly #waiting: { readonly id: number; readonly commit: PendingCommit }[] = []
  readonly #reads: ConsistentReads
  readonly #lines = new Map<number, { readonly resolve: () => void; readonly reject: (error: unknown) => void }>()
  readonly greeted: Promise<void>
  #greet: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | undefined
  #lastId = 0
  /** Time of the last frame of the primary. */
  #receivedMs = performance.now()
  #pendingBytes = 0
  #triedAtWrites = 0
  #drained: (() => void) | undefined
  #lost: string | undefined
  #closing: Promise<void> | undefined

  constructor(options: WorkerStorageOptions, file: SharedDataFile) {
    super({
      state: () => file.snapshot,
      counts: file.snapshot.collectionCounts(),
      revision: file.revision,
      compacted: file.snapshot.metaNumber('compacted') ?? 0,
      logger: options.logger,
    })
    this.#options = options
    this.#file = file
    this.greeted = new Promise((resolve, reject) => {
      this.#greet = { resolve, reject }
    })
    this.#channel = new FrameChannel(options.stream, {
      onFrame: (type, payload) => this.#receive(type, payload),
      onEnd: (reason) => this.#end(reason),
    })
    this.#reads = new ConsistentReads((id) => this.#channel.send(toPrimary.index, encodeId(id)))
    this.#timer = setInterval(() => this.#tick(), aliveMs).unref()
    this.#sendHello()
  }

  readIndex(): number | Promise<number> {
    if (this.#unavailable) return Promise.reject(this.#unavailable)
    const isSilent = performance.now() - this.#receivedMs >= maxSilentMs
    return this.#reads.begin(this.revision, isSilent ? undefined : this.#options.sharedRevision?.())
  }

  commit(writes: readonly Write[]): Promise<CommitOutcome> {
    return new Promise((resolve, reject) => {
      if (this.#unavailable) throw this.#unavailable
      checkWrites(writes)
      const id = ++this.#lastId
      const payload = encodeCommit({ id, writes })
      if (payload.length > maxCommitBytes) throw new TooLargeError(`a commit must not be larger than ${maxCommitBytes} bytes`)
      const commit = { payload, resolve, reject }
      if (this.#waiting.length > 0 || this.#isFull(payload)) this.#waiting.push({ id, commit })
      else this.#sendCommit(id, commit)
    })
  }

  appendLines(lines: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#unavailable) throw this.#unavailable
      if (this.#channel.queuedBytes + lines.length > maxPendingBytes) throw new Error('the primary does not take audit lines fast enough')
      const id = ++this.#lastId
      this.#lines.set(id, { resolve, reject })
      this.#channel.send(toPrimary.lines, encodeLines(id, lines))
    })
  }

  /** The primary compacts; the snapshot shows how far. */
  async compact(): Promise<void> {
    throw new StorageUnavailableError('the primary process compacts the history')
  }

  async measure(): Promise<readonly StorageSize[]> {
    return [{ endpoint: this.#file.path, bytes: (await stat(this.#file.path)).size }]
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  get #unavailable(): StorageUnavailableError | undefined {
    if (this.#closing) return new StorageUnavailableError('the storage is closed')
    return this.#lost === undefined ? undefined : new StorageUnavailableError(`the primary process is gone: ${this.#lost}`)
  }

  async #close(): Promise<void> {
    const hasWork = this.#commits.size + this.#waiting.length + this.#lines.size > 0
    if (hasWork && this.#lost === undefined)
      await new Promise<void>((resolve) => {
        this.#drained = resolve
      })
    clearInterval(this.#timer)
    this.#channel.close()
    this.memtable = new Memtable(this.revision)
    await this.#file.close()
  }

  #sendHello(): void {
    this.#channel.send(toPrimary.hello, encodeHello({ nonce: this.#options.nonce, after: this.#file.revision }))
  }

  #receive(type: number, payload: Buffer): void {
    this.#receivedMs = performance.now()
    if (type === toWorker.changes) this.#apply(decodeChanges(payload))
    else if (type === toWorker.outcome) this.#finishCommit(payload)
    else if (type === toWorker.index) this.#finishIndex(payload)
    else if (type === toWorker.lines) this.#finishLines(payload)
    else if (type === toWorker.alive) this.#learn(decodeState(payload))
    else if (type === toWorker.welcome) this.#welcome(decodeState(payload))
    else if (type === toWorker.tooOld) this.#restart()
    else throw new Error(`the primary sent a frame of the unknown type ${type}`)
    this.#reads.reach(this.revision)
  }

  #welcome(state: StoreState): void {
    this.#learn(state)
    this.#greet?.resolve()
    this.#greet = undefined
  }

  /** History after the snapshot is compacted: begin with a newer snapshot. */
  #restart(): void {
    this.#file.restart()
    this.counts = this.#file.snapshot.collectionCounts()
    this.memtable = new Memtable(this.#file.revision)
    this.publish([], this.#file.revision)
    this.#learnCompacted()
    this.#sendHello()
  }

  /** The primary sends all changes before a revision: to continue without them would lose them. */
  #learn({ revision, compacted }: StoreState): void {
    if (revision > this.revision) throw new Error(`the changes up to revision ${revision} have not arrived`)
    if (compacted > this.compacted) this.forgetUpTo(compacted)
  }

  #apply({ revision, changes }: ChangesMessage): void {
    const staged = this.#stage(changes)
    this.memtable.add(staged)
    this.publish(
      staged.map(({ change }) => change),
      revision,
    )
    const { isCheckpointDue, size } = this.memtable
    if (this.#file.isAhead || (isCheckpointDue && size >= this.#triedAtWrites + writesBetweenTries)) this.#advance()
  }

  #stage(changes: readonly SentChange[]): readonly StagedWrite[] {
    const staged: StagedWrite[] = []
    const written = new Map<string, Row | undefined>()
    let last = this.revision
    let position = 0
    for (const { key, revision, value } of changes) {
      if (revision < last || revision <= this.revision) throw new Error(`revision ${revision} arrived after ${last}`)
      position = revision === last ? position + 1 : 0
      last = revision
      const previousRow = written.has(key) ? written.get(key) : this.row(key)
      const row = value && { revision, value, expiresAtMs: undefined }
      written.set(key, row)
      staged.push({ change: { revision, key, value, previous: entryOf(key, previousRow) }, position, row, previousRow })
    }
    return staged
  }

  /** Reads move to a newer snapshot, so that the memtable stays small and the primary can reuse pages. */
  #advance(): void {
    if (this.#file.advance(this.revision)) {
      this.memtable.drop(this.#file.revision)
      this.#learnCompacted()
    }
    this.#triedAtWrites = this.memtable.size
  }

  /** The file has the compacted revision before its history is deleted. */
  #learnCompacted(): void {
    this.forgetUpTo(Math.max(this.compacted, this.#file.snapshot.metaNumber('compacted') ?? 0))
  }

  #tick(): void {
    this.#reads.expire()
    // The primary may ask for a second greeting, and accepts no other frame before it.
    if (this.#greet !== undefined) return
    this.#channel.send(toPrimary.alive, Buffer.alloc(0))
    try {
      this.#advance()
    } catch (error) {
      this.#channel.fail(`the data file cannot be read: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  #finishIndex(payload: Buffer): void {
    const { id, ...state } = decodeState(payload)
    this.#learn(state)
    this.#reads.finishRequest(id, this.revision)
  }

  #isFull(payload: Buffer): boolean {
    return this.#pendingBytes > 0 && this.#pendingBytes + payload.length > maxPendingBytes
  }

  #sendCommit(id: number, commit: PendingCommit): void {
    this.#commits.set(id, commit)
    this.#pendingBytes += commit.payload.length
    this.#channel.send(toPrimary.commit, commit.payload)
  }

  #finishCommit(payload: Buffer): void {
    const { id, outcome } = decodeOutcome(payload)
    const commit = this.#commits.get(id)
    if (commit === undefined) throw new Error('the primary sent the outcome of an unknown commit')
    this.#commits.delete(id)
    this.#pendingBytes -= commit.payload.length
    if ('failure' in outcome) {
      const { failure, message } = outcome
      commit.reject(failure === 'unavailable' ? new StorageUnavailableError(message) : new RangeError(message))
    } else {
      commit.resolve('currentRevision' in outcome ? this.#conflict(outcome) : outcome)
    }
    for (let next = this.#waiting[0]; next !== undefined && !this.#isFull(next.commit.payload); next = this.#waiting[0]) {
      this.#waiting.shift()
      this.#sendCommit(next.id, next.commit)
    }
    this.#checkDrained()
  }

  /** The primary has sent the entry among the changes before. */
  #conflict({ key, currentRevision }: KnownConflict): CommitOutcome {
    const current = this.read(key)
    if (current?.revision !== currentRevision) throw new Error(`revision ${currentRevision} of a conflict has not arrived`)
    return { ok: false, key, current }
  }

  #finishLines(payload: Buffer): void {
    const { id, problem } = decodeLinesOutcome(payload)
    const pending = this.#lines.get(id)
    this.#lines.delete(id)
    if (problem === undefined) pending?.resolve()
    else pending?.reject(new Error(problem))
    this.#checkDrained()
  }

  #checkDrained(): void {
    if (this.#commits.size + this.#waiting.length + this.#lines.size === 0) this.#drained?.()
  }

  #end(reason: string | undefined): void {
    clearInterval(this.#timer)
    this.#lost = reason ?? 'the channel is closed'
    const error = new StorageUnavailableError(`the primary process is gone: ${this.#lost}`)
    for (const { reject } of this.#commits.values()) reject(error)
    for (const { commit } of this.#waiting) commit.reject(error)
    for (const { reject } of this.#lines.values()) reject(error)
    this.#reads.end(error)
    this.#commits.clear()
    this.#waiting.length = 0
    this.#lines.clear()
    this.#greet?.reject(new StorageRefusedError(`the primary process refused this worker: ${this.#lost}`))
    this.#greet = undefined
    this.#drained?.()
    if (reason !== undefined) this.#options.onLost(reason)
  }
}

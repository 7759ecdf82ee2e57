// The embedded engine: an LMDB file in a folder that one process owns. A commit is durable when it is in the write-ahead log.

import { type Clock, systemTimers, type Timers } from '@cluster-apiserver/api/base/clock.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { type CommitBatch, CommitQueue, checkWrites, createCommitBatch, StagedCommit, type StagedWrite } from '../commit-queue.js'
import { ExpiryController } from '../expiry-controller.js'
import {
  type Change,
  type CommitOutcome,
  type FormatUpgrade,
  type Storage,
  type StorageSize,
  StorageUnavailableError,
  type Write,
} from '../storage.js'
import { StoredReads } from '../stored-reads.js'
import { Checkpoints, type ExtraWrite } from './checkpoints.js'
import { writeShutdownMarker } from './clean-shutdown-marker.js'
import { DataFile, type ShrinkOptions } from './data-file.js'
import { openDataFolder, refusedBySystem } from './data-folder.js'
import { reasonOf } from './disk-space.js'
import type { FolderLock } from './folder-lock.js'
import { openLog, type Recovered, recover, refuseGap } from './log-recovery.js'
import { numberBytes } from './record-encoding.js'
import { writeCounts } from './table-writes.js'
import { finishUpgrade } from './upgrade-data-file.js'
import type { WriteAheadLog } from './write-ahead-log.js'

interface LmdbOptions {
  readonly folder: string
  /** Name of the identity of the data; a folder with another one is refused. */
  readonly mark: string
  readonly upgrade?: FormatUpgrade | undefined
  /** Workers read the data file: it is not replaced by a smaller copy while the storage is open. */
  readonly isShared?: boolean
  readonly clock: Clock
  readonly timers?: Timers
  readonly logger: Logger
}

export interface EmbeddedStorage extends Storage {
  /** Call it after a worker ended without closing the data file. */
  releaseDeadReaders(): void
}

/** Rejects with StorageRefusedError for a folder that is locked, damaged, foreign or not writable. */
export async function openLmdbStorage(options: LmdbOptions): Promise<EmbeddedStorage> {
  const { path, tables, lock } = await openDataFolder(options)
  let file: DataFile | undefined
  try {
    await finishUpgrade({ path, tables, upgrade: options.upgrade, logger: options.logger })
    file = new DataFile(path, tables)
    return await LmdbStorage.open({ ...options, file, lock })
  } catch (error) {
    await (file ?? tables.root).close()
    await lock.release()
    throw refusedBySystem(options.folder, error)
  }
}

const maxStagedWrites = 256
const maxStagedBytes = 8 << 20
/** Changes that a compaction deletes at a time: about a millisecond. */
const changesPerTrim = 500
/** The counts are saved after this many changes; a start counts the rest again. */
const maxUncountedChanges = 20_000
/** Copying this much takes about half a second, in which the log grows; a larger file is rewritten at the next start. */
const maxCopiedWhileServing = 256 << 20

interface LmdbParts extends LmdbOptions {
  readonly file: DataFile
  readonly lock: FolderLock
}

class LmdbStorage extends StoredReads implements EmbeddedStorage {
  readonly #parts: LmdbParts
  readonly #file: DataFile
  readonly #log: WriteAheadLog
  readonly #checkpoints: Checkpoints
  readonly #queue: CommitQueue<CommitBatch>
  readonly #expiryController: ExpiryController
  /** The greatest requested revision: two compactions may share a checkpoint. */
  #compacting: number
  #uncountedChanges = 0
  /** True after a failed write: only the first of several is logged. */
  #isFailing = false
  #trimming: Promise<void> = Promise.resolve()
  #closing: Promise<void> | undefined

  static async open(parts: LmdbParts): Promise<LmdbStorage> {
    const { file, folder } = parts
    const recovered = recover(file.path, file.snapshot)
    refuseGap(folder, recovered)
    const log = await openLog(file.path, recovered)
    let storage: LmdbStorage | undefined
    try {
      storage = new LmdbStorage(parts, recovered, log)
      await storage.#checkpoints.run()
      // After the checkpoint: the first new record overwrites older ones, which must be in the data file by then.
      storage.#expiryController.start()
    } catch (error) {
      if (storage) storage.#checkpoints.abandon()
      await log.close(false)
      throw error
    }
    await storage.shrink({ peakBytes: 0, maxCopiedBytes: Number.POSITIVE_INFINITY })
    // Continues a compaction that a crash interrupted.
    storage.#trimming = storage
      .#trim()
      .catch((error) => storage.#warn(error, 'cannot delete compacted history; the next compaction retries'))
    return storage
  }

  private constructor(parts: LmdbParts, { memtable }: Recovered, log: WriteAheadLog) {
    const { snapshot } = parts.file
    super({
      state: () => parts.file.snapshot,
      memtable,
      counts: snapshot.collectionCounts(),
      revision: memtable.revision,
      compacted: snapshot.metaNumber('compacted') ?? 0,
      logger: parts.logger,
    })
    this.#parts = parts
    this.#file = parts.file
    this.#log = log
    this.#checkpoints = new Checkpoints({
      ...parts,
      memtable,
      compacted: () => this.compacted,
      onReopen: () => this.#publishDurable(),
    })
    this.#compacting = this.compacted
    this.countChanges(memtable.writes.map(({ change }) => change))
    this.#uncountedChanges = memtable.size
    this.#queue = new CommitQueue<CommitBatch>({
      begin: () => createCommitBatch(this.revision, (key) => this.row(key)),
      isFull: ({ staged, bytes }) => staged.length >= maxStagedWrites || bytes >= maxStagedBytes,
      write: ({ staged }) => this.#write(staged),
      publish: (batch) => this.#publish(batch),
      recover: (error) => this.#recover(error),
    })
    this.#expiryController = new ExpiryController({ timers: systemTimers, ...parts, source: this })
  }

  readIndex(): number {
    return this.revision
  }

  commit(writes: readonly Write[]): Promise<CommitOutcome> {
    return new Promise((resolve, reject) => {
      this.#checkOpen()
      checkWrites(writes)
      this.#queue.add(new StagedCommit(writes, resolve, reject))
    })
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen()
    const peakBytes = await this.#checkpoints.runExclusively(async () => this.#file.usedBytes())
    const compacted = Math.min(revision, this.revision)
    if (compacted > this.compacted) await this.#setCompacted(compacted)
    const trimming = this.#trimming.then(() => this.#trim())
    this.#trimming = trimming.catch(() => undefined)
    await trimming
    if (this.#parts.isShared !== true) await this.shrink({ peakBytes, maxCopiedBytes: maxCopiedWhileServing })
  }

  releaseDeadReaders(): void {
    this.#file.releaseDeadReaders()
  }

  measure(): Promise<readonly StorageSize[]> {
    return this.#file.measure()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async shrink(options: ShrinkOptions): Promise<void> {
    try {
      const isDone = await this.#checkpoints.runExclusively(() => this.#file.shrink(options))
      if (isDone) this.#parts.logger.info({ folder: this.#parts.folder }, 'data file rewritten to release free pages')
    } catch (error) {
      this.#warn(error, 'the data file could not be rewritten without its free pages')
    }
  }

  /** Writes past the log if the log must not grow: because checkpoints are behind, or because the disk is nearly full. */
  async #write(staged: readonly StagedWrite[]): Promise<void> {
    if (staged.length === 0) return
    // A reopened file may have writes that the batch was staged without.
    if (!this.#file.isOpen || staged[0]?.change.revision !== this.revision + 1)
      throw new StorageUnavailableError('the data file is not open')
    const hasSpace = !this.memtable.isFull && this.#file.hasAmpleSpace()
    await (hasSpace ? this.#log.append(staged, this.revision) : this.#checkpoints.writeThrough(staged))
  }

  #publish({ staged, revision }: CommitBatch): void {
    if (staged.length === 0) return
    if (this.#isFailing) this.#parts.logger.info({ folder: this.#parts.folder }, 'data folder is writable again')
    this.#isFailing = false
    this.memtable.add(staged)
    if (this.#checkpoints.endWriteThrough()) this.#dropWritten(revision)
    this.#publishChanges(
      staged.map(({ change }) => change),
      revision,
    )
    for (const { row } of staged) if (row?.expiresAtMs !== undefined) this.#expiryController.onExpiry(row.expiresAtMs)
    this.#checkpoints.schedule()
  }

  #dropWritten(revision: number): void {
    this.#file.snapshot.renew()
    this.memtable.drop(revision)
    this.#log.clear()
  }

  #publishChanges(changes: readonly Change[], revision: number): void {
    this.#uncountedChanges += changes.length
    if (this.#uncountedChanges > maxUncountedChanges) {
      this.#uncountedChanges = 0
      this.#saveCounts().catch((error) => this.#warn(error, 'cannot save key counts; the next start counts again'))
    }
    this.publish(changes, revision)
  }

  async #recover(error: unknown): Promise<Error> {
    this.#checkpoints.endWriteThrough()
    if (!this.#isFailing)
      this.#warn(
        error,
        'cannot store writes; they fail with 503 until the data folder is writable again: free disk space or fix the folder',
      )
    this.#isFailing = true
    if (error instanceof StorageUnavailableError) return error
    return new StorageUnavailableError(`the write could not be stored: ${reasonOf(error)}`)
  }

  /** A write that was reported as failed may have reached the data file: then followers are notified of it. */
  #publishDurable(): void {
    const { snapshot } = this.#file
    const durable = snapshot.lastRevision()
    if (durable <= this.revision) return
    const changes = Array.from(snapshot.changeIds(this.revision, durable), (id) => snapshot.changeOf(id))
    this.#publishChanges(changes, durable)
    this.#expiryController.start()
  }

  #runExtraWrite(extraWrite: ExtraWrite): Promise<void> {
    this.#checkOpen()
    return this.#checkpoints.run(extraWrite)
  }

  async #setCompacted(compacted: number): Promise<void> {
    this.#compacting = Math.max(this.#compacting, compacted)
    await this.#saveCounts(({ meta }, revision) => {
      meta.put('compacted', numberBytes(this.#compacting))
      // The newest revision and the counts must not be lost with the history.
      meta.put('revision', numberBytes(revision))
    })
    this.forgetUpTo(Math.max(this.compacted, compacted))
  }

  async #saveCounts(writeMore?: ExtraWrite): Promise<void> {
    let unsaved: ReadonlyMap<string, number> = new Map()
    await this.#runExtraWrite((tables, revision) => {
      unsaved = this.counts.unsaved()
      writeCounts(tables, unsaved, revision)
      writeMore?.(tables, revision)
    })
    this.counts.markSaved(unsaved)
  }

  async #trim(): Promise<void> {
    for (;;) {
      const compactable = this.#file.snapshot.compactable(this.compacted, changesPerTrim)
      if (compactable.isEmpty) return
      await this.#runExtraWrite(compactable.remove)
    }
  }

  async #close(): Promise<void> {
    this.#expiryController.close()
    const counting =
      this.#uncountedChanges > 0
        ? this.#saveCounts().catch((error) => this.#warn(error, 'cannot save key counts; the next start counts again'))
        : undefined
    await this.#trimming
    await counting
    await this.#queue.close()
    await this.#checkpoints.close()
    await this.#log.close(this.memtable.size === 0)
    await this.#file.close()
    writeShutdownMarker(this.#file.path)
    await this.#parts.lock.release()
  }

  #checkOpen(): void {
    if (this.#closing) throw new StorageUnavailableError('the storage is closed')
  }

  #warn(error: unknown, message: string): void {
    if (!this.#closing) this.#parts.logger.warn({ error, folder: this.#parts.folder }, message)
  }
}

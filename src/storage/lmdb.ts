// The embedded engine: an LMDB file in a folder that belongs to one process, so that conditions are decided here and LMDB only stores.
// A commit is durable when it is in the log beside the file; until it has come into the file, reads find it in memory.

import type { Clock } from '../base/clock.js'
import type { Logger } from '../base/logger.js'
import { noteClosed } from './closed-note.js'
import { type CollectionCounts, collectionOfRange } from './collections.js'
import { type CommitBatch, checkWrites, createCommitBatch, entryOf, type StagedWrite } from './commit-batch.js'
import { CommitQueue } from './commit-queue.js'
import { reasonOf } from './disk-space.js'
import { type DueKey, ExpiryLoop } from './expiry-loop.js'
import type { FolderLock } from './folder-lock.js'
import { createFollowers, type Followers } from './followers.js'
import { type ChangeName, createHistoryViews, type HistorySource } from './history-views.js'
import { Checkpoints, type Chore } from './lmdb-checkpoints.js'
import { DataFile } from './lmdb-data-file.js'
import { refusedBySystem, takeFolder } from './lmdb-folder.js'
import { createLmdbReads, type LmdbReads } from './lmdb-reads.js'
import { numberBytes } from './lmdb-records.js'
import { openLog, type Recovered, recover, refuseGap } from './lmdb-recovery.js'
import type { ShrinkOptions } from './lmdb-rewrite.js'
import { finishUpgrade } from './lmdb-upgrade.js'
import { writeCounts } from './lmdb-writes.js'
import type { Memtable } from './memtable.js'
import { RowCache } from './row-cache.js'
import { StagedCommit } from './staged-commit.js'
import {
  type Change,
  type ChangeListener,
  type ChangesPage,
  type ChangesQuery,
  type CommitOutcome,
  CompactedError,
  type Entry,
  type FormatUpgrade,
  type KeyRange,
  type RangePage,
  type RangeQuery,
  type ScannedEntry,
  type Storage,
  type StorageSize,
  StorageUnavailableError,
  type Unfollow,
  type Write,
} from './storage.js'
import type { WriteAheadLog } from './write-ahead-log.js'

export interface LmdbOptions {
  readonly folder: string
  /** Whose data this is: a folder that was made with another mark is refused. */
  readonly mark: string
  /** How a folder of the format before becomes one of this. */
  readonly upgrade?: FormatUpgrade | undefined
  readonly clock: Clock
  readonly logger: Logger
}

/** Rejects with StorageRefusedError for a folder that is locked, damaged, foreign or not writable. */
export async function openLmdbStorage(options: LmdbOptions): Promise<Storage> {
  const { path, tables, lock } = await takeFolder(options)
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

const mostStaged = 256
const mostStagedBytes = 8 << 20
/** How much history one batch of a compaction deletes: about a millisecond. */
const namesPerTrim = 500
/** Changes that the next start would have to count again. */
const mostUncounted = 20_000
/** Copying this much takes about half a second, in which the log grows; a larger file waits for the next start. */
const mostCopiedAtWork = 256 << 20

interface LmdbParts extends LmdbOptions {
  readonly file: DataFile
  readonly lock: FolderLock
}

class LmdbStorage implements Storage, HistorySource {
  readonly #parts: LmdbParts
  readonly #file: DataFile
  readonly #log: WriteAheadLog
  readonly #memtable: Memtable
  readonly #reads: LmdbReads
  readonly #checkpoints: Checkpoints
  readonly #followers: Followers
  readonly #queue: CommitQueue<CommitBatch>
  readonly #views = createHistoryViews(this)
  readonly #expiryLoop: ExpiryLoop
  readonly #counts: CollectionCounts
  readonly #rows = new RowCache()
  #revision: number
  #compacted: number
  /** The greatest that was asked for: two of them may share a checkpoint. */
  #compacting: number
  /** Changes since the counts were saved. */
  #uncounted = 0
  /** Whether the last write failed: only the first of many is worth a line in the log. */
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
      // Not before: the first record that is written takes the place of others, which must be in the data file by then.
      storage.#expiryLoop.start()
    } catch (error) {
      if (storage) storage.#checkpoints.abandon()
      await log.close(false)
      throw error
    }
    await storage.shrink({ peakBytes: 0, mostCopiedBytes: Number.POSITIVE_INFINITY })
    // A compaction that a crash interrupted is taken up again.
    storage.#trimming = storage.#trim().catch((error) => storage.#warn(error, 'history could not be trimmed'))
    return storage
  }

  private constructor(parts: LmdbParts, { memtable }: Recovered, log: WriteAheadLog) {
    this.#parts = parts
    this.#file = parts.file
    this.#log = log
    this.#memtable = memtable
    this.#reads = createLmdbReads(() => this.#file.snapshot, memtable)
    this.#checkpoints = new Checkpoints({
      ...parts,
      memtable,
      compacted: () => this.#compacted,
      onReopen: () => this.#publishWhatIsDurable(),
    })
    this.#followers = createFollowers(parts.logger)
    this.#revision = memtable.revision
    this.#compacted = this.#file.snapshot.number('compacted') ?? 0
    this.#compacting = this.#compacted
    this.#counts = this.#file.snapshot.collectionCounts()
    this.#count(memtable.writes.map(({ change }) => change))
    this.#queue = new CommitQueue<CommitBatch>({
      begin: () => createCommitBatch(this.#revision, (key) => this.#rows.get(key) ?? this.#reads.row(key)),
      isFull: ({ staged, bytes }) => staged.length >= mostStaged || bytes >= mostStagedBytes,
      write: ({ staged }) => (staged.length > 0 ? this.#write(staged) : undefined),
      publish: (batch) => this.#publish(batch),
      recover: (error) => this.#recover(error),
    })
    this.#expiryLoop = new ExpiryLoop({ ...parts, source: this })
  }

  get revision(): number {
    return this.#revision
  }

  get compacted(): number {
    return this.#compacted
  }

  readIndex(): number {
    return this.#revision
  }

  read(key: string): Entry | undefined {
    return entryOf(key, this.#reads.row(key))
  }

  range(query: RangeQuery): RangePage {
    return query.at === undefined ? this.#reads.page(query) : this.#views.range({ ...query, at: query.at })
  }

  recall(range: KeyRange, at: number): Generator<undefined, void, void> {
    return this.#views.recall(range, at)
  }

  scan(range: KeyRange, look: (scanned: ScannedEntry) => boolean): void {
    this.#reads.scan(range, look)
  }

  /** Whole collections and namespaces are counted as they are written; any other range is scanned. */
  count(range: KeyRange, at?: number): number {
    return at === undefined ? this.countNow(range) : this.#views.count(range, at)
  }

  commit(writes: readonly Write[]): Promise<CommitOutcome> {
    return new Promise((resolve, reject) => {
      this.#checkOpen()
      checkWrites(writes)
      this.#queue.add(new StagedCommit(writes, resolve, reject))
    })
  }

  changes(query: ChangesQuery): ChangesPage {
    if (query.after < this.#compacted) throw new CompactedError(this.#compacted)
    return this.#reads.changes(query)
  }

  follow(listener: ChangeListener): Unfollow {
    return this.#followers.follow(listener)
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen()
    const peakBytes = await this.#checkpoints.alone(async () => this.#file.usedBytes())
    const compacted = Math.min(revision, this.#revision)
    if (compacted > this.#compacted) await this.#moveCompacted(compacted)
    const trimming = this.#trimming.then(() => this.#trim())
    this.#trimming = trimming.catch(() => undefined)
    await trimming
    await this.shrink({ peakBytes, mostCopiedBytes: mostCopiedAtWork })
  }

  measure(): Promise<readonly StorageSize[]> {
    return this.#file.measure()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Gives free space of the file back to the disk when there is much of it. */
  async shrink(options: ShrinkOptions): Promise<void> {
    try {
      const isDone = await this.#checkpoints.alone(() => this.#file.shrink(options))
      if (isDone) this.#parts.logger.info({ folder: this.#parts.folder }, 'data file rewritten to release free pages')
    } catch (error) {
      this.#warn(error, 'the data file could not be rewritten without its free pages')
    }
  }

  namesAfter(revision: number): Iterable<ChangeName> {
    return this.#reads.namesAfter(revision)
  }

  previousOf(name: ChangeName): Entry | undefined {
    return entryOf(name.key, this.#reads.previousOf(name))
  }

  entries(range: KeyRange): Iterable<Entry> {
    return this.#reads.entries(range)
  }

  countNow(range: KeyRange): number {
    const collection = collectionOfRange(range)
    return collection === undefined ? this.#reads.countKeys(range) : this.#counts.of(collection)
  }

  nextExpiryMs(): number | undefined {
    return this.#reads.nextExpiryMs()
  }

  expired(nowMs: number, limit: number): readonly DueKey[] {
    return this.#reads.expired(nowMs, limit)
  }

  /** Past the log where that may grow no more: because checkpoints do not follow, or because the disk is nearly full. */
  #write(staged: readonly StagedWrite[]): Promise<void> {
    // A file that was reopened may have held more than was known of when the batch was decided; one that is not open still may.
    if (!this.#file.isOpen || staged[0]?.change.revision !== this.#revision + 1)
      throw new StorageUnavailableError('the data file is not open')
    const hasRoom = !this.#memtable.isFull && this.#file.hasAmpleRoom()
    return hasRoom ? this.#log.append(staged, this.#revision) : this.#checkpoints.writeThrough(staged)
  }

  #publish({ staged, revision }: CommitBatch): void {
    if (staged.length === 0) return
    if (this.#isFailing) this.#parts.logger.info({ folder: this.#parts.folder }, 'storage is writable again')
    this.#isFailing = false
    this.#revision = revision
    this.#memtable.add(staged)
    if (this.#checkpoints.endWriteThrough()) this.#dropWritten(revision)
    this.#rows.update(staged)
    this.#publishChanges(staged.map(({ change }) => change))
    for (const { row } of staged) if (row?.expiresAtMs !== undefined) this.#expiryLoop.notice(row.expiresAtMs)
    this.#checkpoints.notice()
  }

  /** The batch is in the data file and not in the log. */
  #dropWritten(revision: number): void {
    this.#file.snapshot.renew()
    this.#memtable.drop(revision)
    this.#log.clear()
  }

  #publishChanges(changes: readonly Change[]): void {
    this.#count(changes)
    if (this.#uncounted > mostUncounted) {
      this.#uncounted = 0
      this.#saveCounts().catch((error) => this.#warn(error, 'counts could not be saved'))
    }
    this.#followers.publish(changes)
  }

  #count(changes: readonly Change[]): void {
    for (const { key, value, previous } of changes) {
      if (!value) this.#counts.add(key, -1)
      else if (!previous) this.#counts.add(key, 1)
    }
    this.#uncounted += changes.length
  }

  async #recover(error: unknown): Promise<Error> {
    this.#checkpoints.endWriteThrough()
    if (!this.#isFailing) this.#warn(error, 'writes cannot be stored')
    this.#isFailing = true
    if (error instanceof StorageUnavailableError) return error
    return new StorageUnavailableError(`the write could not be stored: ${reasonOf(error)}`)
  }

  /** A write may have reached the data file although it was reported as failed: then it is history, and followers must know. */
  #publishWhatIsDurable(): void {
    const { snapshot } = this.#file
    const durable = snapshot.lastRevision()
    if (durable <= this.#revision) return
    const names = [...snapshot.names(this.#revision, durable)]
    this.#revision = durable
    this.#rows.clear()
    this.#publishChanges(names.map((name) => snapshot.changeOf(name)))
    this.#expiryLoop.start()
  }

  #runChore(chore: Chore): Promise<void> {
    this.#checkOpen()
    return this.#checkpoints.run(chore)
  }

  async #moveCompacted(compacted: number): Promise<void> {
    this.#compacting = Math.max(this.#compacting, compacted)
    await this.#saveCounts(({ meta }, revision) => {
      meta.put('compacted', numberBytes(this.#compacting))
      // What only history says so far must not go with it: the newest revision, and the counts.
      meta.put('revision', numberBytes(revision))
    })
    this.#compacted = Math.max(this.#compacted, compacted)
  }

  async #saveCounts(andAlso?: Chore): Promise<void> {
    let unsaved: ReadonlyMap<string, number> = new Map()
    await this.#runChore((tables, revision) => {
      unsaved = this.#counts.unsaved()
      writeCounts(tables, unsaved, revision)
      andAlso?.(tables, revision)
    })
    this.#counts.saved(unsaved)
  }

  /** Deletes history up to the compacted revision, a slice at a time. */
  async #trim(): Promise<void> {
    for (;;) {
      const forgotten = this.#file.snapshot.forgotten(this.#compacted, namesPerTrim)
      if (forgotten.isEmpty) return
      await this.#runChore(forgotten.remove)
    }
  }

  async #close(): Promise<void> {
    this.#expiryLoop.close()
    // The next start need not count again what was written since they were saved.
    const counting = this.#uncounted > 0 ? this.#saveCounts().catch((error) => this.#warn(error, 'counts could not be saved')) : undefined
    await this.#trimming
    await counting
    await this.#queue.close()
    await this.#checkpoints.close()
    await this.#log.close(this.#memtable.size === 0)
    await this.#file.close()
    noteClosed(this.#file.path)
    await this.#parts.lock.release()
  }

  #checkOpen(): void {
    if (this.#closing) throw new StorageUnavailableError('the storage is closed')
  }

  #warn(error: unknown, message: string): void {
    if (!this.#closing) this.#parts.logger.warn({ error, folder: this.#parts.folder }, message)
  }
}

// The embedded engine: an LMDB file in a folder that belongs to one process, so that conditions are decided here and LMDB only stores.

import type { Clock } from '../base/clock.js'
import type { Logger } from '../base/logger.js'
import { noteClosed } from './closed-note.js'
import { type CollectionCounts, collectionOfRange } from './collections.js'
import { type CommitBatch, checkWrites, createCommitBatch, entryOf, stageCommit } from './commit-batch.js'
import { type BatchItem, CommitQueue } from './commit-queue.js'
import { type DueKey, ExpiryLoop } from './expiry-loop.js'
import type { FolderLock } from './folder-lock.js'
import { createFollowers, type Followers } from './followers.js'
import { type ChangeName, createHistoryViews, type HistorySource } from './history-views.js'
import { DataFile } from './lmdb-data-file.js'
import { refusedBySystem, takeFolder } from './lmdb-folder.js'
import { numberBytes } from './lmdb-records.js'
import type { ShrinkOptions } from './lmdb-rewrite.js'
import type { Tables } from './lmdb-tables.js'
import { finishUpgrade } from './lmdb-upgrade.js'
import { writeCounts } from './lmdb-writes.js'
import { RowCache } from './row-cache.js'
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
  try {
    await finishUpgrade({ path, tables, upgrade: options.upgrade, logger: options.logger })
  } catch (error) {
    await tables.root.close()
    await lock.release()
    throw refusedBySystem(options.folder, error)
  }
  const file = new DataFile(path, tables)
  try {
    const storage = new LmdbStorage({ ...options, file, lock })
    await storage.shrink({ peakBytes: 0, mostCopiedBytes: Number.POSITIVE_INFINITY })
    return storage
  } catch (error) {
    await file.close()
    await lock.release()
    throw refusedBySystem(options.folder, error)
  }
}

const mostStaged = 256
const mostStagedBytes = 8 << 20
/** How much history one batch of a compaction deletes: about a millisecond. */
const namesPerTrim = 500
const reopenDelayMs = 1000
/** Changes that the next start would have to count again. */
const mostUncounted = 20_000
/** Copying this much holds writes up for about half a second; a larger file waits for the next start. */
const mostCopiedAtWork = 256 << 20

interface LmdbBatch {
  readonly commits: CommitBatch
  readonly chores: ((tables: Tables) => void)[]
  compacted: number
}

/** A commit that waits for its batch: one object, because every write makes one. */
class StagedCommit implements BatchItem<LmdbBatch> {
  readonly #writes: readonly Write[]
  readonly #resolve: (outcome: CommitOutcome) => void
  readonly fail: (error: unknown) => void
  #outcome: CommitOutcome | undefined

  constructor(writes: readonly Write[], resolve: (outcome: CommitOutcome) => void, fail: (error: unknown) => void) {
    this.#writes = writes
    this.#resolve = resolve
    this.fail = fail
  }

  stage({ commits }: LmdbBatch): void {
    this.#outcome = stageCommit(commits, this.#writes)
  }

  resolve(): void {
    this.#resolve(this.#outcome as CommitOutcome)
  }
}

interface LmdbParts extends LmdbOptions {
  readonly file: DataFile
  readonly lock: FolderLock
}

class LmdbStorage implements Storage, HistorySource {
  readonly #parts: LmdbParts
  readonly #file: DataFile
  readonly #followers: Followers
  readonly #queue: CommitQueue<LmdbBatch>
  readonly #views = createHistoryViews(this)
  readonly #expiryLoop: ExpiryLoop
  readonly #counts: CollectionCounts
  readonly #rows = new RowCache()
  #revision: number
  #compacted: number
  /** Changes since the counts were saved. */
  #uncounted = 0
  /** Whether the last write failed: only the first of many is worth a line in the log. */
  #isFailing = false
  #trimming: Promise<void>
  #closing: Promise<void> | undefined

  constructor(parts: LmdbParts) {
    this.#parts = parts
    this.#file = parts.file
    this.#followers = createFollowers(parts.logger)
    this.#revision = this.#file.snapshot.lastRevision()
    this.#compacted = this.#file.snapshot.number('compacted') ?? 0
    this.#counts = this.#file.snapshot.collectionCounts()
    this.#queue = new CommitQueue<LmdbBatch>({
      begin: () => this.#begin(),
      isFull: ({ commits }) => commits.staged.length >= mostStaged || commits.bytes >= mostStagedBytes,
      write: ({ commits: { staged }, chores, compacted }) =>
        staged.length + chores.length > 0 ? this.#file.write({ staged, chores, compacted }) : undefined,
      publish: (batch) => this.#publish(batch),
      recover: (error) => this.#recover(error),
    })
    this.#expiryLoop = new ExpiryLoop({ ...parts, source: this })
    // A compaction that a crash interrupted is taken up again.
    this.#trimming = this.#trim().catch((error) => this.#warn(error, 'history could not be trimmed'))
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
    return entryOf(key, this.#file.snapshot.row(key))
  }

  range(query: RangeQuery): RangePage {
    return query.at === undefined ? this.#file.snapshot.page(query) : this.#views.range({ ...query, at: query.at })
  }

  recall(range: KeyRange, at: number): Generator<undefined, void, void> {
    return this.#views.recall(range, at)
  }

  scan(range: KeyRange, look: (scanned: ScannedEntry) => boolean): void {
    this.#file.snapshot.scan(range, look)
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
    return this.#file.snapshot.changes(query, this.#revision)
  }

  follow(listener: ChangeListener): Unfollow {
    return this.#followers.follow(listener)
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen()
    const peakBytes = this.#file.usedBytes()
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
      const isDone = await this.#queue.runAlone(() => this.#file.shrink(options))
      if (isDone) this.#parts.logger.info({ folder: this.#parts.folder }, 'data file rewritten to release free pages')
    } catch (error) {
      this.#warn(error, 'the data file could not be rewritten without its free pages')
    }
  }

  namesAfter(revision: number): Iterable<ChangeName> {
    return this.#file.snapshot.names(revision, this.#revision)
  }

  previousOf(name: ChangeName): Entry | undefined {
    return entryOf(name.key, this.#file.snapshot.previousOf(name))
  }

  entries(range: KeyRange): Iterable<Entry> {
    return this.#file.snapshot.entries(range)
  }

  countNow(range: KeyRange): number {
    const collection = collectionOfRange(range)
    return collection === undefined ? this.#file.snapshot.countKeys(range) : this.#counts.of(collection)
  }

  nextExpiryMs(): number | undefined {
    return this.#file.snapshot.nextExpiryMs()
  }

  expired(nowMs: number, limit: number): readonly DueKey[] {
    return this.#file.snapshot.expired(nowMs, limit)
  }

  #begin(): LmdbBatch {
    const { snapshot } = this.#file
    const commits = createCommitBatch(this.#revision, (key) => this.#rows.get(key) ?? snapshot.row(key))
    return { commits, chores: [], compacted: this.#compacted }
  }

  #publish({ commits, compacted, chores }: LmdbBatch): void {
    const { staged } = commits
    if (staged.length + chores.length === 0) return
    this.#file.snapshot.renew()
    if (this.#isFailing) this.#parts.logger.info({ folder: this.#parts.folder }, 'storage is writable again')
    this.#isFailing = false
    this.#revision = commits.revision
    this.#compacted = compacted
    this.#rows.update(staged)
    this.#publishChanges(staged.map(({ change }) => change))
    for (const { row } of staged) if (row?.expiresAtMs !== undefined) this.#expiryLoop.notice(row.expiresAtMs)
  }

  #publishChanges(changes: readonly Change[]): void {
    for (const { key, value, previous } of changes) {
      if (!value) this.#counts.add(key, -1)
      else if (!previous) this.#counts.add(key, 1)
    }
    this.#uncounted += changes.length
    if (this.#uncounted > mostUncounted) {
      this.#uncounted = 0
      this.#saveCounts(() => undefined).catch((error) => this.#warn(error, 'counts could not be saved'))
    }
    this.#followers.publish(changes)
  }

  async #recover(error: unknown): Promise<Error> {
    const isRefused = error instanceof StorageUnavailableError
    const cause = await causeOf(error)
    if (!this.#isFailing) this.#warn(cause, 'writes cannot be stored')
    this.#isFailing = true
    // A write that was refused for want of room never reached LMDB.
    if (isRefused) return error
    await this.#reopen()
    return new StorageUnavailableError(`the write could not be stored: ${cause.message}`)
  }

  async #reopen(): Promise<void> {
    try {
      this.#rows.clear()
      await this.#file.reopen()
      this.#publishWhatIsDurable()
    } catch (error) {
      this.#warn(error, 'the data file could not be reopened; trying again')
      setTimeout(() => this.#closing ?? void this.#queue.runAlone(() => this.#reopen()), reopenDelayMs).unref()
    }
  }

  /** A write may have reached the disk although it was reported as failed: then it is history, and followers must know. */
  #publishWhatIsDurable(): void {
    const before = this.#revision
    this.#revision = this.#file.snapshot.lastRevision()
    this.#publishChanges(Array.from(this.namesAfter(before), (name) => this.#file.snapshot.changeOf(name)))
  }

  #runChore(stage: (batch: LmdbBatch) => void): Promise<void> {
    this.#checkOpen()
    return new Promise((resolve, reject) => this.#queue.add({ stage, resolve: resolve, fail: reject }))
  }

  #moveCompacted(compacted: number): Promise<void> {
    return this.#saveCounts((batch) => {
      batch.compacted = Math.max(batch.compacted, compacted)
      batch.chores.push(({ meta }) => {
        meta.put('compacted', numberBytes(batch.compacted))
        // What only history says so far must not go with it: the newest revision, and the counts.
        meta.put('revision', numberBytes(batch.commits.revision))
      })
    })
  }

  async #saveCounts(andStage: (batch: LmdbBatch) => void): Promise<void> {
    let unsaved: ReadonlyMap<string, number> = new Map()
    await this.#runChore((batch) => {
      unsaved = this.#counts.unsaved()
      batch.chores.push((tables) => writeCounts(tables, unsaved, this.#revision))
      andStage(batch)
    })
    this.#counts.saved(unsaved)
  }

  /** Deletes history up to the compacted revision, a slice per batch so that commits are not held up. */
  async #trim(): Promise<void> {
    for (;;) {
      const forgotten = this.#file.snapshot.forgotten(this.#compacted, namesPerTrim)
      if (forgotten.isEmpty) return
      await this.#runChore(({ chores }) => chores.push(forgotten.remove))
    }
  }

  async #close(): Promise<void> {
    this.#expiryLoop.close()
    // The next start need not count again what was written since they were saved.
    const counting =
      this.#uncounted > 0 ? this.#saveCounts(() => undefined).catch((error) => this.#warn(error, 'counts could not be saved')) : undefined
    await this.#trimming
    await counting
    await this.#queue.close()
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

/** The lmdb package rejects with a general error that holds a promise of the particular one. */
async function causeOf(error: unknown): Promise<Error> {
  const wrapped = error instanceof Error && 'commitError' in error ? error.commitError : error
  const cause = await Promise.resolve(wrapped).catch((reason: unknown) => reason)
  return cause instanceof Error ? cause : new Error(String(cause))
}

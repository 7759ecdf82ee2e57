// A local copy of a store that is elsewhere, fed by its stream of changes: reads, lists, history and followers are served from here at the
// cost of the embedded engine. Its `position` counts in the source's own terms, up to which everything has arrived.
//
// What has just arrived is in memory, and comes into the file with much else in one transaction: the source has it, and sends it again to a process
// that ended before. So the file may be behind, but it ends with a whole step.

import type { Logger } from '../base/logger.js'
import { type CollectionCounts, collectionOfRange } from './collections.js'
import { entryOf, type Row, type StagedWrite } from './commit-batch.js'
import { createFollowers, type Followers } from './followers.js'
import { type ChangeName, createHistoryViews, type HistorySource } from './history-views.js'
import { createLmdbReads, type LmdbReads } from './lmdb-reads.js'
import { encodeRow, numberBytes, rowBytes } from './lmdb-records.js'
import type { Tables } from './lmdb-tables.js'
import { createArena, mostNewBytes, newestOf, writeCounts, writeStaged } from './lmdb-writes.js'
import { Memtable } from './memtable.js'
import type { MirrorFile } from './mirror-file.js'
import {
  type ChangeListener,
  type ChangesPage,
  type ChangesQuery,
  CompactedError,
  type Entry,
  type FormatUpgrade,
  type KeyRange,
  type RangePage,
  type RangeQuery,
  type ScannedEntry,
  type Unfollow,
} from './storage.js'

/** Where it is kept. */
export type MirrorPlace = Pick<MirrorFile, 'snapshot' | 'write' | 'startAnew' | 'close'>

export interface MirrorOptions {
  readonly file: MirrorPlace
  /** The position at which a revision was reached. */
  readonly positionOf: (revision: number) => number
  /** The source may hold values that a server of an older format wrote: here they are as this one writes them. */
  readonly upgrade?: FormatUpgrade | undefined
  readonly logger: Logger
}

/** A change at the source; without a value a deletion. */
export interface MirroredWrite {
  readonly key: string
  readonly revision: number
  readonly value: Buffer | undefined
}

/** What comes next from the source. */
export interface MirroredStep {
  /** Oldest first. */
  readonly writes: readonly MirroredWrite[]
  /** Where the source is after them. */
  readonly position: number
  /** The changes do not tell all that happened on the way: history up to this revision is worth nothing. */
  readonly compacted?: number | undefined
}

interface Waiter {
  readonly position: number
  readonly arrive: () => void
}

/** How much history one slice of a compaction deletes: about a millisecond. */
const namesPerTrim = 500
const smallWriteBytes = 1 << 20
/** What has been in memory for so long comes into the file however little it is. */
const longestInMemoryMs = 1000

export class Mirror implements HistorySource {
  readonly #file: MirrorPlace
  readonly #logger: Logger
  readonly #upgrade: FormatUpgrade | undefined
  readonly #arena = createArena()
  readonly #followers: Followers
  readonly #views = createHistoryViews(this)
  #memtable: Memtable
  #reads: LmdbReads
  #counts: CollectionCounts
  #waiters: readonly Waiter[] = []
  #onWaiting: (position: number) => void = () => undefined
  #revision: number
  #compacted: number
  #position: number
  #saveLater: NodeJS.Timeout | undefined
  #saveSoon: NodeJS.Immediate | undefined
  /** Whether what is in memory could not be written the last time: only the first of many is worth a line in the log. */
  #isFailing = false
  #isClosed = false

  constructor(options: MirrorOptions) {
    this.#file = options.file
    this.#logger = options.logger
    this.#upgrade = options.upgrade
    this.#followers = createFollowers(options.logger)
    const { snapshot } = options.file
    this.#counts = snapshot.collectionCounts()
    this.#revision = snapshot.lastRevision()
    this.#memtable = new Memtable(this.#revision)
    this.#reads = createLmdbReads(() => this.#file.snapshot, this.#memtable)
    this.#compacted = snapshot.number('compacted') ?? 0
    this.#position = Math.max(snapshot.number('position') ?? 0, options.positionOf(this.#revision), 0)
  }

  /** Whether there is a copy at all: of a new mirror `load` must be called first. */
  get isLoaded(): boolean {
    return this.#file.snapshot.number('position') !== undefined
  }

  get position(): number {
    return this.#position
  }

  get revision(): number {
    return this.#revision
  }

  get compacted(): number {
    return this.#compacted
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

  count(range: KeyRange, at?: number): number {
    return at === undefined ? this.countNow(range) : this.#views.count(range, at)
  }

  changes(query: ChangesQuery): ChangesPage {
    if (query.after < this.#compacted) throw new CompactedError(this.#compacted)
    return this.#reads.changes(query)
  }

  /** Whether history shows a change with exactly this revision. */
  hasChangeAt(revision: number): boolean {
    for (const name of this.#reads.namesAfter(revision - 1)) return name.revision === revision
    return false
  }

  follow(listener: ChangeListener): Unfollow {
    return this.#followers.follow(listener)
  }

  /** The listener is told of every position that somebody begins to wait for. */
  whenWaitedFor(listener: (position: number) => void): void {
    this.#onWaiting = listener
  }

  /** Resolves when the position is reached: then with true, or with false when it is not in time. */
  reach(position: number, timeoutMs: number): Promise<boolean> {
    if (position <= this.#position) return Promise.resolve(true)
    return new Promise((resolve) => {
      const arrive = (): void => {
        clearTimeout(timer)
        resolve(true)
      }
      const waiter = { position, arrive }
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter)
        resolve(false)
      }, timeoutMs)
      this.#waiters = [...this.#waiters, waiter]
      this.#onWaiting(position)
    })
  }

  /** Takes in the next changes, tells followers of them, and lets go those who waited for the position. */
  apply({ writes, position, compacted }: MirroredStep): void {
    if (this.#isClosed) return
    const staged = this.#stage(writes)
    if (staged.length > 0 || compacted !== undefined) {
      if (compacted === undefined) this.#remember(staged)
      else this.#forgetUpTo(compacted, { staged, position })
      for (const { change, row, previousRow } of staged) {
        if (!row) this.#counts.add(change.key, -1)
        else if (!previousRow) this.#counts.add(change.key, 1)
      }
      this.#followers.publish(
        staged.map(({ change }) => change),
        compacted !== undefined,
      )
    }
    this.#moveTo(position)
  }

  /** Begins a new copy: then come `load`, page by page, and `endLoad`. Nobody may be reading. */
  async beginLoad(): Promise<void> {
    await this.#file.startAnew()
    this.#counts = this.#file.snapshot.collectionCounts()
    this.#beginMemory(0)
  }

  load(entries: readonly Entry[]): void {
    this.#arena.reset()
    let bytes = smallWriteBytes
    for (const { value } of entries) bytes += 2 * 4096 + 2 * value.length
    this.#file.write(bytes, (tables) => {
      for (const entry of entries) this.#loadEntry(tables, entry)
    })
    for (const { key } of entries) this.#counts.add(key, 1)
  }

  endLoad(position: number, compacted: number): void {
    this.#revision = Math.max(compacted, 1)
    this.#compacted = compacted
    this.#position = position
    this.#note()
    this.#beginMemory(this.#revision)
  }

  /** Forgets history up to a revision. */
  async compact(revision: number): Promise<void> {
    const compacted = Math.min(revision, this.#revision)
    if (compacted <= this.#compacted) return
    this.#compacted = compacted
    this.#note()
    await this.#trim()
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    try {
      this.#note()
    } catch (error) {
      // The file is behind, as that of a process that was killed.
      this.#logger.warn(
        { error },
        'the local mirror of etcd cannot be written at its end; what is missing is read from etcd at the next start',
      )
    }
    this.#isClosed = true
    this.#stopTimers()
    await this.#file.close()
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

  #stage(writes: readonly MirroredWrite[]): readonly StagedWrite[] {
    const staged: StagedWrite[] = []
    const written = new Map<string, Row | undefined>()
    let position = 0
    for (const { key, revision, value: given } of writes) {
      const value = given && this.#valueOf(key, given)
      const previousRow = written.has(key) ? written.get(key) : this.#reads.row(key)
      if (value === undefined && previousRow === undefined) continue
      const row = value && { revision, value, expiresAtMs: undefined }
      written.set(key, row)
      position = staged.at(-1)?.change.revision === revision ? position + 1 : 0
      staged.push({ change: { revision, key, value, previous: entryOf(key, previousRow) }, position, row, previousRow })
    }
    return staged
  }

  /** Where memory is full and the file cannot be written, nothing is taken in. */
  #remember(staged: readonly StagedWrite[]): void {
    if (this.#memtable.isFull) this.#save()
    this.#memtable.add(staged)
    this.#revision = this.#memtable.revision
    if (this.#memtable.isLarge && !this.#isFailing) this.#saveSoon ??= setImmediate(() => this.#trySave())
    else this.#saveLater ??= setTimeout(() => this.#trySave(), longestInMemoryMs).unref()
  }

  #forgetUpTo(compacted: number, { staged, position }: { readonly staged: readonly StagedWrite[]; readonly position: number }): void {
    const revision = Math.max(this.#revision, compacted, staged.at(-1)?.change.revision ?? 0)
    this.#save(staged, (tables) => {
      tables.meta.put('position', numberBytes(position))
      tables.meta.put('compacted', numberBytes(compacted))
      tables.meta.put('revision', numberBytes(revision))
    })
    this.#memtable.drop(revision)
    this.#revision = revision
    this.#compacted = compacted
  }

  /** Brings what is in memory into the file, and what comes behind it, in one transaction. */
  #save(more: readonly StagedWrite[] = [], andAlso?: (tables: Tables) => void): void {
    const staged = more.length === 0 ? this.#memtable.writes : [...this.#memtable.writes, ...more]
    this.#arena.reset()
    this.#file.write(mostNewBytes(staged) + smallWriteBytes, (tables) => {
      writeStaged(tables, { staged, isNewest: newestOf(staged), compacted: this.#compacted }, this.#arena)
      andAlso?.(tables)
    })
    this.#file.snapshot.renew()
    this.#memtable.drop(this.#memtable.revision)
    this.#stopTimers()
    if (this.#isFailing) this.#logger.info({}, 'the local mirror of etcd is writable again')
    this.#isFailing = false
  }

  /** What cannot be written stays in memory, and is tried again. */
  #trySave(): void {
    this.#stopTimers()
    try {
      this.#save()
    } catch (error) {
      if (!this.#isFailing) this.#logger.warn({ error }, 'the local mirror of etcd cannot be written; what has arrived stays in memory')
      this.#isFailing = true
      this.#saveLater ??= setTimeout(() => this.#trySave(), longestInMemoryMs).unref()
    }
  }

  #stopTimers(): void {
    clearTimeout(this.#saveLater)
    clearImmediate(this.#saveSoon)
    this.#saveLater = undefined
    this.#saveSoon = undefined
  }

  /** Of another copy, which is in the file up to this revision. */
  #beginMemory(revision: number): void {
    this.#stopTimers()
    this.#memtable = new Memtable(revision)
    this.#reads = createLmdbReads(() => this.#file.snapshot, this.#memtable)
  }

  #moveTo(position: number): void {
    this.#position = Math.max(this.#position, position)
    if (this.#waiters.length === 0) return
    const arrived = this.#waiters.filter((waiter) => waiter.position <= this.#position)
    this.#waiters = this.#waiters.filter((waiter) => waiter.position > this.#position)
    for (const { arrive } of arrived) arrive()
  }

  #loadEntry({ current }: Tables, { key, revision, value }: Entry): void {
    const row = { revision, value: this.#valueOf(key, value), expiresAtMs: undefined }
    const slab = this.#arena.take(rowBytes(row))
    encodeRow(row, slab, slab.start)
    current.put(key, slab)
  }

  #valueOf(key: string, value: Buffer): Buffer {
    return this.#upgrade === undefined ? value : this.#upgrade.upgradeValue(key, value)
  }

  /** Saves what history alone does not say. */
  #note(): void {
    const unsaved = this.#counts.unsaved()
    this.#save([], (tables) => {
      tables.meta.put('position', numberBytes(this.#position))
      tables.meta.put('compacted', numberBytes(this.#compacted))
      tables.meta.put('revision', numberBytes(this.#revision))
      writeCounts(tables, unsaved, this.#revision)
    })
    this.#counts.saved(unsaved)
  }

  /** Deletes history up to the compacted revision, a slice at a time so that others get their turn. */
  async #trim(): Promise<void> {
    while (!this.#isClosed) {
      const forgotten = this.#file.snapshot.forgotten(this.#compacted, namesPerTrim)
      if (forgotten.isEmpty) return
      this.#file.write(smallWriteBytes, forgotten.remove)
      this.#file.snapshot.renew()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

// The engine without a disk: for tests, for embedding, and as the plainest reading of the contract.

import { type Clock, systemClock } from '../base/clock.js'
import { type Logger, silentLogger } from '../base/logger.js'
import { collectionOfRange, createCollectionCounts } from './collections.js'
import { type CommitBatch, checkWrites, createCommitBatch, entryOf, type Row } from './commit-batch.js'
import { CommitQueue } from './commit-queue.js'
import { ExpiryLoop } from './expiry-loop.js'
import { createFollowers } from './followers.js'
import { type ChangeName, createHistoryViews, type HistorySource, kindOf } from './history-views.js'
import { isInRange } from './key-order.js'
import { collectPage } from './range-page.js'
import { createSortedMap } from './sorted-map.js'
import { StagedCommit } from './staged-commit.js'
import {
  type Change,
  type ChangeListener,
  type ChangesPage,
  type ChangesQuery,
  type CommitOutcome,
  CompactedError,
  type Entry,
  type KeyRange,
  type RangePage,
  type RangeQuery,
  type ScannedEntry,
  type Storage,
  StorageUnavailableError,
  type Unfollow,
  type Write,
} from './storage.js'

export interface MemoryOptions {
  readonly clock?: Clock
  readonly logger?: Logger
}

export function openMemoryStorage({ clock = systemClock, logger = silentLogger }: MemoryOptions = {}): Storage {
  return new MemoryStorage(clock, logger)
}

const mostStaged = 1000

class MemoryStorage implements Storage, HistorySource {
  readonly #rows = createSortedMap<Row>()
  /** Keys by the time of their expiry, for the few that have one. */
  readonly #expiries = createSortedMap<string>()
  readonly #counts = createCollectionCounts()
  readonly #views = createHistoryViews(this)
  readonly #queue: CommitQueue<CommitBatch>
  readonly #expiryLoop: ExpiryLoop
  readonly #followers
  #history: Change[] = []
  #revision = 1
  #compacted = 0
  #isClosed = false

  constructor(clock: Clock, logger: Logger) {
    this.#followers = createFollowers(logger)
    this.#queue = new CommitQueue<CommitBatch>({
      begin: () => createCommitBatch(this.#revision, (key) => this.#rows.get(key)),
      isFull: (batch) => batch.staged.length >= mostStaged,
      write: () => undefined,
      publish: (batch) => this.#publish(batch),
      recover: async (error) => new StorageUnavailableError(String(error)),
    })
    this.#expiryLoop = new ExpiryLoop({ clock, logger, source: this })
    this.#expiryLoop.start()
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
    this.#checkOpen()
    return entryOf(key, this.#rows.get(key))
  }

  range(query: RangeQuery): RangePage {
    this.#checkOpen()
    if (query.at !== undefined) return this.#views.range({ ...query, at: query.at })
    return collectPage(this.entries(query), query)
  }

  recall(range: KeyRange, at: number): Generator<undefined, void, void> {
    return this.#views.recall(range, at)
  }

  scan(range: KeyRange, look: (scanned: ScannedEntry) => boolean): void {
    this.#checkOpen()
    for (const { key, revision, value } of this.entries(range))
      if (!look({ key, revision, bytes: value, start: 0, end: value.length })) return
  }

  count(range: KeyRange, at?: number): number {
    this.#checkOpen()
    return at === undefined ? this.countNow(range) : this.#views.count(range, at)
  }

  commit(writes: readonly Write[]): Promise<CommitOutcome> {
    return new Promise((resolve, reject) => {
      this.#checkOpen()
      checkWrites(writes)
      this.#queue.add(new StagedCommit(writes, resolve, reject))
    })
  }

  changes({ start, end, after, limit }: ChangesQuery): ChangesPage {
    this.#checkOpen()
    if (after < this.#compacted) throw new CompactedError(this.#compacted)
    const changes: Change[] = []
    for (let index = this.#indexAfter(after); index < this.#history.length; index += 1) {
      const change = this.#history[index] as Change
      const last = changes.at(-1)
      if (last && changes.length >= limit && change.revision > last.revision) return { changes, upTo: last.revision }
      if (isInRange(change.key, { start, end })) changes.push(change)
    }
    return { changes, upTo: this.#revision }
  }

  follow(listener: ChangeListener): Unfollow {
    return this.#followers.follow(listener)
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen()
    if (revision <= this.#compacted) return
    this.#compacted = Math.min(revision, this.#revision)
    this.#history.splice(0, this.#indexAfter(this.#compacted))
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#expiryLoop.close()
    this.#isClosed = true
    await this.#queue.close()
  }

  *namesAfter(revision: number): Generator<ChangeName, void, undefined> {
    let position = 0
    let last = 0
    for (let index = this.#indexAfter(revision); index < this.#history.length; index += 1) {
      const change = this.#history[index] as Change
      position = change.revision === last ? position + 1 : 0
      last = change.revision
      yield { revision: last, position, key: change.key, kind: kindOf(change) }
    }
  }

  previousOf({ revision, position }: ChangeName): Entry | undefined {
    return this.#history[this.#indexAfter(revision - 1) + position]?.previous
  }

  *entries(range: KeyRange): Generator<Entry, void, undefined> {
    for (const { key, value } of this.#rows.entries(range)) yield { key, revision: value.revision, value: value.value }
  }

  countNow(range: KeyRange): number {
    const collection = collectionOfRange(range)
    if (collection !== undefined) return this.#counts.of(collection)
    let count = 0
    for (const _ of this.#rows.entries(range)) count += 1
    return count
  }

  nextExpiryMs(): number | undefined {
    const first = this.#expiries.first()
    return first && Number.parseInt(first.key, 10)
  }

  expired(nowMs: number, limit: number): { key: string; revision: number }[] {
    const due: { key: string; revision: number }[] = []
    for (const { value: key } of this.#expiries.entries({ start: '', end: expiryKey(nowMs + 1, '') })) {
      const row = this.#rows.get(key)
      if (row && due.length < limit) due.push({ key, revision: row.revision })
    }
    return due
  }

  #publish(batch: CommitBatch): void {
    const changes: Change[] = []
    for (const { change, row, previousRow } of batch.staged) {
      if (row) this.#rows.set(change.key, row)
      else this.#rows.delete(change.key)
      if (previousRow?.expiresAtMs !== undefined) this.#expiries.delete(expiryKey(previousRow.expiresAtMs, change.key))
      if (row?.expiresAtMs !== undefined) this.#expiries.set(expiryKey(row.expiresAtMs, change.key), change.key)
      if (!row) this.#counts.add(change.key, -1)
      else if (!previousRow) this.#counts.add(change.key, 1)
      changes.push(change)
    }
    for (const change of changes) this.#history.push(change)
    this.#revision = batch.revision
    this.#followers.publish(changes)
    for (const { row } of batch.staged) if (row?.expiresAtMs !== undefined) this.#expiryLoop.notice(row.expiresAtMs)
  }

  /** Where the changes after `revision` begin. */
  #indexAfter(revision: number): number {
    let low = 0
    let high = this.#history.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#history[middle] as Change).revision <= revision) low = middle + 1
      else high = middle
    }
    return low
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new StorageUnavailableError('the storage is closed')
  }
}

function expiryKey(timeMs: number, key: string): string {
  return `${String(timeMs).padStart(16, '0')}/${key}`
}

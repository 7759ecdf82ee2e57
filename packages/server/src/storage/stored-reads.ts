// Reads of every engine: entries, pages, history, counts and followers, over a stored state and the newer writes in the memtable.

import { type Logger, silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { type CollectionCounts, collectionOfRange, createCollectionCounts, isInRange } from './collections.js'
import { entryOf, type Row, type StagedWrite } from './commit-queue.js'
import { type ChangeId, collectPage, createHistoryViews, type HistorySource, kindOf } from './history-views.js'
import { Memtable } from './memtable.js'
import {
  type Change,
  type ChangeListener,
  type ChangesPage,
  type ChangesQuery,
  CompactedError,
  type Entry,
  type KeyRange,
  type RangePage,
  type RangeQuery,
  type ScannedEntry,
  type Unfollow,
} from './storage.js'

/** The stored state of an engine: all writes up to the revision `memtable.checkpointed`. */
export interface StoredState {
  row(key: string): Row | undefined
  /** In key order. `limit`: number of entries that the caller reads. */
  entries(range: KeyRange, limit?: number): Iterable<Entry>
  scan(range: KeyRange, visit: (scanned: ScannedEntry) => boolean): void
  countKeys(range: KeyRange): number
  changeIds(after: number, upTo: number): Iterable<ChangeId>
  previousOf(id: ChangeId): Row | undefined
  changeOf(id: ChangeId): Change
  expiries(upToMs?: number): Iterable<{ readonly number: number; readonly key: string }>
}

interface StoredReadsOptions {
  /** Called for each read: an engine may replace its state. */
  readonly state: () => StoredState
  readonly memtable?: Memtable
  readonly counts?: CollectionCounts
  readonly revision: number
  readonly compacted: number
  readonly logger?: Logger
}

interface ExpiredKey {
  readonly key: string
  readonly revision: number
}

/** Changes that one page of history scans: about a millisecond. */
const maxReadPerPage = 2000
/** Limit for the new and previous values of a page of changes. */
const maxChangeBytes = 4 << 20

export class StoredReads implements HistorySource {
  readonly #state: () => StoredState
  readonly #logger: Logger
  readonly #views = createHistoryViews(this)
  #followers: readonly { readonly listener: ChangeListener; isActive: boolean }[] = []
  #revision: number
  #compacted: number
  protected memtable: Memtable
  protected counts: CollectionCounts

  constructor({ state, memtable, counts, revision, compacted, logger = silentLogger }: StoredReadsOptions) {
    this.#state = state
    this.#logger = logger
    this.#revision = revision
    this.#compacted = compacted
    this.memtable = memtable ?? new Memtable(revision)
    this.counts = counts ?? createCollectionCounts()
  }

  get revision(): number {
    return this.#revision
  }

  get compacted(): number {
    return this.#compacted
  }

  row(key: string): Row | undefined {
    const write = this.memtable.newest(key)
    return write ? write.row : this.#state().row(key)
  }

  read(key: string): Entry | undefined {
    return entryOf(key, this.row(key))
  }

  range(query: RangeQuery): RangePage {
    if (query.at !== undefined) return this.#views.range({ ...query, at: query.at })
    return collectPage(this.entries(query, query.limit + 1), query)
  }

  prepareRangeAt(range: KeyRange, at: number): Generator<undefined, void, void> {
    return this.#views.prepareRangeAt(range, at)
  }

  scan(range: KeyRange, visit: (scanned: ScannedEntry) => boolean): void {
    const inMemory = this.memtable.within(range)
    let next = 0
    let hasStopped = false
    const visitEntry = (scanned: ScannedEntry): boolean => {
      hasStopped = !visit(scanned)
      return !hasStopped
    }
    const visitInMemory = (): boolean => {
      const { change, row } = inMemory[next++] as StagedWrite
      return row === undefined || visitEntry({ key: change.key, revision: row.revision, bytes: row.value, start: 0, end: row.value.length })
    }
    this.#state().scan(range, (scanned) => {
      while (next < inMemory.length && compareText(keyOf(inMemory[next]), scanned.key) < 0) if (!visitInMemory()) return false
      return next < inMemory.length && keyOf(inMemory[next]) === scanned.key ? visitInMemory() : visitEntry(scanned)
    })
    while (!hasStopped && next < inMemory.length) visitInMemory()
  }

  /** Without `at`, collections and namespaces are counted as they are written; any other range is scanned. */
  count(range: KeyRange, at?: number): number {
    return at === undefined ? this.countNow(range) : this.#views.count(range, at)
  }

  changes({ start, end, after, limit }: ChangesQuery): ChangesPage {
    if (after < this.#compacted) throw new CompactedError(this.#compacted)
    const state = this.#state()
    const changes: Change[] = []
    let readCount = 0
    let bytes = 0
    let upTo = after
    /** False when the page is full; the changes of one commit stay together. */
    const addChange = (revision: number, key: string, load: () => Change): boolean => {
      const isFull = changes.length >= limit || readCount >= maxReadPerPage || bytes >= maxChangeBytes
      if (isFull && revision > upTo) return false
      upTo = revision
      readCount += 1
      if (!isInRange(key, { start, end })) return true
      const change = load()
      bytes += (change.value?.length ?? 0) + (change.previous?.value.length ?? 0)
      changes.push(change)
      return true
    }
    for (const id of state.changeIds(after, this.memtable.checkpointed))
      if (!addChange(id.revision, id.key, () => state.changeOf(id))) return { changes, upTo }
    for (const { change } of this.memtable.after(after)) if (!addChange(change.revision, change.key, () => change)) return { changes, upTo }
    return { changes, upTo: this.#revision }
  }

  hasChangeAt(revision: number): boolean {
    for (const id of this.changeIdsAfter(revision - 1)) return id.revision === revision
    return false
  }

  follow(listener: ChangeListener): Unfollow {
    const follower = { listener, isActive: true }
    this.#followers = [...this.#followers, follower]
    return () => {
      follower.isActive = false
      this.#followers = this.#followers.filter((other) => other !== follower)
    }
  }

  *changeIdsAfter(revision: number): Generator<ChangeId, void, undefined> {
    yield* this.#state().changeIds(revision, this.memtable.checkpointed)
    for (const { change, position } of this.memtable.after(revision)) {
      yield { revision: change.revision, position, key: change.key, kind: kindOf(change) }
    }
  }

  previousOf(id: ChangeId): Entry | undefined {
    const isStored = id.revision <= this.memtable.checkpointed
    return entryOf(id.key, isStored ? this.#state().previousOf(id) : this.memtable.find(id.revision, id.key)?.previousRow)
  }

  entries(range: KeyRange, limit?: number): Iterable<Entry> {
    const newer = this.memtable.within(range)
    return newer.length === 0 ? this.#state().entries(range, limit) : mergedEntries(this.#state().entries(range), newer)
  }

  countNow(range: KeyRange): number {
    const collection = collectionOfRange(range)
    if (collection !== undefined) return this.counts.countOf(collection)
    const state = this.#state()
    let count = state.countKeys(range)
    for (const { change, row } of this.memtable.within(range))
      count += Number(row !== undefined) - Number(state.row(change.key) !== undefined)
    return count
  }

  nextExpiryMs(): number | undefined {
    let next = Number.POSITIVE_INFINITY
    for (const { number } of this.#storedExpiries()) {
      next = number
      break
    }
    for (const { row } of this.memtable.newestOfAll()) next = Math.min(next, row?.expiresAtMs ?? next)
    return Number.isFinite(next) ? next : undefined
  }

  expired(nowMs: number, limit: number): readonly ExpiredKey[] {
    const keys: ExpiredKey[] = []
    for (const { change, row } of this.memtable.newestOfAll()) {
      if (row?.expiresAtMs !== undefined && row.expiresAtMs <= nowMs) keys.push({ key: change.key, revision: row.revision })
    }
    for (const { key } of this.#storedExpiries(nowMs)) {
      if (keys.length >= limit) break
      const row = this.#state().row(key)
      if (row) keys.push({ key, revision: row.revision })
    }
    return keys.slice(0, limit)
  }

  /** Advances to a revision whose writes are readable, and notifies followers. */
  protected publish(changes: readonly Change[], revision: number, hasGap = false): void {
    this.#revision = revision
    this.countChanges(changes)
    if (changes.length === 0 && !hasGap) return
    for (const follower of this.#followers) {
      if (!follower.isActive) continue
      try {
        follower.listener(changes, hasGap)
      } catch (error) {
        this.#logger.error({ error }, 'internal error in a listener of storage changes')
      }
    }
  }

  protected countChanges(changes: readonly Change[]): void {
    for (const { key, value, previous } of changes) {
      if (!value) this.counts.add(key, -1)
      else if (!previous) this.counts.add(key, 1)
    }
  }

  protected forgetUpTo(revision: number): void {
    this.#compacted = revision
  }

  /** Expiries of the state whose keys have no newer write. */
  *#storedExpiries(upToMs?: number): Generator<{ readonly number: number; readonly key: string }, void, undefined> {
    for (const expiry of this.#state().expiries(upToMs)) if (!this.memtable.newest(expiry.key)) yield expiry
  }
}

const keyOf = (write: StagedWrite | undefined): string => write?.change.key ?? ''

/** Merges stored entries with newer writes, in key order. */
function* mergedEntries(stored: Iterable<Entry>, newer: readonly StagedWrite[]): Generator<Entry, void, undefined> {
  let next = 0
  for (const entry of stored) {
    for (; next < newer.length && compareText(keyOf(newer[next]), entry.key) < 0; next++) yield* entriesOf(newer[next])
    if (next < newer.length && keyOf(newer[next]) === entry.key) yield* entriesOf(newer[next++])
    else yield entry
  }
  for (; next < newer.length; next++) yield* entriesOf(newer[next])
}

function* entriesOf(write: StagedWrite | undefined): Generator<Entry, void, undefined> {
  if (write?.row) yield { key: write.change.key, revision: write.row.revision, value: write.row.value }
}

// Reads of one durable state of a data file. The engine moves it on when it publishes a batch and not before: LMDB itself would show a
// batch as soon as it is on the disk, which is a moment earlier than followers are told.

import type { Transaction } from 'lmdb'
import { type CollectionCounts, createCollectionCounts } from './collections.js'
import { entryOf, type Row } from './commit-batch.js'
import type { ChangeName } from './history-views.js'
import { clipBound, isEmptyRange, isInRange, isTooLong } from './key-order.js'
import { endOfNumbers, historyBound, type NumberedKey, numberedBound, readUint48 } from './lmdb-records.js'
import type { Tables } from './lmdb-tables.js'
import { mostChangeBytes } from './range-page.js'
import {
  type Change,
  type ChangesPage,
  type ChangesQuery,
  type Entry,
  type KeyRange,
  type RangePage,
  type RangeQuery,
  type ScannedEntry,
  StorageUnavailableError,
} from './storage.js'

/** How much history one page looks through: about a millisecond. */
const mostNamesPerPage = 2000

export class Snapshot {
  readonly #tables: Tables
  #reading: { readonly transaction: Transaction }

  constructor(tables: Tables) {
    this.#tables = tables
    this.#reading = this.#begin()
  }

  /** Moves on to what is durable now. */
  renew(): void {
    this.#reading.transaction.done()
    this.#reading = this.#begin()
  }

  close(): void {
    this.#reading.transaction.done()
  }

  row(key: string): Row | undefined {
    return key === '' || isTooLong(key) ? undefined : this.#tables.current.get(key, this.#reading)
  }

  page({ start, end, limit, maxBytes = Number.POSITIVE_INFINITY }: RangeQuery): RangePage {
    const entries: Entry[] = []
    let bytes = 0
    for (const { key, value: row } of this.#rows({ start, end }, limit + 1)) {
      if (entries.length === limit || bytes >= maxBytes) return { entries, more: true }
      entries.push({ key, revision: row.revision, value: row.value })
      bytes += row.value.length
    }
    return { entries, more: false }
  }

  scan({ start, end }: KeyRange, look: (scanned: ScannedEntry) => boolean): void {
    if (isEmptyRange({ start, end })) return
    const shown: { -readonly [K in keyof ScannedEntry]: ScannedEntry[K] } = {
      key: '',
      revision: 0,
      bytes: new Uint8Array(),
      start: 0,
      end: 0,
    }
    for (const { key, value: row } of this.#tables.scanned.getRange({ start: clipBound(start), end: clipBound(end), ...this.#reading })) {
      shown.key = key
      shown.revision = row.revision
      shown.bytes = row.bytes
      shown.start = row.start
      shown.end = row.end
      if (!look(shown)) return
    }
  }

  *entries(range: KeyRange): Generator<Entry, void, undefined> {
    for (const { key, value: row } of this.#rows(range)) yield { key, revision: row.revision, value: row.value }
  }

  countKeys({ start, end }: KeyRange): number {
    if (isEmptyRange({ start, end })) return 0
    return this.#tables.current.getKeysCount({ start: clipBound(start), end: clipBound(end), ...this.#reading })
  }

  /** The counts of the collections, counted up to the present from when they were last saved. */
  collectionCounts(): CollectionCounts {
    const saved = this.#tables.counts.getRange({ start: '', end: '\u{10ffff}', ...this.#reading })
    const counts = createCollectionCounts(Array.from(saved, ({ key, value }) => [key, value] as const))
    for (const { key, kind } of this.names(this.number('counted') ?? 0, endOfNumbers - 1)) {
      if (kind !== 'updated') counts.add(key, kind === 'created' ? 1 : -1)
    }
    return counts
  }

  /** The changes after one revision and up to another, oldest first. */
  names(after: number, upTo: number): Iterable<ChangeName> {
    return this.#tables.history.getKeys({ start: historyBound(after + 1), end: historyBound(upTo + 1), ...this.#reading })
  }

  /** What the key of a change held before it. */
  previousOf(name: ChangeName): Row | undefined {
    return this.#tables.history.get(name, this.#reading)?.previous
  }

  /** A page of what happened to a range, up to a revision. */
  changes({ start, end, after, limit }: ChangesQuery, revision: number): ChangesPage {
    const changes: Change[] = []
    let looked = 0
    let bytes = 0
    let upTo = after
    for (const name of this.names(after, revision)) {
      const isPageFull = changes.length >= limit || looked >= mostNamesPerPage || bytes >= mostChangeBytes
      if (isPageFull && name.revision > upTo) return { changes, upTo }
      upTo = name.revision
      looked += 1
      if (!isInRange(name.key, { start, end })) continue
      const change = this.changeOf(name)
      bytes += (change.value?.length ?? 0) + (change.previous?.value.length ?? 0)
      changes.push(change)
    }
    return { changes, upTo: revision }
  }

  changeOf(name: ChangeName): Change {
    const { revision, key, kind } = name
    const value = kind === 'deleted' ? undefined : this.#writtenBy(name).value
    return { revision, key, value, previous: entryOf(key, this.previousOf(name)) }
  }

  /** What a change wrote: the newest row of its key, or what was there before the next change. */
  #writtenBy({ revision, key }: ChangeName): Row {
    const newest = this.row(key)
    if (newest?.revision === revision) return newest
    const successor = this.#tables.successors.get({ number: revision, key }, this.#reading)
    const row = successor && this.previousOf({ ...successor, key })
    if (!row) throw new StorageUnavailableError(`the data file has lost what revision ${revision} wrote`)
    return row
  }

  /** Some of what is kept of changes up to a revision, to be removed. */
  forgotten(upTo: number, limit: number): { readonly isEmpty: boolean; readonly remove: (tables: Tables) => void } {
    const { history, successors } = this.#tables
    const names = [...history.getKeys({ start: historyBound(0), end: historyBound(upTo + 1), limit, ...this.#reading })]
    const succeeded = [...successors.getKeys({ start: numberedBound(0), end: numberedBound(upTo + 1), limit, ...this.#reading })]
    return {
      isEmpty: names.length + succeeded.length === 0,
      remove: (tables) => {
        for (const name of names) tables.history.remove(name)
        for (const name of succeeded) tables.successors.remove(name)
      },
    }
  }

  number(metaKey: string): number | undefined {
    const bytes = this.#tables.meta.get(metaKey, this.#reading)
    return bytes && readUint48(bytes, 0)
  }

  /** The newest revision: that of the newest change, or the one noted when history was last compacted. */
  lastRevision(): number {
    const noted = this.number('revision') ?? 0
    const range = { start: historyBound(endOfNumbers), end: historyBound(0), reverse: true, limit: 1, ...this.#reading }
    for (const { revision } of this.#tables.history.getKeys(range)) return Math.max(noted, revision)
    return noted
  }

  /** When keys expire, the earliest first, and not later than `upToMs`. */
  expiries(upToMs = endOfNumbers - 1): Iterable<NumberedKey> {
    return this.#tables.expiries.getKeys({ start: numberedBound(0), end: numberedBound(upToMs + 1), ...this.#reading })
  }

  #rows({ start, end }: KeyRange, limit = Number.POSITIVE_INFINITY): Iterable<{ readonly key: string; readonly value: Row }> {
    // LMDB would take an empty bound for none at all.
    if (isEmptyRange({ start, end })) return []
    return this.#tables.current.getRange({ start: clipBound(start), end: clipBound(end), limit, ...this.#reading })
  }

  #begin(): { readonly transaction: Transaction } {
    this.#tables.root.resetReadTxn()
    return { transaction: this.#tables.root.useReadTransaction() }
  }
}

// Snapshot reads of a data file: without one, LMDB would show a batch before followers are notified of it.

import type { Transaction } from 'lmdb'
import { type CollectionCounts, clipBound, createCollectionCounts, isEmptyRange, isTooLong } from '../collections.js'
import { entryOf, type Row } from '../commit-queue.js'
import type { ChangeId } from '../history-views.js'
import { type Change, type Entry, type KeyRange, type ScannedEntry, StorageUnavailableError } from '../storage.js'
import type { StoredState } from '../stored-reads.js'
import { historyBound, maxUint48, type NumberedKey, numberedBound, readUint48 } from './record-encoding.js'
import type { Tables } from './tables.js'

export class Snapshot implements StoredState {
  readonly #tables: Tables
  #readOptions: { readonly transaction: Transaction }

  constructor(tables: Tables) {
    this.#tables = tables
    this.#readOptions = this.#begin()
  }

  renew(): void {
    this.#readOptions.transaction.done()
    this.#readOptions = this.#begin()
  }

  close(): void {
    this.#readOptions.transaction.done()
  }

  row(key: string): Row | undefined {
    return key === '' || isTooLong(key) ? undefined : this.#tables.current.get(key, this.#readOptions)
  }

  scan({ start, end }: KeyRange, visit: (scanned: ScannedEntry) => boolean): void {
    if (isEmptyRange({ start, end })) return
    const scanned: { -readonly [K in keyof ScannedEntry]: ScannedEntry[K] } = {
      key: '',
      revision: 0,
      bytes: new Uint8Array(),
      start: 0,
      end: 0,
    }
    for (const { key, value: row } of this.#tables.scanned.getRange({
      start: clipBound(start),
      end: clipBound(end),
      ...this.#readOptions,
    })) {
      scanned.key = key
      scanned.revision = row.revision
      scanned.bytes = row.bytes
      scanned.start = row.start
      scanned.end = row.end
      if (!visit(scanned)) return
    }
  }

  *entries(range: KeyRange, limit?: number): Generator<Entry, void, undefined> {
    for (const { key, value: row } of this.#rows(range, limit)) yield { key, revision: row.revision, value: row.value }
  }

  countKeys({ start, end }: KeyRange): number {
    if (isEmptyRange({ start, end })) return 0
    return this.#tables.current.getKeysCount({ start: clipBound(start), end: clipBound(end), ...this.#readOptions })
  }

  collectionCounts(): CollectionCounts {
    const saved = this.#tables.counts.getRange({ start: '', end: '\u{10ffff}', ...this.#readOptions })
    const counts = createCollectionCounts(Array.from(saved, ({ key, value }) => [key, value] as const))
    for (const { key, kind } of this.changeIds(this.metaNumber('counted') ?? 0, maxUint48 - 1)) {
      if (kind !== 'updated') counts.add(key, kind === 'created' ? 1 : -1)
    }
    return counts
  }

  changeIds(after: number, upTo: number): Iterable<ChangeId> {
    if (after >= upTo) return []
    return this.#tables.history.getKeys({ start: historyBound(after + 1), end: historyBound(upTo + 1), ...this.#readOptions })
  }

  previousOf(id: ChangeId): Row | undefined {
    return this.#tables.history.get(id, this.#readOptions)?.previous
  }

  changeOf(id: ChangeId): Change {
    const { revision, key, kind } = id
    const value = kind === 'deleted' ? undefined : this.#rowWrittenBy(id).value
    return { revision, key, value, previous: entryOf(key, this.previousOf(id)) }
  }

  /** The row that a change wrote: the newest row of its key, or the row before the next change. */
  #rowWrittenBy({ revision, key }: ChangeId): Row {
    const newest = this.row(key)
    if (newest?.revision === revision) return newest
    const successor = this.#tables.successors.get({ number: revision, key }, this.#readOptions)
    const row = successor && this.previousOf({ ...successor, key })
    if (!row) throw new StorageUnavailableError(`the data file has lost what revision ${revision} wrote`)
    return row
  }

  compactable(upTo: number, limit: number): { readonly isEmpty: boolean; readonly remove: (tables: Tables) => void } {
    const { history, successors } = this.#tables
    const ids = [...history.getKeys({ start: historyBound(0), end: historyBound(upTo + 1), limit, ...this.#readOptions })]
    const successorIds = [...successors.getKeys({ start: numberedBound(0), end: numberedBound(upTo + 1), limit, ...this.#readOptions })]
    return {
      isEmpty: ids.length + successorIds.length === 0,
      remove: (tables) => {
        for (const id of ids) tables.history.remove(id)
        for (const id of successorIds) tables.successors.remove(id)
      },
    }
  }

  metaNumber(metaKey: string): number | undefined {
    const bytes = this.#tables.meta.get(metaKey, this.#readOptions)
    return bytes && readUint48(bytes, 0)
  }

  /** Revision of the newest change, or the one saved by the last compaction. */
  lastRevision(): number {
    const saved = this.metaNumber('revision') ?? 0
    const range = { start: historyBound(maxUint48), end: historyBound(0), reverse: true, limit: 1, ...this.#readOptions }
    for (const { revision } of this.#tables.history.getKeys(range)) return Math.max(saved, revision)
    return saved
  }

  expiries(upToMs = maxUint48 - 1): Iterable<NumberedKey> {
    return this.#tables.expiries.getKeys({ start: numberedBound(0), end: numberedBound(upToMs + 1), ...this.#readOptions })
  }

  #rows({ start, end }: KeyRange, limit = Number.POSITIVE_INFINITY): Iterable<{ readonly key: string; readonly value: Row }> {
    // LMDB treats an empty bound as no bound.
    if (isEmptyRange({ start, end })) return []
    return this.#tables.current.getRange({ start: clipBound(start), end: clipBound(end), limit, ...this.#readOptions })
  }

  #begin(): { readonly transaction: Transaction } {
    this.#tables.root.resetReadTxn()
    return { transaction: this.#tables.root.useReadTransaction() }
  }
}

// Reads of the newest state: the data file as of its last checkpoint, and over it what only the log and memory hold.

import { compareText } from '../base/text-order.js'
import type { Row, StagedWrite } from './commit-batch.js'
import type { DueKey } from './expiry-loop.js'
import { type ChangeName, kindOf } from './history-views.js'
import { isInRange } from './key-order.js'
import type { Snapshot } from './lmdb-snapshot.js'
import type { Memtable } from './memtable.js'
import { collectPage, mostChangeBytes } from './range-page.js'
import type { Change, ChangesPage, ChangesQuery, Entry, KeyRange, RangePage, RangeQuery, ScannedEntry } from './storage.js'

export interface LmdbReads {
  row(key: string): Row | undefined
  page(query: RangeQuery): RangePage
  scan(range: KeyRange, look: (scanned: ScannedEntry) => boolean): void
  entries(range: KeyRange): Iterable<Entry>
  countKeys(range: KeyRange): number
  changes(query: ChangesQuery): ChangesPage
  namesAfter(revision: number): Iterable<ChangeName>
  /** What the key of a change held before it. */
  previousOf(name: ChangeName): Row | undefined
  nextExpiryMs(): number | undefined
  expired(nowMs: number, limit: number): readonly DueKey[]
}

/** `snapshot` is asked each time: it changes when the file is opened anew. */
export function createLmdbReads(snapshot: () => Snapshot, memtable: Memtable): LmdbReads {
  const row = (key: string): Row | undefined => {
    const write = memtable.newest(key)
    return write ? write.row : snapshot().row(key)
  }

  /** Expiries of the data file that are still true. */
  function* storedExpiries(upToMs?: number): Generator<{ readonly number: number; readonly key: string }, void, undefined> {
    for (const expiry of snapshot().expiries(upToMs)) if (!memtable.newest(expiry.key)) yield expiry
  }

  function* mergedEntries(range: KeyRange, own: readonly StagedWrite[]): Generator<Entry, void, undefined> {
    let next = 0
    for (const entry of snapshot().entries(range)) {
      for (; next < own.length && compareText(keyOf(own[next]), entry.key) < 0; next++) yield* entriesOf(own[next])
      if (next < own.length && keyOf(own[next]) === entry.key) yield* entriesOf(own[next++])
      else yield entry
    }
    for (; next < own.length; next++) yield* entriesOf(own[next])
  }

  return {
    row,
    page(query) {
      const own = memtable.within(query)
      return own.length === 0 ? snapshot().page(query) : collectPage(mergedEntries(query, own), query)
    },
    scan(range, look) {
      const own = memtable.within(range)
      let next = 0
      let isOver = false
      const show = (scanned: ScannedEntry): boolean => {
        isOver = !look(scanned)
        return !isOver
      }
      const showOwn = (): boolean => {
        const { change, row: newest } = own[next++] as StagedWrite
        return (
          newest === undefined ||
          show({ key: change.key, revision: newest.revision, bytes: newest.value, start: 0, end: newest.value.length })
        )
      }
      snapshot().scan(range, (scanned) => {
        while (next < own.length && compareText(keyOf(own[next]), scanned.key) < 0) if (!showOwn()) return false
        return next < own.length && keyOf(own[next]) === scanned.key ? showOwn() : show(scanned)
      })
      while (!isOver && next < own.length) showOwn()
    },
    entries(range) {
      const own = memtable.within(range)
      return own.length === 0 ? snapshot().entries(range) : mergedEntries(range, own)
    },
    countKeys(range) {
      let count = snapshot().countKeys(range)
      for (const write of memtable.within(range))
        count += Number(write.row !== undefined) - Number(snapshot().row(keyOf(write)) !== undefined)
      return count
    },
    changes(query) {
      const { checkpointed } = memtable
      const stored = query.after < checkpointed ? snapshot().changes(query, checkpointed) : { changes: [], upTo: query.after }
      return stored.upTo < checkpointed || stored.changes.length >= query.limit ? stored : recentChanges(memtable, query, stored)
    },
    *namesAfter(revision) {
      if (revision < memtable.checkpointed) yield* snapshot().names(revision, memtable.checkpointed)
      for (const { change, position } of memtable.after(revision)) {
        yield { revision: change.revision, position, key: change.key, kind: kindOf(change) }
      }
    },
    previousOf(name) {
      if (name.revision <= memtable.checkpointed) return snapshot().previousOf(name)
      return memtable.find(name.revision, name.key)?.previousRow
    },
    nextExpiryMs() {
      let next: number | undefined
      for (const { number } of storedExpiries()) {
        next = number
        break
      }
      for (const { row: newest } of memtable.newestOfAll()) {
        if (newest?.expiresAtMs !== undefined && !(next !== undefined && next <= newest.expiresAtMs)) next = newest.expiresAtMs
      }
      return next
    },
    expired(nowMs, limit) {
      const due: DueKey[] = []
      for (const { change, row: newest } of memtable.newestOfAll()) {
        if (due.length < limit && newest?.expiresAtMs !== undefined && newest.expiresAtMs <= nowMs) {
          due.push({ key: change.key, revision: newest.revision })
        }
      }
      for (const { key } of storedExpiries(nowMs)) {
        if (due.length >= limit) break
        const stored = snapshot().row(key)
        if (stored) due.push({ key, revision: stored.revision })
      }
      return due
    },
  }
}

const keyOf = (write: StagedWrite | undefined): string => write?.change.key ?? ''

function* entriesOf(write: StagedWrite | undefined): Generator<Entry, void, undefined> {
  if (write?.row) yield { key: write.change.key, revision: write.row.revision, value: write.row.value }
}

/** A page of changes goes on with what the data file does not have yet. */
function recentChanges(memtable: Memtable, { start, end, limit }: ChangesQuery, page: ChangesPage): ChangesPage {
  const changes: Change[] = [...page.changes]
  let bytes = changes.reduce((sum, change) => sum + bytesOf(change), 0)
  let { upTo } = page
  for (const { change } of memtable.after(upTo)) {
    if ((changes.length >= limit || bytes >= mostChangeBytes) && change.revision > upTo) return { changes, upTo }
    upTo = change.revision
    if (!isInRange(change.key, { start, end })) continue
    bytes += bytesOf(change)
    changes.push(change)
  }
  return { changes, upTo: Math.max(upTo, memtable.revision) }
}

const bytesOf = ({ value, previous }: Change): number => (value?.length ?? 0) + (previous?.value.length ?? 0)

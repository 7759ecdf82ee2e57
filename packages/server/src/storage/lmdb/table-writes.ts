// Turns the staged writes of a batch into puts and removes of the tables.

import type { Row, StagedWrite } from './commit-batch.js'
import { kindOf } from './history-views.js'
import { encodeRow, numberBytes, rowBytes, successorBytes, writeSuccessor } from './lmdb-records.js'
import type { Tables } from './lmdb-tables.js'

/**
 * Memory for the bytes of one batch, used again for the next: LMDB has copied them by the time the batch is durable.
 * The lmdb package takes a buffer with `start` and `end` as that part of it, which saves making an object for each record.
 */
export interface Arena {
  /** Reserves bytes; the returned slab is to be written from its `start` to its `end`. */
  take(bytes: number): Slab
  reset(): void
}

export interface Slab extends Buffer {
  start: number
  end: number
}

const slabBytes = 1 << 18
/** So many stay for the next batch. One of large values fills several, and memory that is made anew for each batch is more work for the collector. */
const keptSlabs = 16

export function createArena(): Arena {
  const kept = [createSlab(slabBytes)]
  let slab = kept[0] as Slab
  /** How many of those that are kept are in use. */
  let begun = 1
  let used = 0
  const nextSlab = (bytes: number): Slab => {
    if (bytes > slabBytes) return createSlab(bytes)
    const next = kept[begun] ?? createSlab(slabBytes)
    if (begun < keptSlabs) kept[begun++] = next
    return next
  }
  return {
    take(bytes) {
      if (used + bytes > slab.length) {
        slab = nextSlab(bytes)
        used = 0
      }
      slab.start = used
      used += bytes
      slab.end = used
      return slab
    },
    reset() {
      slab = kept[0] as Slab
      begun = 1
      used = 0
    },
  }
}

function createSlab(bytes: number): Slab {
  return Object.assign(Buffer.allocUnsafeSlow(bytes), { start: 0, end: 0 })
}

export interface StagedWrites {
  readonly staged: readonly StagedWrite[]
  /** Whether no later one of them writes the same key. */
  readonly isNewest: (write: StagedWrite) => boolean
  /** History up to this revision is gone. */
  readonly compacted: number
}

/** Of writes in their order: whether no later one is of the same key. */
export function newestOf(staged: readonly StagedWrite[]): (write: StagedWrite) => boolean {
  const newest = new Map(staged.map((write) => [write.change.key, write]))
  return (write) => newest.get(write.change.key) === write
}

/** Called inside a batch of the tables. */
export function writeStaged(tables: Tables, { staged, isNewest, compacted }: StagedWrites, arena: Arena): void {
  for (const write of staged) {
    if (isNewest(write)) writeRow(tables.current, write, arena)
    writeHistory(tables, write, arena)
    if (write.previousRow && write.previousRow.revision > compacted) writeSuccession(tables, write, arena)
    writeExpiry(tables, write)
  }
}

function writeRow(current: Tables['current'], { change: { key }, row }: StagedWrite, arena: Arena): void {
  if (row) current.put(key, encoded(row, arena))
  else current.remove(key)
}

function writeHistory({ history }: Tables, { change, position, previousRow }: StagedWrite, arena: Arena): void {
  const name = { revision: change.revision, position, kind: kindOf(change), key: change.key }
  history.put(name, previousRow ? encoded(previousRow, arena) : nothing)
}

function writeSuccession({ successors }: Tables, { change, position, previousRow }: StagedWrite, arena: Arena): void {
  const slab = arena.take(successorBytes)
  writeSuccessor({ revision: change.revision, position, kind: kindOf(change) }, slab, slab.start)
  successors.put({ number: previousRow?.revision ?? 0, key: change.key }, slab)
}

function encoded(row: Row, arena: Arena): Slab {
  const slab = arena.take(rowBytes(row))
  encodeRow(row, slab, slab.start)
  return slab
}

const nothing = Buffer.alloc(1)

function writeExpiry({ expiries }: Tables, { change, row, previousRow }: StagedWrite): void {
  if (previousRow?.expiresAtMs !== undefined) expiries.remove({ number: previousRow.expiresAtMs, key: change.key })
  if (row?.expiresAtMs !== undefined) expiries.put({ number: row.expiresAtMs, key: change.key }, nothing)
}

/** Saves what has changed of the counts, which are those of `revision`. */
export function writeCounts({ counts, meta }: Tables, changed: ReadonlyMap<string, number>, revision: number): void {
  for (const [collection, count] of changed) {
    if (count === 0) counts.remove(collection)
    else counts.put(collection, numberBytes(count))
  }
  meta.put('counted', numberBytes(revision))
}

/** At most this many bytes of new pages a batch of these writes takes from the end of the file. */
export function mostNewBytes(staged: readonly StagedWrite[]): number {
  // Each write changes up to five places, each of them a path of up to six pages; values beyond half a page have pages of their own.
  let bytes = 1 << 18
  for (const { row, previousRow } of staged) bytes += 30 * 4096 + rowBytes(row) + rowBytes(previousRow)
  return bytes
}

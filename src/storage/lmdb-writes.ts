// Turns the staged writes of a batch into puts and removes of the tables.

import type { StagedWrite } from './commit-batch.js'
import { kindOf } from './history-views.js'
import { numberBytes, rowBytes, writeRow } from './lmdb-records.js'
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

export function createArena(): Arena {
  const firstSlab = createSlab(slabBytes)
  let slab = firstSlab
  let used = 0
  return {
    take(bytes) {
      if (used + bytes > slab.length) {
        slab = createSlab(Math.max(bytes, slabBytes))
        used = 0
      }
      slab.start = used
      used += bytes
      slab.end = used
      return slab
    },
    reset() {
      slab = firstSlab
      used = 0
    },
  }
}

function createSlab(bytes: number): Slab {
  return Object.assign(Buffer.allocUnsafeSlow(bytes), { start: 0, end: 0 })
}

/** Called inside a batch of the tables. */
export function writeStaged(tables: Tables, staged: readonly StagedWrite[], arena: Arena): void {
  for (const write of staged) {
    writeRecord(tables, write, arena)
    writeExpiry(tables, write)
  }
}

function writeRecord({ current, history }: Tables, { change, position, row, previousRow }: StagedWrite, arena: Arena): void {
  const previousBytes = rowBytes(previousRow)
  const slab = arena.take(4 + previousBytes + rowBytes(row))
  slab.writeUInt32BE(previousBytes, slab.start)
  if (previousRow) writeRow(previousRow, slab, slab.start + 4)
  if (row) writeRow(row, slab, slab.start + 4 + previousBytes)
  history.put({ revision: change.revision, position, kind: kindOf(change), key: change.key }, slab)
  slab.start += 4 + previousBytes
  if (row) current.put(change.key, slab)
  else current.remove(change.key)
}

const nothing = Buffer.alloc(1)

function writeExpiry({ expiries }: Tables, { change, row, previousRow }: StagedWrite): void {
  if (previousRow?.expiresAtMs !== undefined) expiries.remove({ timeMs: previousRow.expiresAtMs, key: change.key })
  if (row?.expiresAtMs !== undefined) expiries.put({ timeMs: row.expiresAtMs, key: change.key }, nothing)
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
  // Each write changes up to four places, each of them a path of up to six pages; values beyond half a page have pages of their own.
  let bytes = 1 << 18
  for (const { row, previousRow } of staged) bytes += 24 * 4096 + 2 * rowBytes(row) + rowBytes(previousRow)
  return bytes
}

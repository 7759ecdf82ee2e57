// Writes commits to the LMDB tables: rows, history, successors, expiries and counts.

import type { Row, StagedWrite } from '../commit-queue.js'
import { kindOf } from '../history-views.js'
import { encodeRow, numberBytes, rowBytes, successorBytes, writeSuccessor } from './record-encoding.js'
import type { Tables } from './tables.js'

/** Memory for the records of a batch, reused for the next. The lmdb package reads a buffer from its `start` to its `end`. */
interface Arena {
  /** Reserves bytes from `start` to `end` of the returned slab. */
  take(bytes: number): Slab
  reset(): void
}

interface Slab extends Buffer {
  start: number
  end: number
}

const slabBytes = 1 << 18
const maxReusedSlabs = 16

export function createArena(): Arena {
  const slabs = [createSlab(slabBytes)]
  let slab = slabs[0] as Slab
  let usedSlabs = 1
  let usedBytes = 0
  const nextSlab = (bytes: number): Slab => {
    if (bytes > slabBytes) return createSlab(bytes)
    const next = slabs[usedSlabs] ?? createSlab(slabBytes)
    if (usedSlabs < maxReusedSlabs) slabs[usedSlabs++] = next
    return next
  }
  return {
    take(bytes) {
      if (usedBytes + bytes > slab.length) {
        slab = nextSlab(bytes)
        usedBytes = 0
      }
      slab.start = usedBytes
      usedBytes += bytes
      slab.end = usedBytes
      return slab
    },
    reset() {
      slab = slabs[0] as Slab
      usedSlabs = 1
      usedBytes = 0
    },
  }
}

function createSlab(bytes: number): Slab {
  return Object.assign(Buffer.allocUnsafeSlow(bytes), { start: 0, end: 0 })
}

export interface StagedWrites {
  readonly staged: readonly StagedWrite[]
  readonly isNewest: (write: StagedWrite) => boolean
  readonly compacted: number
}

export function newestOf(staged: readonly StagedWrite[]): (write: StagedWrite) => boolean {
  const newest = new Map(staged.map((write) => [write.change.key, write]))
  return (write) => newest.get(write.change.key) === write
}

/** Call it inside a batch of the tables. */
export function writeStaged(tables: Tables, { staged, isNewest, compacted }: StagedWrites, arena: Arena): void {
  for (const write of staged) {
    if (isNewest(write)) writeRow(tables.current, write, arena)
    writeHistory(tables, write, arena)
    if (write.previousRow && write.previousRow.revision > compacted) writeSuccession(tables, write, arena)
    writeExpiry(tables, write)
  }
}

function writeRow(current: Tables['current'], { change: { key }, row }: StagedWrite, arena: Arena): void {
  if (row) current.put(key, encodeIntoArena(row, arena))
  else current.remove(key)
}

function writeHistory({ history }: Tables, { change, position, previousRow }: StagedWrite, arena: Arena): void {
  const id = { revision: change.revision, position, kind: kindOf(change), key: change.key }
  history.put(id, previousRow ? encodeIntoArena(previousRow, arena) : placeholder)
}

function writeSuccession({ successors }: Tables, { change, position, previousRow }: StagedWrite, arena: Arena): void {
  const slab = arena.take(successorBytes)
  writeSuccessor({ revision: change.revision, position, kind: kindOf(change) }, slab, slab.start)
  successors.put({ number: previousRow?.revision ?? 0, key: change.key }, slab)
}

function encodeIntoArena(row: Row, arena: Arena): Slab {
  const slab = arena.take(rowBytes(row))
  encodeRow(row, slab, slab.start)
  return slab
}

const placeholder = Buffer.alloc(1)

function writeExpiry({ expiries }: Tables, { change, row, previousRow }: StagedWrite): void {
  if (previousRow?.expiresAtMs !== undefined) expiries.remove({ number: previousRow.expiresAtMs, key: change.key })
  if (row?.expiresAtMs !== undefined) expiries.put({ number: row.expiresAtMs, key: change.key }, placeholder)
}

/** Saves the changed counts, which are those of `revision`. */
export function writeCounts({ counts, meta }: Tables, changed: ReadonlyMap<string, number>, revision: number): void {
  for (const [collection, count] of changed) {
    if (count === 0) counts.remove(collection)
    else counts.put(collection, numberBytes(count))
  }
  meta.put('counted', numberBytes(revision))
}

/** Upper bound for the bytes of new pages that a batch needs. */
export function maxNewBytes(staged: readonly StagedWrite[]): number {
  // A write changes up to five records, each on a path of up to six pages; large values have pages of their own.
  let bytes = 1 << 18
  for (const { row, previousRow } of staged) bytes += 30 * 4096 + rowBytes(row) + rowBytes(previousRow)
  return bytes
}

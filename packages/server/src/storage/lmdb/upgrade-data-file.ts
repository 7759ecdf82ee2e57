// Brings a data file of the format before up to date, where it is: entry by entry in the order of keys, many to a transaction, each with the
// revision that it had. The file says that this has begun and not ended, so whoever is killed on the way goes on at the next start; what was
// done before is recognised and left alone. History stays as it was written, which every reader of entries understands.

import type { Logger } from '../base/logger.js'
import { Pieces } from '../base/pieces.js'
import { type CollectionCounts, createCollectionCounts } from './collections.js'
import type { Row } from './commit-batch.js'
import { createDiskSpace, type DiskSpace } from './disk-space.js'
import { encodeRow, rowBytes } from './lmdb-records.js'
import { Snapshot } from './lmdb-snapshot.js'
import { fileBytes, type Tables } from './lmdb-tables.js'
import { writeCounts } from './lmdb-writes.js'
import type { FormatUpgrade } from './storage.js'

export interface UpgradeOptions {
  readonly path: string
  readonly tables: Tables
  readonly upgrade: FormatUpgrade | undefined
  readonly logger: Logger
}

interface ChangedRow {
  readonly oldKey: string
  readonly key: string
  readonly row: Row
}

const lastKey = '\u{10ffff}'
const rowsPerRead = 32
const mostRowsPerBatch = 300
const mostBytesPerBatch = 1 << 20
const reportEveryMs = 2000
const nothing = Buffer.alloc(1)

/** Does nothing for a file that is up to date. */
export async function finishUpgrade(options: UpgradeOptions): Promise<void> {
  const { tables, path, logger } = options
  if (!isUpgrading(tables)) return
  const total = (tables.current.getStats() as { readonly entryCount: number }).entryCount
  const progress = createProgress(total, { path, logger })
  logger.info({ path, entries: total }, 'data file has an older format; upgrading')
  const space = createDiskSpace(path)
  const pieces = new Pieces()
  let changed: ChangedRow[] = []
  let bytes = 0
  for (let start = ''; ; ) {
    const rows = readRows(tables, start)
    for (const { key, row } of rows) {
      const change = changeOf(key, row, options.upgrade)
      if (change !== undefined) {
        changed.push(change)
        bytes += change.row.value.length
      }
      if (pieces.isOver) await pieces.next()
    }
    const last = rows.at(-1)
    if (last === undefined || changed.length >= mostRowsPerBatch || bytes >= mostBytesPerBatch) {
      await pieces.next()
      await writeRows(tables, changed, space)
      changed = []
      bytes = 0
    }
    if (last === undefined) break
    start = `${last.key}\0`
    progress.add(rows.length)
  }
  await end(tables, pieces)
  logger.info({ path, entries: total }, 'data file upgraded')
}

function isUpgrading({ root, meta }: Tables): boolean {
  const transaction = root.useReadTransaction()
  const found = meta.get('upgrading', { transaction })
  transaction.done()
  return found !== undefined
}

function readRows({ root, current }: Tables, start: string): readonly { readonly key: string; readonly row: Row }[] {
  root.resetReadTxn()
  const transaction = root.useReadTransaction()
  const rows: { readonly key: string; readonly row: Row }[] = []
  let bytes = 0
  for (const { key, value: row } of current.getRange({ start, end: lastKey, limit: rowsPerRead, transaction })) {
    rows.push({ key, row })
    bytes += row.value.length
    if (bytes >= mostBytesPerBatch) break
  }
  transaction.done()
  return rows
}

function changeOf(oldKey: string, row: Row, upgrade: FormatUpgrade | undefined): ChangedRow | undefined {
  if (upgrade === undefined) return undefined
  const key = upgrade.upgradeKey(oldKey)
  const value = upgrade.upgradeValue(oldKey, row.value)
  return key === oldKey && value === row.value ? undefined : { oldKey, key, row: { ...row, value } }
}

async function writeRows(tables: Tables, changed: readonly ChangedRow[], space: DiskSpace): Promise<void> {
  if (changed.length === 0) return
  space.ensure(mostNewBytes(changed), () => fileBytes(tables))
  await tables.root.batch(() => {
    for (const { oldKey, key, row } of changed) {
      const bytes = Buffer.allocUnsafe(rowBytes(row))
      encodeRow(row, bytes, 0)
      tables.current.put(key, bytes)
      if (key !== oldKey) move(tables, oldKey, key, row)
    }
  })
}

function move({ current, expiries }: Tables, oldKey: string, key: string, { expiresAtMs }: Row): void {
  current.remove(oldKey)
  if (expiresAtMs === undefined) return
  expiries.remove({ number: expiresAtMs, key: oldKey })
  expiries.put({ number: expiresAtMs, key }, nothing)
}

const mostNewBytes = (changed: readonly ChangedRow[]): number =>
  changed.reduce((sum, { row }) => sum + 4 * 6 * 4096 + 2 * row.value.length, 1 << 18)

/** Keys may have moved from one collection to another, so all are counted anew. */
async function end(tables: Tables, pieces: Pieces): Promise<void> {
  const counts = await countKeys(tables, pieces)
  const snapshot = new Snapshot(tables)
  const revision = snapshot.lastRevision()
  snapshot.close()
  const now = new Map(counts.unsaved())
  for (const collection of savedCollections(tables)) if (!now.has(collection)) now.set(collection, 0)
  await tables.root.batch(() => {
    writeCounts(tables, now, revision)
    tables.meta.remove('upgrading')
  })
}

async function countKeys({ root, current }: Tables, pieces: Pieces): Promise<CollectionCounts> {
  const counts = createCollectionCounts()
  root.resetReadTxn()
  const transaction = root.useReadTransaction()
  try {
    for (const key of current.getKeys({ start: '', end: lastKey, transaction })) {
      counts.add(key, 1)
      if (pieces.isOver) await pieces.next()
    }
  } finally {
    transaction.done()
  }
  return counts
}

function savedCollections({ root, counts }: Tables): readonly string[] {
  const transaction = root.useReadTransaction()
  const names = [...counts.getKeys({ start: '', end: lastKey, transaction })]
  transaction.done()
  return names
}

function createProgress(total: number, { path, logger }: Pick<UpgradeOptions, 'path' | 'logger'>): { add(count: number): void } {
  let done = 0
  let reportAtMs = performance.now() + reportEveryMs
  return {
    add(count) {
      done += count
      if (performance.now() < reportAtMs) return
      reportAtMs = performance.now() + reportEveryMs
      logger.info({ path, done, entries: total }, 'upgrading data file')
    },
  }
}

// Upgrades a data file of an older format in place, many entries per transaction; revisions stay. The file is marked until the end,
// so that the next start continues after a kill. History stays in the older format, which readers understand.

import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { type CollectionCounts, createCollectionCounts } from '../collections.js'
import type { Row } from '../commit-queue.js'
import type { FormatUpgrade } from '../storage.js'
import { createDiskSpace, type DiskSpace } from './disk-space.js'
import { encodeRow, rowBytes } from './record-encoding.js'
import { Snapshot } from './snapshot.js'
import { writeCounts } from './table-writes.js'
import { fileBytes, type Tables } from './tables.js'

interface UpgradeOptions {
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
const maxRowsPerBatch = 300
const maxBytesPerBatch = 1 << 20
const reportEveryMs = 2000
const placeholder = Buffer.alloc(1)

export async function finishUpgrade(options: UpgradeOptions): Promise<void> {
  const { tables, path, logger } = options
  if (!isUpgrading(tables)) return
  const total = (tables.current.getStats() as { readonly entryCount: number }).entryCount
  const progress = createProgress(total, { path, logger })
  logger.info({ file: path, entries: total }, 'data file has an older format; upgrading')
  const space = createDiskSpace(path)
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
      await turnBudget.yieldIfSpent()
    }
    const last = rows.at(-1)
    if (last === undefined || changed.length >= maxRowsPerBatch || bytes >= maxBytesPerBatch) {
      await writeRows(tables, changed, space)
      changed = []
      bytes = 0
    }
    if (last === undefined) break
    start = `${last.key}\0`
    progress.add(rows.length)
  }
  await recountAndFinish(tables)
  logger.info({ file: path, entries: total }, 'data file upgraded')
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
    if (bytes >= maxBytesPerBatch) break
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
  space.ensure(maxNewBytes(changed), () => fileBytes(tables))
  await tables.root.batch(() => {
    for (const { oldKey, key, row } of changed) {
      const bytes = Buffer.allocUnsafe(rowBytes(row))
      encodeRow(row, bytes, 0)
      tables.current.put(key, bytes)
      if (key !== oldKey) moveRow(tables, oldKey, key, row)
    }
  })
}

function moveRow({ current, expiries }: Tables, oldKey: string, key: string, { expiresAtMs }: Row): void {
  current.remove(oldKey)
  if (expiresAtMs === undefined) return
  expiries.remove({ number: expiresAtMs, key: oldKey })
  expiries.put({ number: expiresAtMs, key }, placeholder)
}

const maxNewBytes = (changed: readonly ChangedRow[]): number =>
  changed.reduce((sum, { row }) => sum + 4 * 6 * 4096 + 2 * row.value.length, 1 << 18)

/** Counts all keys again, because some may have moved to another collection. */
async function recountAndFinish(tables: Tables): Promise<void> {
  const counts = await countKeys(tables)
  const snapshot = new Snapshot(tables)
  const revision = snapshot.lastRevision()
  snapshot.close()
  const newCounts = new Map(counts.unsaved())
  for (const collection of savedCollections(tables)) if (!newCounts.has(collection)) newCounts.set(collection, 0)
  await tables.root.batch(() => {
    writeCounts(tables, newCounts, revision)
    tables.meta.remove('upgrading')
  })
}

async function countKeys({ root, current }: Tables): Promise<CollectionCounts> {
  const counts = createCollectionCounts()
  root.resetReadTxn()
  const transaction = root.useReadTransaction()
  try {
    for (const key of current.getKeys({ start: '', end: lastKey, transaction })) {
      counts.add(key, 1)
      if (turnBudget.isSpent) await turnBudget.nextTurn()
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
      logger.info({ file: path, done, entries: total }, 'upgrading data file')
    },
  }
}

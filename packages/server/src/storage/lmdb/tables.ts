// The tables of a data file, opened with settings under which a resolved write is on disk, unless `noSync` is set.

import { open, type RootDatabase, type Transaction } from 'lmdb'
import type { Row } from '../commit-queue.js'
import type { ChangeId } from '../history-views.js'
import {
  historyKeys,
  type KeyCodec,
  type NumberedKey,
  numberedKeys,
  type RowView,
  readHistory,
  readRow,
  readSuccessor,
  readUint48,
  type Successor,
  textKeys,
  viewRow,
} from './record-encoding.js'

/** Both bounds are required: our key codecs cannot write the defaults of the lmdb package. */
interface TableRange<K> {
  readonly start: K
  readonly end: K
  readonly limit?: number
  readonly reverse?: boolean
  readonly transaction: Transaction
}

interface Table<K, V> {
  get(key: K, options: { readonly transaction: Transaction }): V | undefined
  put(key: K, value: Uint8Array): unknown
  remove(key: K): unknown
  getRange(range: TableRange<K>): Iterable<{ readonly key: K; readonly value: V }>
  getKeys(range: TableRange<K>): Iterable<K>
  getKeysCount(range: TableRange<K>): number
  getStats(): object
}

export interface Tables {
  readonly root: RootDatabase
  /** The newest row of each key. */
  readonly current: Table<string, Row>
  /** The same rows, read in place. */
  readonly scanned: Table<string, RowView>
  readonly history: Table<ChangeId, { readonly previous: Row | undefined }>
  /** For each change the next change of the same key. */
  readonly successors: Table<NumberedKey, Successor>
  readonly expiries: Table<NumberedKey, unknown>
  readonly counts: Table<string, number>
  readonly meta: Table<string, Buffer>
}

interface TablesOptions {
  readonly path: string
  /** Creates missing tables; otherwise a missing table makes the result undefined. */
  readonly create: boolean
  /** Commits are not synced: they survive the end of the process but not a power loss. */
  readonly noSync?: boolean
  /** Another process writes the file. */
  readonly readOnly?: boolean
}

/** Address space only. The map can grow, but each growth leaves the old map in place until the file is closed. */
const initialMapBytes = 16 * 2 ** 30
/** Open snapshots of all processes: each of 64 workers has two while it moves to a newer one. */
const maxReaders = 512

export function openTables({ path, create, noSync = false, readOnly = false }: TablesOptions): Tables | undefined {
  const root = open({
    path,
    noSubdir: true,
    maxDbs: 8,
    encoding: 'binary',
    mapSize: initialMapBytes,
    maxReaders,
    // A commit is synced before it becomes visible, and its promise resolves after both.
    overlappingSync: false,
    noSync,
    readOnly,
    // Off: the implicit batches leave a rejection unhandled if a commit fails.
    eventTurnBatching: false,
  })
  let tables: Tables | undefined
  try {
    tables = tablesOf(root, create)
    return tables
  } finally {
    if (!tables) void root.close()
  }
}

function tablesOf(root: RootDatabase, create: boolean): Tables | undefined {
  const table = <K, V>(name: string, keys: KeyCodec<K>, decode: (bytes: Uint8Array) => V): Table<K, V> | undefined => {
    const options = { name, keyEncoder: keys, encoder: { encode: (bytes: Uint8Array) => bytes, decode }, create }
    return root.openDB(options) as unknown as Table<K, V> | undefined
  }
  const current = table('current', textKeys, (bytes) => readRow(bytes, 0, bytes.length))
  const scanned = table('current', textKeys, viewRow)
  const history = table('history', historyKeys, readHistory)
  const successors = table('successors', numberedKeys, readSuccessor)
  const expiries = table('expiries', numberedKeys, () => undefined)
  const counts = table('counts', textKeys, (bytes) => readUint48(bytes, 0))
  const meta = table('meta', textKeys, (bytes) => Buffer.from(bytes.subarray(0, bytes.length)))
  if (!(current && scanned && history && successors && expiries && counts && meta)) return undefined
  return { root, current, scanned, history, successors, expiries, counts, meta }
}

interface SpaceUse {
  readonly fileBytes: number
  readonly usedBytes: number
}

interface TreeStats {
  readonly pageSize: number
  readonly lastPageNumber: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

/** End of the last page. Do not call it while a batch is being written. */
export function fileBytes({ root }: Tables): number {
  const { pageSize, lastPageNumber } = root.getStats() as TreeStats
  return (lastPageNumber + 1) * pageSize
}

/** Bytes of the file and of its pages in use. Do not call it while a batch is being written. */
export function spaceUse(tables: Tables): SpaceUse {
  let usedBytes = 0
  const { scanned: _, ...counted } = tables
  for (const table of Object.values(counted)) {
    const { pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages } = table.getStats() as TreeStats
    usedBytes += (treeBranchPageCount + treeLeafPageCount + overflowPages) * pageSize
  }
  return { fileBytes: fileBytes(tables), usedBytes }
}

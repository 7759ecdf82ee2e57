// The tables of a data file, opened through the lmdb package with settings under which a resolved write is on the disk.

import { open, type RootDatabase, type Transaction } from 'lmdb'
import type { Row } from './commit-batch.js'
import type { ChangeName } from './history-views.js'
import {
  type BorrowedRow,
  borrowRow,
  historyKeys,
  type KeyCodec,
  type NumberedKey,
  numberedKeys,
  readHistory,
  readRow,
  readSuccessor,
  readUint48,
  type Successor,
  textKeys,
} from './lmdb-records.js'

/** Bounds that are left out would be the package's own, which our key codecs cannot write. */
export interface TableRange<K> {
  readonly start: K
  readonly end: K
  readonly limit?: number
  readonly reverse?: boolean
  readonly transaction: Transaction
}

/** What is used of the lmdb package's database, with the types that our codecs give it. */
export interface Table<K, V> {
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
  /** The same rows, to be looked at in place. */
  readonly scanned: Table<string, BorrowedRow>
  readonly history: Table<ChangeName, { readonly previous: Row | undefined }>
  /** By the revision and key of a change, the next one to the same key. */
  readonly successors: Table<NumberedKey, Successor>
  readonly expiries: Table<NumberedKey, unknown>
  /** How many keys each collection has: see collections.ts. */
  readonly counts: Table<string, number>
  readonly meta: Table<string, Buffer>
}

export interface TablesOptions {
  readonly path: string
  /** Makes the tables that are not there; without it a file that lacks one gives undefined. */
  readonly create: boolean
  /** For data that can be had again: commits are not synced, and survive the end of the process but not that of the machine. */
  readonly noSync?: boolean
}

/** Address space only: the map grows beyond it by itself, but each growth leaves the old map in place until the file is closed. */
const initialMapBytes = 16 * 2 ** 30

export function openTables({ path, create, noSync = false }: TablesOptions): Tables | undefined {
  const root = open({
    path,
    noSubdir: true,
    maxDbs: 8,
    encoding: 'binary',
    mapSize: initialMapBytes,
    // A commit is synced before it becomes visible, and its promise resolves after both.
    overlappingSync: false,
    noSync,
    // Batches are made explicitly: the implicit ones of an event turn leave a rejection unhandled when a commit fails.
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
  const scanned = table('current', textKeys, borrowRow)
  const history = table('history', historyKeys, readHistory)
  const successors = table('successors', numberedKeys, readSuccessor)
  const expiries = table('expiries', numberedKeys, () => undefined)
  const counts = table('counts', textKeys, (bytes) => readUint48(bytes, 0))
  const meta = table('meta', textKeys, (bytes) => Buffer.from(bytes.subarray(0, bytes.length)))
  if (!(current && scanned && history && successors && expiries && counts && meta)) return undefined
  return { root, current, scanned, history, successors, expiries, counts, meta }
}

export interface SpaceUse {
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

/** Where the pages of the file end. Not while a batch is being written. */
export function fileBytes({ root }: Tables): number {
  const { pageSize, lastPageNumber } = root.getStats() as TreeStats
  return (lastPageNumber + 1) * pageSize
}

/** How much of the file is in use. Not while a batch is being written. */
export function spaceUse(tables: Tables): SpaceUse {
  let usedBytes = 0
  const { scanned: _, ...counted } = tables
  for (const table of Object.values(counted)) {
    const { pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages } = table.getStats() as TreeStats
    usedBytes += (treeBranchPageCount + treeLeafPageCount + overflowPages) * pageSize
  }
  return { fileBytes: fileBytes(tables), usedBytes }
}

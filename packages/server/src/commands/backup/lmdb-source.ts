// Copy source: a snapshot of an embedded store, also while a server uses it.

import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { BackupError, type CopiedEntry, type CopySource } from '../../storage/backup/copied-entry.js'
import { isKnownFormat } from '../../storage/lmdb/data-folder.js'
import { findDamage } from '../../storage/lmdb/find-damage.js'
import { type FolderLock, lockFolder } from '../../storage/lmdb/folder-lock.js'
import { recover } from '../../storage/lmdb/log-recovery.js'
import { Snapshot } from '../../storage/lmdb/snapshot.js'
import { openTables, type Tables } from '../../storage/lmdb/tables.js'
import type { Memtable } from '../../storage/memtable.js'
import { StoredReads } from '../../storage/stored-reads.js'

interface LmdbSourceOptions {
  readonly folder: string
  /** Fails while a server uses the folder. */
  readonly exclusive: boolean
}

const entriesPerPage = 500
/** A server overwrites its log at most a few times per second; reading it takes milliseconds. */
const maxTries = 100
const lastKey = '\u{10ffff}'

export async function openLmdbSource({ folder, exclusive }: LmdbSourceOptions): Promise<CopySource> {
  const path = join(folder, 'data.mdb')
  if (!existsSync(path)) throw new BackupError(`there is no store in ${folder}`)
  const lock = exclusive ? lockFolder(folder) : undefined
  try {
    const damage = exclusive ? findDamage(path) : undefined
    if (damage !== undefined) throw new BackupError(`the data file ${path} is damaged: ${damage}`)
    for (let tries = 0; tries < maxTries; tries++) {
      const storeSnapshot = await readSnapshot(path)
      if (storeSnapshot) return new LmdbSource(lock, storeSnapshot)
    }
    throw new BackupError(`the log of the data file ${path} is damaged: it does not continue the data file`)
  } catch (error) {
    await lock?.release()
    throw error
  }
}

interface StoreSnapshot {
  readonly tables: Tables
  readonly snapshot: Snapshot
  readonly memtable: Memtable
}

/** Consistent snapshot of the data file and its log; undefined if a running server checkpointed the log between both reads. */
async function readSnapshot(path: string): Promise<StoreSnapshot | undefined> {
  const { ino } = statSync(path)
  const tables = openTables({ path, create: false })
  if (!tables) throw new BackupError(`the data file ${path} is damaged: it lacks tables`)
  try {
    checkFormat(path, readMeta(tables, 'format'))
    const snapshot = new Snapshot(tables)
    const { memtable, gapUntil } = recover(path, snapshot)
    // Entries leave the log after they are in the file, so an unchanged file means a consistent snapshot.
    if (gapUntil === undefined && newestRevision(tables) === memtable.checkpointed && statSync(path).ino === ino)
      return { tables, snapshot, memtable }
    snapshot.close()
  } catch (error) {
    await tables.root.close()
    throw error
  }
  await tables.root.close()
  return undefined
}

function checkFormat(path: string, format: string): void {
  if (isKnownFormat(format)) return
  throw new BackupError(`the data file ${path} has the unknown format ${format}; use the version of the server that wrote it`)
}

function newestRevision(tables: Tables): number {
  const snapshot = new Snapshot(tables)
  try {
    return snapshot.lastRevision()
  } finally {
    snapshot.close()
  }
}

class LmdbSource implements CopySource {
  readonly identityName: string
  readonly revision: number
  readonly #tables: Tables
  readonly #lock: FolderLock | undefined
  readonly #snapshot: Snapshot
  readonly #reads: StoredReads

  constructor(lock: FolderLock | undefined, { tables, snapshot, memtable }: StoreSnapshot) {
    this.#tables = tables
    this.#lock = lock
    this.#snapshot = snapshot
    this.#reads = new StoredReads({ state: () => snapshot, memtable, revision: memtable.revision, compacted: 0 })
    this.revision = memtable.revision
    this.identityName = readMeta(tables, 'mark')
  }

  async *pages(): AsyncGenerator<readonly CopiedEntry[], void, undefined> {
    for (let start = ''; ; ) {
      const { entries, more } = this.#reads.range({ start, end: lastKey, limit: entriesPerPage })
      if (entries.length > 0) yield entries.map((entry) => ({ ...entry, expiresAtMs: this.#reads.row(entry.key)?.expiresAtMs }))
      if (!more) return
      start = `${entries.at(-1)?.key}\0`
    }
  }

  /** A snapshot does not change; `exclusive` locks the folder. */
  async checkUnchanged(): Promise<void> {}

  async close(): Promise<void> {
    this.#snapshot.close()
    await this.#tables.root.close()
    await this.#lock?.release()
  }
}

function readMeta({ root, meta }: Tables, name: string): string {
  const transaction = root.useReadTransaction()
  const value = meta.get(name, { transaction })?.toString() ?? ''
  transaction.done()
  return value
}

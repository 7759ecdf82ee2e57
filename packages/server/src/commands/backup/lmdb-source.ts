// The data folder of an embedded store as a source: as of one moment, also while the server that owns it goes on.

import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type FolderLock, lockFolder } from '../../storage/folder-lock.js'
import { findDamage } from '../../storage/lmdb-damage.js'
import { isKnownFormat } from '../../storage/lmdb-folder.js'
import { createLmdbReads, type LmdbReads } from '../../storage/lmdb-reads.js'
import { recover } from '../../storage/lmdb-recovery.js'
import { Snapshot } from '../../storage/lmdb-snapshot.js'
import { openTables, type Tables } from '../../storage/lmdb-tables.js'
import type { Memtable } from '../../storage/memtable.js'
import { type MovedEntry, MoveError, type MoveSource } from './moved-entry.js'

export interface LmdbSourceOptions {
  /** With the file `data.mdb`. */
  readonly folder: string
  /** Whether nobody may write to it meanwhile: refused when a server uses it. */
  readonly exclusive: boolean
}

const entriesPerPage = 500
/** A server writes over its log at most some times a second, and reading it takes milliseconds. */
const mostTries = 100
const lastKey = '\u{10ffff}'

export async function openLmdbSource({ folder, exclusive }: LmdbSourceOptions): Promise<MoveSource> {
  const path = join(folder, 'data.mdb')
  if (!existsSync(path)) throw new MoveError(`there is no store in ${folder}`)
  const lock = exclusive ? lockFolder(folder) : undefined
  try {
    const damage = exclusive ? findDamage(path) : undefined
    if (damage !== undefined) throw new MoveError(`the data file ${path} is damaged: ${damage}`)
    for (let tries = 0; tries < mostTries; tries++) {
      const moment = await readMoment(path)
      if (moment) return new LmdbSource(lock, moment)
    }
    throw new MoveError(`the log of the data file ${path} does not follow it: it is damaged`)
  } catch (error) {
    await lock?.release()
    throw error
  }
}

interface Moment {
  readonly tables: Tables
  readonly snapshot: Snapshot
  /** What was in the log and not in the data file. */
  readonly memtable: Memtable
}

/**
 * The data file and its log as of one moment; undefined when they are to be read anew. A server at work may bring what the log holds into the
 * file, and then write over it or cut it, between the two: what the log has left may well follow what the file had, and yet not be all.
 */
async function readMoment(path: string): Promise<Moment | undefined> {
  const { ino } = statSync(path)
  const tables = openTables({ path, create: false })
  if (!tables) throw new MoveError(`the data file ${path} is damaged: it lacks tables`)
  try {
    checkFormat(path, readMeta(tables, 'format'))
    const snapshot = new Snapshot(tables)
    const { memtable, gapUntil } = recover(path, snapshot)
    // Nothing of the log goes before it is in the file, and a file that has been replaced says no more what there is.
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
  throw new MoveError(
    `the data file ${path} has a format that this version does not know (${format}): use the version of the server that wrote it`,
  )
}

function newestRevision(tables: Tables): number {
  const snapshot = new Snapshot(tables)
  try {
    return snapshot.lastRevision()
  } finally {
    snapshot.close()
  }
}

class LmdbSource implements MoveSource {
  readonly mark: string
  readonly revision: number
  readonly #tables: Tables
  readonly #lock: FolderLock | undefined
  readonly #snapshot: Snapshot
  readonly #reads: LmdbReads

  constructor(lock: FolderLock | undefined, { tables, snapshot, memtable }: Moment) {
    this.#tables = tables
    this.#lock = lock
    this.#snapshot = snapshot
    this.#reads = createLmdbReads(() => snapshot, memtable)
    this.revision = memtable.revision
    this.mark = readMeta(tables, 'mark')
  }

  async *pages(): AsyncGenerator<readonly MovedEntry[], void, undefined> {
    for (let start = ''; ; ) {
      const { entries, more } = this.#reads.page({ start, end: lastKey, limit: entriesPerPage })
      if (entries.length > 0) yield entries.map((entry) => ({ ...entry, expiresAtMs: this.#reads.row(entry.key)?.expiresAtMs }))
      if (!more) return
      start = `${entries.at(-1)?.key}\0`
    }
  }

  /** One moment does not change; and where more is wanted, the folder is locked. */
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

// The data folder of an embedded store as a source: as of one moment, also while the server that owns it goes on.

import { existsSync } from 'node:fs'
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
    const tables = damage === undefined ? openTables({ path, create: false }) : undefined
    if (!tables) throw new MoveError(`the data file ${path} is damaged: ${damage ?? 'it lacks tables'}`)
    try {
      const format = readMeta(tables, 'format')
      if (isKnownFormat(format)) return new LmdbSource(tables, lock, readMoment(path, tables))
      throw new MoveError(
        `the data file ${path} has a format that this version does not know (${format}): use the version of the server that wrote it`,
      )
    } catch (error) {
      await tables.root.close()
      throw error
    }
  } catch (error) {
    await lock?.release()
    throw error
  }
}

interface Moment {
  readonly snapshot: Snapshot
  /** What was in the log and not in the data file. */
  readonly memtable: Memtable
}

/**
 * The data file and its log as of one moment. A server at work may bring what the log holds into the file and write over it between the two:
 * then what the log has does not follow what the file had, and both are read anew.
 */
function readMoment(path: string, tables: Tables): Moment {
  for (let tries = 0; tries < mostTries; tries++) {
    const snapshot = new Snapshot(tables)
    const { memtable, gapUntil } = recover(path, snapshot)
    if (gapUntil === undefined) return { snapshot, memtable }
    snapshot.close()
  }
  throw new MoveError(`the log of the data file ${path} does not follow it: it is damaged`)
}

class LmdbSource implements MoveSource {
  readonly mark: string
  readonly revision: number
  readonly #tables: Tables
  readonly #lock: FolderLock | undefined
  readonly #snapshot: Snapshot
  readonly #reads: LmdbReads

  constructor(tables: Tables, lock: FolderLock | undefined, { snapshot, memtable }: Moment) {
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

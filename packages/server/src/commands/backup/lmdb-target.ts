// Copy target: a new embedded store, written to a temporary folder and renamed when complete. Revisions are kept.

import { existsSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { makePrivateFolder, syncFolder } from '../../options/files/private-files.js'
import { BackupError, type CopiedEntry, type CopySource, type CopyTarget, type TargetOptions } from '../../storage/backup/copied-entry.js'
import { createCollectionCounts } from '../../storage/collections.js'
import { type DataFolder, openDataFolder } from '../../storage/lmdb/data-folder.js'
import { encodeRow, numberBytes, rowBytes } from '../../storage/lmdb/record-encoding.js'
import { writeCounts } from '../../storage/lmdb/table-writes.js'
import { openLmdbSource } from './lmdb-source.js'

/** Value of index entries, which have only a key. */
const indexValue = Buffer.alloc(1)

/** Throws if the folder is not empty. */
export async function openLmdbTarget(folder: string, options: TargetOptions): Promise<CopyTarget> {
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new BackupError(`${folder} has a store already; choose another folder or remove it`)
  }
  makePrivateFolder(dirname(folder))
  const draft = `${folder}.restoring`
  rmSync(draft, { recursive: true, force: true })
  const data = await openDataFolder({ folder: draft, mark: options.identityName })
  return new LmdbTarget({ folder, draft, data, revision: options.revision })
}

interface LmdbTargetParts {
  readonly folder: string
  readonly draft: string
  readonly data: DataFolder
  readonly revision: number
}

class LmdbTarget implements CopyTarget {
  readonly #parts: LmdbTargetParts
  readonly #counts = createCollectionCounts()
  #isOpen = true

  constructor(parts: LmdbTargetParts) {
    this.#parts = parts
  }

  async write(page: readonly CopiedEntry[]): Promise<void> {
    const { root, current, expiries } = this.#parts.data.tables
    await root.batch(() => {
      for (const { key, ...row } of page) {
        const bytes = Buffer.allocUnsafe(rowBytes(row))
        encodeRow(row, bytes, 0)
        current.put(key, bytes)
        if (row.expiresAtMs !== undefined) expiries.put({ number: row.expiresAtMs, key }, indexValue)
      }
    })
    for (const { key } of page) this.#counts.add(key, 1)
  }

  async finish(): Promise<void> {
    const { data, revision, folder, draft } = this.#parts
    const { tables } = data
    await tables.root.batch(() => {
      tables.meta.put('revision', numberBytes(revision))
      // History is not copied: reads of older revisions fail as compacted.
      tables.meta.put('compacted', numberBytes(revision))
      writeCounts(tables, this.#counts.unsaved(), revision)
    })
    await this.#close()
    if (existsSync(folder)) rmdirSync(folder)
    renameSync(draft, folder)
    syncFolder(dirname(folder))
  }

  async abandon(): Promise<void> {
    await this.#close()
    rmSync(this.#parts.draft, { recursive: true, force: true })
  }

  readBack(): Promise<CopySource> {
    return openLmdbSource({ folder: this.#parts.folder, exclusive: true })
  }

  async #close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    await this.#parts.data.tables.root.close()
    await this.#parts.data.lock.release()
  }
}

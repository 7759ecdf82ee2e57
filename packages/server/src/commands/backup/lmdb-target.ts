// A new data folder of an embedded store as a target: written beside its place, and put there when it is complete. Revisions stay as they were.

import { existsSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { createCollectionCounts } from '../../storage/collections.js'
import { type DataFolder, takeFolder } from '../../storage/lmdb-folder.js'
import { encodeRow, numberBytes, rowBytes } from '../../storage/lmdb-records.js'
import { writeCounts } from '../../storage/lmdb-writes.js'
import { makePrivateFolder, syncFolder } from '../private-files.js'
import { openLmdbSource } from './lmdb-source.js'
import { type MovedEntry, MoveError, type MoveSource, type MoveTarget, type TargetOptions } from './moved-entry.js'

const nothing = Buffer.alloc(1)

/** Throws when there is anything at the place. */
export async function openLmdbTarget(folder: string, options: TargetOptions): Promise<MoveTarget> {
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new MoveError(`there is a store in ${folder} already: choose another place, or move it away`)
  }
  makePrivateFolder(dirname(folder))
  const draft = `${folder}.restoring`
  rmSync(draft, { recursive: true, force: true })
  const data = await takeFolder({ folder: draft, mark: options.mark })
  return new LmdbTarget({ folder, draft, data, revision: options.revision })
}

interface LmdbTargetParts {
  readonly folder: string
  readonly draft: string
  readonly data: DataFolder
  readonly revision: number
}

class LmdbTarget implements MoveTarget {
  readonly #parts: LmdbTargetParts
  readonly #counts = createCollectionCounts()
  #isOpen = true

  constructor(parts: LmdbTargetParts) {
    this.#parts = parts
  }

  async write(page: readonly MovedEntry[]): Promise<void> {
    const { root, current, expiries } = this.#parts.data.tables
    await root.batch(() => {
      for (const { key, ...row } of page) {
        const bytes = Buffer.allocUnsafe(rowBytes(row))
        encodeRow(row, bytes, 0)
        current.put(key, bytes)
        if (row.expiresAtMs !== undefined) expiries.put({ number: row.expiresAtMs, key }, nothing)
      }
    })
    for (const { key } of page) this.#counts.add(key, 1)
  }

  async finish(): Promise<void> {
    const { data, revision, folder, draft } = this.#parts
    const { tables } = data
    await tables.root.batch(() => {
      tables.meta.put('revision', numberBytes(revision))
      // History does not move: whoever asks for an older revision is told to begin anew.
      tables.meta.put('compacted', numberBytes(revision))
      writeCounts(tables, this.#counts.unsaved(), revision)
    })
    await this.#close()
    if (existsSync(folder)) rmdirSync(folder)
    renameSync(draft, folder)
    await syncFolder(dirname(folder))
  }

  async abandon(): Promise<void> {
    await this.#close()
    rmSync(this.#parts.draft, { recursive: true, force: true })
  }

  readBack(): Promise<MoveSource> {
    return openLmdbSource({ folder: this.#parts.folder, exclusive: true })
  }

  async #close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    await this.#parts.data.tables.root.close()
    await this.#parts.data.lock.release()
  }
}

// The primary's data file, which a worker only reads. The file may be ahead of the changes that the worker has received:
// reads then stay on the older snapshot until they arrive, so that no reader sees a commit before followers do.

import { accessSync, constants, existsSync } from 'node:fs'
import { Snapshot } from '../lmdb/snapshot.js'
import { openTables, type Tables } from '../lmdb/tables.js'
import { StorageRefusedError, StorageUnavailableError } from '../storage.js'

interface FileSnapshot {
  readonly reads: Snapshot
  /** Newest revision in it. */
  readonly revision: number
}

export class SharedDataFile {
  readonly path: string
  readonly #tables: Tables
  #current: FileSnapshot | undefined
  #next: FileSnapshot | undefined

  constructor(path: string) {
    // The lmdb package creates missing folders.
    if (!existsSync(path)) throw new StorageRefusedError(`the data file ${path} is missing`)
    // On a disk that became read-only LMDB reads without a lock: the primary would reuse pages that are being read.
    if (!isWritable(`${path}-lock`)) throw new StorageRefusedError(`the lock file ${path}-lock cannot be written`)
    const tables = openTables({ path, create: false, readOnly: true })
    if (!tables) throw new StorageRefusedError(`the data file ${path} lacks tables`)
    this.path = path
    this.#tables = tables
    this.#current = this.#open()
  }

  get snapshot(): Snapshot {
    if (this.#current === undefined) throw new StorageUnavailableError('the storage is closed')
    return this.#current.reads
  }

  /** Newest revision of the snapshot. */
  get revision(): number {
    return this.#current?.revision ?? 0
  }

  /** Moves to a newer snapshot if the reader is at `revision` or later than it. Returns true if reads moved. */
  advance(revision: number): boolean {
    if (this.#current === undefined) return false
    this.#next ??= this.#open()
    if (this.#next.revision > revision) return false
    this.#current.reads.close()
    this.#current = this.#next
    this.#next = undefined
    return true
  }

  /** True while a newer snapshot waits for changes. */
  get isAhead(): boolean {
    return this.#next !== undefined
  }

  /** Moves to the newest snapshot, whatever the reader has received: before the first changes only. */
  restart(): void {
    this.#next?.reads.close()
    this.#current?.reads.close()
    this.#next = undefined
    this.#current = this.#open()
  }

  async close(): Promise<void> {
    this.#next?.reads.close()
    this.#current?.reads.close()
    this.#next = undefined
    this.#current = undefined
    await this.#tables.root.close()
  }

  #open(): FileSnapshot {
    const reads = new Snapshot(this.#tables)
    return { reads, revision: reads.lastRevision() }
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

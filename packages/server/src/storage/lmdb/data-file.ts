// The open LMDB data file: a snapshot for reads, one batch of writes at a time, and replacement by a smaller copy.

import { chmodSync, mkdirSync, renameSync, rmSync, statfsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type StorageSize, StorageUnavailableError } from '../storage.js'
import { draftPath, privateFolder, renameDraft, syncFolderOf } from './data-folder.js'
import { createDiskSpace, type DiskSpace } from './disk-space.js'
import { Snapshot } from './snapshot.js'
import { createArena, maxNewBytes, type StagedWrites, writeStaged } from './table-writes.js'
import { fileBytes, openTables, spaceUse, type Tables } from './tables.js'

export interface FileWrites extends StagedWrites {
  readonly extraWrites: readonly ((tables: Tables) => void)[]
}

const minFreeBytes = 64 << 20

export interface ShrinkOptions {
  /** Bytes in use at the recent peak: they will be needed again. */
  readonly peakBytes: number
  /** Limit for the copy, because writes wait for it. */
  readonly maxCopiedBytes: number
}

export class DataFile {
  readonly #path: string
  readonly #arena = createArena()
  #space: DiskSpace
  #tables: Tables
  #snapshot: Snapshot | undefined
  /** True until the rename is durable: a crash could restore the replaced file, so writes must wait. */
  #isUnsynced = false

  constructor(path: string, tables: Tables) {
    this.#path = path
    this.#space = createDiskSpace(path)
    this.#tables = tables
    this.#snapshot = new Snapshot(tables)
  }

  get snapshot(): Snapshot {
    if (!this.#snapshot) throw new StorageUnavailableError('the data file is not open')
    return this.#snapshot
  }

  get isOpen(): boolean {
    return this.#snapshot !== undefined
  }

  get path(): string {
    return this.#path
  }

  hasAmpleSpace(): boolean {
    return this.#space.isAmple()
  }

  /** Call it right before a write: syncs the folder if the rename of a smaller copy is not durable yet. */
  async prepare(): Promise<void> {
    if (this.#isUnsynced) await this.#syncFolder(() => syncFolderOf(this.#path))
  }

  /** Resolves when the writes are on disk; reads show them after the snapshot was renewed. */
  write({ extraWrites, ...writes }: FileWrites): Promise<unknown> {
    this.#space.ensure(maxNewBytes(writes.staged), () => fileBytes(this.#tables))
    this.#arena.reset()
    return this.#tables.root.batch(() => {
      writeStaged(this.#tables, writes, this.#arena)
      for (const extraWrite of extraWrites) extraWrite(this.#tables)
    })
  }

  async reopen(): Promise<void> {
    await this.close()
    const tables = openTables({ path: this.#path, create: false })
    if (!tables) throw new StorageUnavailableError('the data file has lost its tables')
    this.#tables = tables
    this.#snapshot = new Snapshot(tables)
  }

  async measure(): Promise<readonly StorageSize[]> {
    return [{ endpoint: this.#path, bytes: (await stat(this.#path)).size }]
  }

  usedBytes(): number {
    if (!this.isOpen) throw new StorageUnavailableError('the data file is not open')
    return spaceUse(this.#tables).usedBytes
  }

  /** Frees the entries of ended processes in the table of readers: pages that they read could never be reused. */
  releaseDeadReaders(): void {
    if (this.isOpen) this.#tables.root.readerCheck()
  }

  /** Replaces the file by a copy without free pages if it is worth it. No batch may run; reads continue. */
  async shrink(options: ShrinkOptions): Promise<boolean> {
    if (!isWorthRewriting(this.#tables, this.#path, options)) return false
    await writeDraft(this.#tables, this.#path)
    const draft = draftPath(this.#path)
    const tables = openTables({ path: draft, create: false })
    if (!tables) throw new StorageUnavailableError('the copy of the data file lacks tables')
    const syncFolder = await renameDraft(this.#path).catch(async (error: unknown) => {
      await tables.root.close()
      throw error
    })
    // The old file is unlinked: nothing may be written to it from here on.
    this.#isUnsynced = true
    const old = this.#tables
    this.#snapshot?.close()
    this.#tables = tables
    this.#snapshot = new Snapshot(tables)
    this.#space = createDiskSpace(this.#path)
    await old.root.close()
    await this.#syncFolder(syncFolder)
    return true
  }

  async #syncFolder(sync: () => Promise<void>): Promise<void> {
    await sync()
    this.#isUnsynced = false
  }

  async close(): Promise<void> {
    this.#snapshot?.close()
    this.#snapshot = undefined
    await this.#tables.root.close()
  }
}

/** True if over 64 MiB and half of the file stay free at the recent peak, the copy is within its limit, and the disk has space for two. */
function isWorthRewriting(tables: Tables, path: string, { peakBytes, maxCopiedBytes }: ShrinkOptions): boolean {
  const { fileBytes, usedBytes } = spaceUse(tables)
  const neededBytes = Math.max(usedBytes, peakBytes)
  const freeBytes = fileBytes - neededBytes
  if (freeBytes <= minFreeBytes || freeBytes <= neededBytes || usedBytes > maxCopiedBytes) return false
  const { bavail, bsize } = statfsSync(dirname(path))
  return bavail * bsize > 2 * usedBytes
}

export async function writeDraft(tables: Tables, path: string): Promise<void> {
  const draft = draftPath(path)
  const folder = privateFolder(path)
  rmSync(draft, { force: true })
  rmSync(folder, { recursive: true, force: true })
  // The lmdb package creates a file that everybody can read.
  mkdirSync(folder, { mode: 0o700 })
  try {
    const copy = join(folder, 'copy')
    await tables.root.backup(copy, true)
    chmodSync(copy, 0o600)
    renameSync(copy, draft)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

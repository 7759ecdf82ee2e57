// The data file while it is open: reads of its published state, one batch of writes at a time, and its replacement by a smaller one.

import { stat } from 'node:fs/promises'
import { createDiskSpace, type DiskSpace } from './disk-space.js'
import { draftPath, renameDraft, syncFolderOf } from './lmdb-folder.js'
import { isWorthRewriting, type ShrinkOptions, writeDraft } from './lmdb-rewrite.js'
import { Snapshot } from './lmdb-snapshot.js'
import { fileBytes, openTables, spaceUse, type Tables } from './lmdb-tables.js'
import { createArena, mostNewBytes, type StagedWrites, writeStaged } from './lmdb-writes.js'
import { type StorageSize, StorageUnavailableError } from './storage.js'

export interface FileWrites extends StagedWrites {
  /** Further writes to the tables, such as those of a compaction: small ones. */
  readonly chores: readonly ((tables: Tables) => void)[]
}

export class DataFile {
  readonly #path: string
  readonly #arena = createArena()
  #space: DiskSpace
  #tables: Tables
  #snapshot: Snapshot | undefined
  /** Whether a crash might still bring the file back that this one has replaced: then nothing that is written here would be there to stay. */
  #isUnsynced = false

  constructor(path: string, tables: Tables) {
    this.#path = path
    this.#space = createDiskSpace(path)
    this.#tables = tables
    this.#snapshot = new Snapshot(tables)
  }

  /** The published state. */
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

  /** Whether the disk has room for a log beside the file, and for what the log will bring into it. */
  hasAmpleRoom(): boolean {
    return this.#space.isAmple()
  }

  /** To be called before a write, which must then follow at once. */
  async prepare(): Promise<void> {
    if (this.#isUnsynced) await this.#syncFolder(() => syncFolderOf(this.#path))
  }

  /** Resolves when the writes are on the disk; they show after the snapshot has been renewed. */
  write({ chores, ...writes }: FileWrites): Promise<unknown> {
    this.#space.ensure(mostNewBytes(writes.staged), () => fileBytes(this.#tables))
    this.#arena.reset()
    return this.#tables.root.batch(() => {
      writeStaged(this.#tables, writes, this.#arena)
      for (const chore of chores) chore(this.#tables)
    })
  }

  /** After a failed write, when LMDB may be unwilling to go on with the file as it has it open. */
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

  /** Replaces the file by a copy without free pages if that is worth it. No batch may be under way; reads go on. */
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
    // The old file has no name any more: whatever fails from here on, nothing may be written to it.
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

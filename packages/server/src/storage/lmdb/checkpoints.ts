// Brings what is in the log into the data file, much of it in one transaction, while commits go on. One checkpoint at a time, and nothing
// else that is done to the whole file.

import type { Logger } from '../base/logger.js'
import type { StagedWrite } from './commit-batch.js'
import type { DataFile, FileWrites } from './lmdb-data-file.js'
import type { Tables } from './lmdb-tables.js'
import { newestOf } from './lmdb-writes.js'
import type { Memtable } from './memtable.js'
import { StorageUnavailableError } from './storage.js'

/** Further writes to the tables, small ones. `revision` is what the data file has when they are done. */
export type Chore = (tables: Tables, revision: number) => void

export interface CheckpointOptions {
  readonly file: DataFile
  readonly folder: string
  readonly memtable: Memtable
  readonly compacted: () => number
  /** The file was opened anew, and may hold what was reported as failed. */
  readonly onReopen: () => void
  readonly logger: Logger
}

interface NextCheckpoint {
  readonly chores: Chore[]
  readonly done: Promise<void>
}

/** What has been in the log for so long comes into the data file however little it is. */
const longestMs = 1000
const retryMs = 1000

export class Checkpoints {
  readonly #options: CheckpointOptions
  /** The one that has not begun. */
  #next: NextCheckpoint | undefined
  #last: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #endWriteThrough: (() => void) | undefined
  #isUnderWay = false
  #isFailing = false
  #isClosed = false

  constructor(options: CheckpointOptions) {
    this.#options = options
  }

  /** There is more in memory. */
  notice(): void {
    // What is being written still counts as being in memory: how much is left shows when it is done.
    if (this.#next !== undefined || this.#isUnderWay || this.#isClosed) return
    if (this.#options.memtable.isLarge && !this.#isFailing) void this.run().catch(() => undefined)
    else this.#timer ??= this.#runLater(this.#isFailing ? retryMs : longestMs)
  }

  /** Resolves when everything that is in memory now, and the chore, are in the data file. Those who ask before it begins share one. */
  run(chore?: Chore): Promise<void> {
    this.#next ??= this.#plan()
    if (chore) this.#next.chores.push(chore)
    return this.#next.done
  }

  /**
   * Writes a batch into the data file, with all that is before it and without the log. The file is left alone from then on until endWriteThrough
   * is called: whoever is told of the batch must find it there, and nobody before.
   */
  writeThrough(batch: readonly StagedWrite[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = this.alone(async () => {
        await this.#write(() => ({ staged: [...this.#options.memtable.writes, ...batch], chores: [] }))
        resolve()
        await new Promise<void>((goOn) => {
          this.#endWriteThrough = goOn
        })
      })
      done.catch(reject)
    })
  }

  /** Whether there was one. */
  endWriteThrough(): boolean {
    const end = this.#endWriteThrough
    this.#endWriteThrough = undefined
    end?.()
    return end !== undefined
  }

  /** Does something to the file while no checkpoint is under way. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    return done
  }

  /** Brings what is left into the data file if it can; otherwise it stays in the log. Resolves when nothing is under way. */
  async close(): Promise<void> {
    await this.run().catch(() => undefined)
    this.abandon()
    await this.#last
  }

  /** Nothing is tried any more. */
  abandon(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #plan(): NextCheckpoint {
    const chores: Chore[] = []
    const done = this.alone(() => {
      this.#next = undefined
      clearTimeout(this.#timer)
      this.#timer = undefined
      return this.#checkpoint(chores)
    })
    return { chores, done }
  }

  async #checkpoint(chores: readonly Chore[]): Promise<void> {
    const { file, memtable } = this.#options
    let revision = 0
    this.#isUnderWay = true
    try {
      await this.#write(() => {
        revision = memtable.revision
        return { staged: memtable.writes, chores: chores.map((chore) => (tables) => chore(tables, revision)) }
      })
      file.snapshot.renew()
      memtable.drop(revision)
    } finally {
      this.#isUnderWay = false
      if (memtable.size > 0) this.notice()
    }
  }

  /** What there is to write is asked for when it is written, in the same turn. */
  async #write(writes: () => Pick<FileWrites, 'staged' | 'chores'>): Promise<void> {
    const { file, compacted, folder, logger } = this.#options
    try {
      if (!file.isOpen) await this.#reopen()
      await file.prepare()
      const { staged, chores } = writes()
      if (staged.length + chores.length === 0) return
      await file.write({ staged, chores, isNewest: newestOf(staged), compacted: compacted() })
    } catch (error) {
      throw await this.#recover(error)
    }
    if (this.#isFailing) logger.info({ folder }, 'the data file is writable again')
    this.#isFailing = false
  }

  /** What is in the log stays there, and is tried again. */
  async #recover(error: unknown): Promise<Error> {
    const { folder, logger } = this.#options
    const cause = await causeOf(error)
    if (!this.#isFailing && !this.#isClosed)
      logger.warn({ error: cause, folder }, 'the data file cannot be written; what is in the log stays there')
    this.#isFailing = true
    // What was refused for want of room never reached LMDB.
    if (!(error instanceof StorageUnavailableError)) await this.#reopen().catch((reason: unknown) => this.#warnOfReopen(reason))
    this.#timer ??= this.#runLater(retryMs)
    return cause instanceof StorageUnavailableError ? cause : new StorageUnavailableError(`the write could not be stored: ${cause.message}`)
  }

  /** LMDB may be unwilling to go on with a file that it failed to write, and may have written it all the same. */
  async #reopen(): Promise<void> {
    const { file, memtable, onReopen } = this.#options
    await file.reopen()
    memtable.drop(file.snapshot.lastRevision())
    onReopen()
  }

  #warnOfReopen(error: unknown): void {
    const { folder, logger } = this.#options
    if (!this.#isClosed) logger.warn({ error, folder }, 'the data file could not be reopened; trying again')
  }

  #runLater(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined
      if (!this.#isClosed) void this.run().catch(() => undefined)
    }, ms).unref()
  }
}

/** The lmdb package rejects with a general error that holds a promise of the particular one. */
async function causeOf(error: unknown): Promise<Error> {
  const wrapped = error instanceof Error && 'commitError' in error ? error.commitError : error
  const cause = await Promise.resolve(wrapped).catch((reason: unknown) => reason)
  return cause instanceof Error ? cause : new Error(String(cause))
}

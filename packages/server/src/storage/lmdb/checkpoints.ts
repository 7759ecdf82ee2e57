// Checkpoints: write the memtable (writes that are only in memory and in the log) to the data file in one transaction, one at a time,
// while commits continue.

import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import type { StagedWrite } from '../commit-queue.js'
import type { Memtable } from '../memtable.js'
import { StorageUnavailableError } from '../storage.js'
import type { DataFile, FileWrites } from './data-file.js'
import { newestOf } from './table-writes.js'
import type { Tables } from './tables.js'

/** A further write to the tables in the transaction of a checkpoint. `revision`: of the data file after it. */
export type ExtraWrite = (tables: Tables, revision: number) => void

interface CheckpointOptions {
  readonly file: DataFile
  readonly folder: string
  readonly memtable: Memtable
  readonly compacted: () => number
  /** The file was reopened, and may hold writes that were reported as failed. */
  readonly onReopen: () => void
  readonly logger: Logger
}

interface NextCheckpoint {
  readonly extraWrites: ExtraWrite[]
  readonly done: Promise<void>
}

/** Longest time until the checkpoint of a write starts, unless checkpoints fail. */
const maxDelayMs = 1000
const retryMs = 1000

export class Checkpoints {
  readonly #options: CheckpointOptions
  #next: NextCheckpoint | undefined
  #last: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #endWriteThrough: (() => void) | undefined
  #isRunning = false
  #isFailing = false
  #isClosed = false

  constructor(options: CheckpointOptions) {
    this.#options = options
  }

  schedule(): void {
    // The writes of a running checkpoint are still in the memtable.
    if (this.#next !== undefined || this.#isRunning || this.#isClosed) return
    if (this.#options.memtable.isCheckpointDue && !this.#isFailing) void this.run().catch(() => undefined)
    else this.#timer ??= this.#runLater(this.#isFailing ? retryMs : maxDelayMs)
  }

  /** Resolves when the memtable and the write are in the data file. Callers before its start share one checkpoint. */
  run(write?: ExtraWrite): Promise<void> {
    this.#next ??= this.#plan()
    if (write) this.#next.extraWrites.push(write)
    return this.#next.done
  }

  /**
   * Writes the memtable and a batch to the data file, not to the log. Until endWriteThrough no checkpoint runs, so that the batch is not
   * read before.
   */
  writeThrough(batch: readonly StagedWrite[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = this.runExclusively(async () => {
        await this.#write(() => ({ staged: [...this.#options.memtable.writes, ...batch], extraWrites: [] }))
        resolve()
        await new Promise<void>((resolveEnd) => {
          this.#endWriteThrough = resolveEnd
        })
      })
      done.catch(reject)
    })
  }

  endWriteThrough(): boolean {
    const end = this.#endWriteThrough
    this.#endWriteThrough = undefined
    end?.()
    return end !== undefined
  }

  runExclusively<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    return done
  }

  /** Tries a last checkpoint; if it fails, the writes stay in the log. */
  async close(): Promise<void> {
    await this.run().catch(() => undefined)
    this.abandon()
    await this.#last
  }

  abandon(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #plan(): NextCheckpoint {
    const extraWrites: ExtraWrite[] = []
    const done = this.runExclusively(() => {
      this.#next = undefined
      clearTimeout(this.#timer)
      this.#timer = undefined
      return this.#checkpoint(extraWrites)
    })
    return { extraWrites, done }
  }

  async #checkpoint(extraWrites: readonly ExtraWrite[]): Promise<void> {
    const { file, memtable } = this.#options
    let revision = 0
    this.#isRunning = true
    try {
      await this.#write(() => {
        revision = memtable.revision
        return { staged: memtable.writes, extraWrites: extraWrites.map((write) => (tables) => write(tables, revision)) }
      })
      file.snapshot.renew()
      memtable.drop(revision)
    } finally {
      this.#isRunning = false
      if (memtable.size > 0) this.schedule()
    }
  }

  /** Calls `writes` right before the batch is written. */
  async #write(writes: () => Pick<FileWrites, 'staged' | 'extraWrites'>): Promise<void> {
    const { file, compacted, folder, logger } = this.#options
    try {
      if (!file.isOpen) await this.#reopen()
      await file.prepare()
      const { staged, extraWrites } = writes()
      if (staged.length + extraWrites.length === 0) return
      await file.write({ staged, extraWrites, isNewest: newestOf(staged), compacted: compacted() })
    } catch (error) {
      throw await this.#recover(error)
    }
    if (this.#isFailing) logger.info({ folder }, 'data file is writable again')
    this.#isFailing = false
  }

  /** The writes of the memtable stay in the log and are retried. */
  async #recover(error: unknown): Promise<Error> {
    const { folder, logger } = this.#options
    const cause = await causeOf(error)
    if (!this.#isFailing && !this.#isClosed)
      logger.warn(
        { error: cause, folder },
        'cannot write the data file; writes stay in the log: free disk space or make the folder writable',
      )
    this.#isFailing = true
    // Writes that were refused for lack of space never reached LMDB.
    if (!(error instanceof StorageUnavailableError)) await this.#reopen().catch((reason: unknown) => this.#warnReopenFailed(reason))
    this.#timer ??= this.#runLater(retryMs)
    return cause instanceof StorageUnavailableError ? cause : new StorageUnavailableError(`the write could not be stored: ${cause.message}`)
  }

  /** After a failed write LMDB cannot continue with the file, and may nevertheless have stored the write. */
  async #reopen(): Promise<void> {
    const { file, memtable, onReopen } = this.#options
    await file.reopen()
    memtable.drop(file.snapshot.lastRevision())
    onReopen()
  }

  #warnReopenFailed(error: unknown): void {
    const { folder, logger } = this.#options
    if (!this.#isClosed) logger.warn({ error, folder }, 'cannot reopen the data file; retrying')
  }

  #runLater(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined
      if (!this.#isClosed) void this.run().catch(() => undefined)
    }, ms).unref()
  }
}

/** The lmdb package rejects with a general error that has the cause as a promise. */
async function causeOf(error: unknown): Promise<Error> {
  const wrapped = error instanceof Error && 'commitError' in error ? error.commitError : error
  const cause = await Promise.resolve(wrapped).catch((reason: unknown) => reason)
  return cause instanceof Error ? cause : new Error(String(cause))
}

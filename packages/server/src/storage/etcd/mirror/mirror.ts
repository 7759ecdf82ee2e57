// Local copy of etcd's data, updated by an etcd watch; serves all reads. `position`: etcd revision up to which all events have arrived.
// After a crash the file may lag, but has whole transactions; etcd sends the rest again.

import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { entryOf, type Row, type StagedWrite } from '../../commit-queue.js'
import { encodeRow, numberBytes, rowBytes } from '../../lmdb/record-encoding.js'
import { createArena, maxNewBytes, newestOf, writeCounts, writeStaged } from '../../lmdb/table-writes.js'
import type { Tables } from '../../lmdb/tables.js'
import { Memtable } from '../../memtable.js'
import type { Entry, FormatUpgrade } from '../../storage.js'
import { StoredReads } from '../../stored-reads.js'
import type { MirrorFile } from './mirror-file.js'

type MirrorStore = Pick<MirrorFile, 'snapshot' | 'write' | 'recreate' | 'close'>

interface MirrorOptions {
  readonly file: MirrorStore
  readonly positionOf: (revision: number) => number
  /** Converts values that a server of an older format wrote. */
  readonly upgrade?: FormatUpgrade | undefined
  readonly logger: Logger
}

export interface MirroredWrite {
  readonly key: string
  readonly revision: number
  readonly value: Buffer | undefined
}

export interface MirroredStep {
  readonly writes: readonly MirroredWrite[]
  readonly position: number
  /** The changes are differences: history up to this revision is lost. */
  readonly compacted?: number | undefined
}

interface Waiter {
  readonly position: number
  readonly arrive: () => void
}

/** Changes that a compaction deletes at a time: about a millisecond. */
const changesPerTrim = 500
const smallWriteBytes = 1 << 20
/** Longest time until a change is written to the file, unless writes fail. */
const maxInMemoryMs = 1000

export class Mirror extends StoredReads {
  readonly #file: MirrorStore
  readonly #logger: Logger
  readonly #upgrade: FormatUpgrade | undefined
  readonly #arena = createArena()
  #waiters: readonly Waiter[] = []
  #position: number
  #saveLater: NodeJS.Timeout | undefined
  #saveSoon: NodeJS.Immediate | undefined
  /** True after a failed write: only the first of several is logged. */
  #isFailing = false
  #isClosed = false

  constructor({ file, positionOf, upgrade, logger }: MirrorOptions) {
    const { snapshot } = file
    const revision = snapshot.lastRevision()
    const compacted = snapshot.metaNumber('compacted') ?? 0
    super({ state: () => file.snapshot, counts: snapshot.collectionCounts(), revision, compacted, logger })
    this.#file = file
    this.#logger = logger
    this.#upgrade = upgrade
    this.#position = Math.max(snapshot.metaNumber('position') ?? 0, positionOf(revision), 0)
  }

  /** False for a new mirror, which `load` must fill first. */
  get isLoaded(): boolean {
    return this.#file.snapshot.metaNumber('position') !== undefined
  }

  get position(): number {
    return this.#position
  }

  /** Resolves with true when the position is reached, with false after the timeout. */
  reach(position: number, timeoutMs: number): Promise<boolean> {
    if (position <= this.#position) return Promise.resolve(true)
    return new Promise((resolve) => {
      const arrive = (): void => {
        clearTimeout(timer)
        resolve(true)
      }
      const waiter = { position, arrive }
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter)
        resolve(false)
      }, timeoutMs)
      this.#waiters = [...this.#waiters, waiter]
    })
  }

  apply({ writes, position, compacted }: MirroredStep): void {
    if (this.#isClosed) return
    const staged = this.#stage(writes)
    if (staged.length > 0 || compacted !== undefined) {
      if (compacted === undefined) this.#addToMemtable(staged)
      else this.#skipTo(compacted, { staged, position })
      this.publish(
        staged.map(({ change }) => change),
        compacted === undefined ? this.memtable.revision : this.memtable.checkpointed,
        compacted !== undefined,
      )
    }
    this.#moveTo(position)
  }

  /** Starts a new copy; then come `load`, page by page, and `endLoad`. No reads meanwhile. */
  async beginLoad(): Promise<void> {
    await this.#file.recreate()
    this.counts = this.#file.snapshot.collectionCounts()
    this.#resetMemtable(0)
  }

  load(entries: readonly Entry[]): void {
    this.#arena.reset()
    let bytes = smallWriteBytes
    for (const { value } of entries) bytes += 2 * 4096 + 2 * value.length
    this.#file.write(bytes, (tables) => {
      for (const entry of entries) this.#loadEntry(tables, entry)
    })
    for (const { key } of entries) this.counts.add(key, 1)
  }

  endLoad(position: number, compacted: number): void {
    this.publish([], Math.max(compacted, 1))
    this.forgetUpTo(compacted)
    this.#position = position
    this.#saveMetadata()
    this.#resetMemtable(this.revision)
  }

  async compact(revision: number): Promise<void> {
    const compacted = Math.min(revision, this.revision)
    if (compacted <= this.compacted) return
    this.forgetUpTo(compacted)
    this.#saveMetadata()
    await this.#trim()
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    try {
      this.#saveMetadata()
    } catch (error) {
      this.#logger.warn({ error }, 'cannot write the local mirror of etcd at shutdown; the next start reads the missing changes from etcd')
    }
    this.#isClosed = true
    this.#stopTimers()
    await this.#file.close()
  }

  #stage(writes: readonly MirroredWrite[]): readonly StagedWrite[] {
    const staged: StagedWrite[] = []
    const written = new Map<string, Row | undefined>()
    let position = 0
    for (const { key, revision, value: received } of writes) {
      const value = received && this.#valueOf(key, received)
      const previousRow = written.has(key) ? written.get(key) : this.row(key)
      if (value === undefined && previousRow === undefined) continue
      const row = value && { revision, value, expiresAtMs: undefined }
      written.set(key, row)
      position = staged.at(-1)?.change.revision === revision ? position + 1 : 0
      staged.push({ change: { revision, key, value, previous: entryOf(key, previousRow) }, position, row, previousRow })
    }
    return staged
  }

  /** Throws if memory is full and the file cannot be written. */
  #addToMemtable(staged: readonly StagedWrite[]): void {
    if (this.memtable.isFull) this.#save()
    this.memtable.add(staged)
    if (this.memtable.isCheckpointDue && !this.#isFailing) this.#saveSoon ??= setImmediate(() => this.#trySave())
    else this.#saveLater ??= setTimeout(() => this.#trySave(), maxInMemoryMs).unref()
  }

  #skipTo(compacted: number, { staged, position }: { readonly staged: readonly StagedWrite[]; readonly position: number }): void {
    const revision = Math.max(this.revision, compacted, staged.at(-1)?.change.revision ?? 0)
    this.#save(staged, (tables) => {
      tables.meta.put('position', numberBytes(position))
      tables.meta.put('compacted', numberBytes(compacted))
      tables.meta.put('revision', numberBytes(revision))
    })
    this.memtable.drop(revision)
    this.forgetUpTo(compacted)
  }

  /** Writes the memtable and `added` to the file in one transaction. */
  #save(added: readonly StagedWrite[] = [], writeMore?: (tables: Tables) => void): void {
    const staged = added.length === 0 ? this.memtable.writes : [...this.memtable.writes, ...added]
    this.#arena.reset()
    this.#file.write(maxNewBytes(staged) + smallWriteBytes, (tables) => {
      writeStaged(tables, { staged, isNewest: newestOf(staged), compacted: this.compacted }, this.#arena)
      writeMore?.(tables)
    })
    this.#file.snapshot.renew()
    this.memtable.drop(this.memtable.revision)
    this.#stopTimers()
    if (this.#isFailing) this.#logger.info({}, 'the local mirror of etcd is writable again')
    this.#isFailing = false
  }

  #trySave(): void {
    this.#stopTimers()
    try {
      this.#save()
    } catch (error) {
      if (!this.#isFailing) this.#logger.warn({ error }, 'cannot write the local mirror of etcd; changes stay in memory: free disk space')
      this.#isFailing = true
      this.#saveLater ??= setTimeout(() => this.#trySave(), maxInMemoryMs).unref()
    }
  }

  #stopTimers(): void {
    clearTimeout(this.#saveLater)
    clearImmediate(this.#saveSoon)
    this.#saveLater = undefined
    this.#saveSoon = undefined
  }

  #resetMemtable(revision: number): void {
    this.#stopTimers()
    this.memtable = new Memtable(revision)
  }

  #moveTo(position: number): void {
    this.#position = Math.max(this.#position, position)
    if (this.#waiters.length === 0) return
    const arrived = this.#waiters.filter((waiter) => waiter.position <= this.#position)
    this.#waiters = this.#waiters.filter((waiter) => waiter.position > this.#position)
    for (const { arrive } of arrived) arrive()
  }

  #loadEntry({ current }: Tables, { key, revision, value }: Entry): void {
    const row = { revision, value: this.#valueOf(key, value), expiresAtMs: undefined }
    const slab = this.#arena.take(rowBytes(row))
    encodeRow(row, slab, slab.start)
    current.put(key, slab)
  }

  #valueOf(key: string, value: Buffer): Buffer {
    return this.#upgrade === undefined ? value : this.#upgrade.upgradeValue(key, value)
  }

  #saveMetadata(): void {
    const unsaved = this.counts.unsaved()
    this.#save([], (tables) => {
      tables.meta.put('position', numberBytes(this.#position))
      tables.meta.put('compacted', numberBytes(this.compacted))
      tables.meta.put('revision', numberBytes(this.revision))
      writeCounts(tables, unsaved, this.revision)
    })
    this.counts.markSaved(unsaved)
  }

  async #trim(): Promise<void> {
    while (!this.#isClosed) {
      const compactable = this.#file.snapshot.compactable(this.compacted, changesPerTrim)
      if (compactable.isEmpty) return
      this.#file.write(smallWriteBytes, compactable.remove)
      this.#file.snapshot.renew()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

// The in-memory engine: nothing is written to disk. Snapshots and the storages opened from them share data until one of them changes it.

import { type Clock, systemClock, systemTimers, type Timers } from '@cluster-apiserver/api/base/clock.js'
import { type Logger, silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { countLeading } from '@cluster-apiserver/api/base/text-order.js'
import { type CollectionCounts, checkKey, createCollectionCounts } from '../collections.js'
import { type CommitBatch, CommitQueue, checkWrites, createCommitBatch, type Row, StagedCommit, type StagedWrite } from '../commit-queue.js'
import { ExpiryController } from '../expiry-controller.js'
import { type ChangeId, kindOf } from '../history-views.js'
import { createSortedMap, type Difference, differencesOf, type SortedMap } from '../memtable.js'
import {
  type Change,
  type CommitOutcome,
  type Entry,
  type KeyRange,
  type ScannedEntry,
  type Storage,
  StorageUnavailableError,
  type Write,
} from '../storage.js'
import { StoredReads, type StoredState } from '../stored-reads.js'

export interface MemoryOptions {
  readonly clock?: Clock
  readonly timers?: Timers
  readonly logger?: Logger
  /** Default: empty, at revision 1. */
  readonly initial?: InitialRows | MemorySnapshot
}

/** Rows without history: reads at revisions before `revision` fail as compacted. */
export interface InitialRows {
  /** At least the highest revision of a row. */
  readonly revision: number
  readonly rows: Iterable<InitialRow>
}

export interface InitialRow {
  readonly key: string
  readonly value: Buffer
  readonly revision: number
  readonly expiresAtMs?: number | undefined
}

/** A frozen state with its history, which other storages can share. */
export interface MemorySnapshot {
  readonly revision: number
  readonly compacted: number
  readonly takenAtMs: number
  readonly state: MemoryState
  readonly counts: CollectionCounts
}

export function openMemoryStorage(options: MemoryOptions = {}): MemoryStorage {
  const { clock = systemClock, timers = systemTimers, logger = silentLogger, initial } = options
  const snapshot = initial === undefined ? emptySnapshot() : 'rows' in initial ? snapshotOfRows(initial) : initial
  return new MemoryStorage(snapshot, { clock, timers, logger })
}

const emptySnapshot = (): MemorySnapshot => ({ ...snapshotOfRows({ revision: 1, rows: [] }), compacted: 0 })

function snapshotOfRows({ revision, rows }: InitialRows): MemorySnapshot {
  const state = new MemoryState()
  const counts = createCollectionCounts()
  for (const { key, value, revision, expiresAtMs } of rows) {
    checkKey(key)
    const previousRow = state.row(key)
    if (previousRow === undefined) counts.add(key, 1)
    state.put(key, { revision, value, expiresAtMs }, previousRow)
  }
  return { revision, compacted: revision, takenAtMs: 0, state, counts }
}

type StorageParts = Required<Omit<MemoryOptions, 'initial'>>

const maxStagedWrites = 1000

export class MemoryStorage extends StoredReads implements Storage {
  readonly #clock: Clock
  readonly #state: MemoryState
  readonly #queue: CommitQueue<CommitBatch>
  readonly #expiryController: ExpiryController
  #isClosed = false

  constructor({ revision, compacted, state: initialState, counts }: MemorySnapshot, { clock, timers, logger }: StorageParts) {
    const state = initialState.copy()
    const openState = (): StoredState => {
      this.#checkOpen()
      return state
    }
    super({ state: openState, counts: counts.copy(), revision, compacted, logger })
    this.#clock = clock
    this.#state = state
    this.#queue = new CommitQueue<CommitBatch>({
      begin: () => createCommitBatch(this.revision, (key) => state.row(key)),
      isFull: (batch) => batch.staged.length >= maxStagedWrites,
      write: async () => undefined,
      publish: (batch) => this.#publish(batch),
      recover: async (error) => new StorageUnavailableError(String(error)),
    })
    this.#expiryController = new ExpiryController({ clock, timers, logger, source: this })
    this.#expiryController.start()
  }

  snapshot(): MemorySnapshot {
    this.#checkOpen()
    const { revision, compacted } = this
    return { revision, compacted, takenAtMs: this.#clock.now(), state: this.#state.copy(), counts: this.counts.copy() }
  }

  /** Writes that return all values to the snapshot. Keys with an expiry get the lifetime that they had left in the snapshot. */
  *writesTo({ state, takenAtMs }: MemorySnapshot): Generator<Write, void, undefined> {
    this.#checkOpen()
    for (const { key, before: wanted, after: current } of state.differencesTo(this.#state)) {
      if (wanted === undefined) yield { key, value: undefined, expect: undefined }
      else if (current === undefined || !wanted.value.equals(current.value)) {
        const { value, expiresAtMs } = wanted
        const lifetime = expiresAtMs === undefined ? {} : { expiresAtMs: expiresAtMs - takenAtMs + this.#clock.now() }
        yield { key, value, expect: undefined, ...lifetime }
      }
    }
  }

  readIndex(): number {
    return this.revision
  }

  commit(writes: readonly Write[]): Promise<CommitOutcome> {
    return new Promise((resolve, reject) => {
      this.#checkOpen()
      checkWrites(writes)
      this.#queue.add(new StagedCommit(writes, resolve, reject))
    })
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen()
    if (revision <= this.compacted) return
    this.forgetUpTo(Math.min(revision, this.revision))
    this.#state.forgetUpTo(this.compacted)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#expiryController.close()
    this.#isClosed = true
    await this.#queue.close()
  }

  #publish({ staged, revision }: CommitBatch): void {
    this.#state.apply(staged)
    this.memtable.drop(revision)
    this.publish(
      staged.map(({ change }) => change),
      revision,
    )
    for (const { row } of staged) if (row?.expiresAtMs !== undefined) this.#expiryController.onExpiry(row.expiresAtMs)
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new StorageUnavailableError('the storage is closed')
  }
}

type Expiry = { readonly number: number; readonly key: string }

class MemoryState implements StoredState {
  readonly #rows: SortedMap<Row>
  readonly #expiries: SortedMap<Expiry>
  #history: StagedWrite[]
  /** True while a copy has the same array: the next change copies it first. */
  #isHistoryShared = false

  constructor(rows = createSortedMap<Row>(), expiries = createSortedMap<Expiry>(), history?: StagedWrite[]) {
    this.#rows = rows
    this.#expiries = expiries
    this.#history = history ?? []
    this.#isHistoryShared = history !== undefined
  }

  copy(): MemoryState {
    this.#isHistoryShared = true
    return new MemoryState(this.#rows.copy(), this.#expiries.copy(), this.#history)
  }

  differencesTo(newer: MemoryState): Generator<Difference<Row>, void, undefined> {
    return differencesOf(this.#rows, newer.#rows)
  }

  apply(staged: readonly StagedWrite[]): void {
    if (this.#isHistoryShared) this.#history = this.#history.slice()
    this.#isHistoryShared = false
    for (const write of staged) {
      this.put(write.change.key, write.row, write.previousRow)
      this.#history.push(write)
    }
  }

  put(key: string, row: Row | undefined, previousRow?: Row): void {
    if (row) this.#rows.set(key, row)
    else this.#rows.delete(key)
    if (previousRow?.expiresAtMs !== undefined) this.#expiries.delete(expiryKey(previousRow.expiresAtMs, key))
    if (row?.expiresAtMs !== undefined) this.#expiries.set(expiryKey(row.expiresAtMs, key), { number: row.expiresAtMs, key })
  }

  forgetUpTo(revision: number): void {
    this.#history = this.#history.slice(this.#indexAfter(revision))
    this.#isHistoryShared = false
  }

  row(key: string): Row | undefined {
    return this.#rows.get(key)
  }

  *entries(range: KeyRange): Generator<Entry, void, undefined> {
    for (const { key, value } of this.#rows.entries(range)) yield { key, revision: value.revision, value: value.value }
  }

  scan(range: KeyRange, visit: (scanned: ScannedEntry) => boolean): void {
    for (const { key, revision, value } of this.entries(range))
      if (!visit({ key, revision, bytes: value, start: 0, end: value.length })) return
  }

  countKeys(range: KeyRange): number {
    let count = 0
    for (const _ of this.#rows.entries(range)) count += 1
    return count
  }

  *changeIds(after: number, upTo: number): Generator<ChangeId, void, undefined> {
    for (let index = this.#indexAfter(after); index < this.#history.length; index += 1) {
      const { change, position } = this.#history[index] as StagedWrite
      if (change.revision > upTo) return
      yield { revision: change.revision, position, key: change.key, kind: kindOf(change) }
    }
  }

  previousOf({ revision, position }: ChangeId): Row | undefined {
    return this.#history[this.#indexAfter(revision - 1) + position]?.previousRow
  }

  changeOf(id: ChangeId): Change {
    return (this.#history[this.#indexAfter(id.revision - 1) + id.position] as StagedWrite).change
  }

  *expiries(upToMs = Number.MAX_SAFE_INTEGER - 1): Generator<Expiry, void, undefined> {
    for (const { value } of this.#expiries.entries({ start: '', end: expiryKey(upToMs + 1, '') })) yield value
  }

  #indexAfter(revision: number): number {
    return countLeading(this.#history, ({ change }) => change.revision <= revision)
  }
}

function expiryKey(timeMs: number, key: string): string {
  return `${String(timeMs).padStart(16, '0')}/${key}`
}

// A storage whose commits fail as on a full disk while a fault rule says so. Reads are not affected.

import {
  type ChangeListener,
  type ChangesPage,
  type ChangesQuery,
  type CommitOutcome,
  type Entry,
  type KeyRange,
  type RangePage,
  type RangeQuery,
  type ScannedEntry,
  type Storage,
  type StorageSize,
  StorageUnavailableError,
  type Unfollow,
  type Write,
} from '../../../storage/storage.js'
import type { FaultRules } from './fault-rules.js'

/** The error of the LMDB engine on a full disk. */
const diskFull = 'the data folder has no space for the write: the disk is full (ENOSPC: no space left on device, write)'

export class FaultyStorage implements Storage {
  readonly #storage: Storage
  readonly #rules: Pick<FaultRules, 'refusesCommit'>
  readonly isStale?: (key: string) => boolean
  readonly measure?: () => Promise<readonly StorageSize[]>

  constructor(storage: Storage, rules: Pick<FaultRules, 'refusesCommit'>) {
    this.#storage = storage
    this.#rules = rules
    if (storage.isStale !== undefined) this.isStale = storage.isStale.bind(storage)
    if (storage.measure !== undefined) this.measure = storage.measure.bind(storage)
  }

  async commit(writes: readonly Write[]): Promise<CommitOutcome> {
    if (this.#rules.refusesCommit()) throw new StorageUnavailableError(diskFull)
    return this.#storage.commit(writes)
  }

  get revision(): number {
    return this.#storage.revision
  }

  get compacted(): number {
    return this.#storage.compacted
  }

  readIndex(): number | Promise<number> {
    return this.#storage.readIndex()
  }

  read(key: string): Entry | undefined {
    return this.#storage.read(key)
  }

  range(query: RangeQuery): RangePage {
    return this.#storage.range(query)
  }

  prepareRangeAt(range: KeyRange, at: number): Generator<undefined, void, void> {
    return this.#storage.prepareRangeAt(range, at)
  }

  scan(range: KeyRange, visit: (scanned: ScannedEntry) => boolean): void {
    this.#storage.scan(range, visit)
  }

  count(range: KeyRange, at?: number): number {
    return this.#storage.count(range, at)
  }

  changes(query: ChangesQuery): ChangesPage {
    return this.#storage.changes(query)
  }

  follow(listener: ChangeListener): Unfollow {
    return this.#storage.follow(listener)
  }

  compact(revision: number): Promise<void> {
    return this.#storage.compact(revision)
  }

  close(): Promise<void> {
    return this.#storage.close()
  }
}

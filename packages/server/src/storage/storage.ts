// Interface of every storage engine: revisioned bytes under keys, without objects, schemas or HTTP.
// Revisions grow by one or more with every commit and are never reused, not even after a crash.
// Reads are synchronous: etcd's engine reads a local mirror, for which `readIndex` waits.

/** The value of a key and the revision that wrote it. The bytes must not be changed. */
export interface Entry {
  readonly key: string
  readonly revision: number
  readonly value: Buffer
}

/** Converts keys and values of an older format; returns current ones unchanged. */
export interface FormatUpgrade {
  upgradeKey(key: string): string
  upgradeValue(key: string, value: Buffer): Buffer
  /** Keys of running servers: servers of the older format must stop before keys change. */
  readonly servers: KeyRange
}

/** One committed write. `previous` is the entry before it; a delete has no `value`. */
export interface Change {
  readonly revision: number
  readonly key: string
  readonly value: Buffer | undefined
  readonly previous: Entry | undefined
}

export interface Write {
  readonly key: string
  /** New bytes, or undefined to delete the key. */
  readonly value: Buffer | undefined
  /** The revision the key must have now; 0: the key must be absent; undefined: no condition. */
  readonly expect: number | undefined
  /** Time after which the engine deletes the key (milliseconds since 1970). */
  readonly expiresAtMs?: number
}

/** Everything was written durably; or a condition failed and nothing was: `current` is the entry at that key. */
export type CommitOutcome =
  | { readonly ok: true; readonly revision: number }
  | { readonly ok: false; readonly key: string; readonly current: Entry | undefined }

/** Keys from `start` (included) to `end` (excluded), in byte order. */
export interface KeyRange {
  readonly start: string
  readonly end: string
}

export interface RangeQuery extends KeyRange {
  readonly limit: number
  /** The page ends with the entry at which its values reach this size. */
  readonly maxBytes?: number
  /** Read as of this revision; needs `compacted <= at <= revision`. Default: the newest state. */
  readonly at?: number
}

export interface RangePage {
  readonly entries: readonly Entry[]
  readonly more: boolean
  /** Start of the next page; default: after the last entry. A page of an older revision may end early, even empty. */
  readonly next?: string
}

/** An entry read in place: object and bytes are reused for the next entry. */
export interface ScannedEntry {
  readonly key: string
  readonly revision: number
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
}

export interface ChangesQuery extends KeyRange {
  readonly after: number
  readonly limit: number
}

export interface ChangesPage {
  readonly changes: readonly Change[]
  /** Continue with this as `after`; equals the storage's `revision` when the page ends at the present. */
  readonly upTo: number
}

export interface Storage {
  /** The newest revision that `read`, `range` and `changes` see. All of it is durable. */
  readonly revision: number
  /** History up to this revision is compacted: `changes` needs `after >= compacted`, `range` needs `at >= compacted`. */
  readonly compacted: number
  /** A revision at which reads see every write that any replica acknowledged before the call; a promise if the storage must ask others. */
  readIndex(): number | Promise<number>
  read(key: string): Entry | undefined
  /** True if a write of the same value would change its encoding, such as after a key rotation. */
  isStale?(key: string): boolean
  range(query: RangeQuery): RangePage
  /** Prepares reads of a range at an older revision in steps. Without it the first read scans all later history at once. */
  prepareRangeAt(range: KeyRange, at: number): Generator<undefined, void, void>
  /** Visits the newest entries of a range in order, without copies of their values, until `visit` returns false. */
  scan(range: KeyRange, visit: (scanned: ScannedEntry) => boolean): void
  /** Number of keys in the range, at `at` or now. Cheap for whole collections. */
  count(range: KeyRange, at?: number): number
  /**
   * All writes or none, durable when it resolves; they share one revision. Deleting an absent key changes nothing.
   * Rejects with a RangeError for writes that no engine could carry out (checkWrites).
   */
  commit(writes: readonly Write[]): Promise<CommitOutcome>
  /**
   * A page of history, ordered and gapless; it may be shorter than `limit`, even empty, or longer so that a commit is not split.
   * Throws {@link CompactedError} when `after` is too old.
   */
  changes(query: ChangesQuery): ChangesPage
  /**
   * Calls `listener` synchronously with every later change when `revision` has moved to include it.
   * For a watch without gaps: page through history until `upTo === revision`, then follow, in the same event-loop iteration.
   */
  follow(listener: ChangeListener): Unfollow
  /** Deletes history up to `revision`. */
  compact(revision: number): Promise<void>
  /** Size on disk; absent for the memory engine. */
  measure?(): Promise<readonly StorageSize[]>
  close(): Promise<void>
}

export interface StorageSize {
  /** A file, or the address of an etcd member. */
  readonly endpoint: string
  readonly bytes: number
}

/** `hasGap`: the changes are differences between two states, because etcd compacted the history between them. */
export type ChangeListener = (changes: readonly Change[], hasGap: boolean) => void
export type Unfollow = () => void

export class CompactedError extends Error {
  override readonly name = 'CompactedError'
  readonly compacted: number
  constructor(compacted: number) {
    super(`history up to revision ${compacted} is no longer kept`)
    this.compacted = compacted
  }
}

/** The engine cannot store or read now (disk full, store down, closed); the write in question was not acknowledged. */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError'
}

/** A commit has more writes than the engine takes at once; nothing of it was written. */
export class TooManyWritesError extends RangeError {
  override readonly name = 'TooManyWritesError'
  readonly maxWrites: number
  constructor(maxWrites: number) {
    super(`at most ${maxWrites} keys can be written at once`)
    this.maxWrites = maxWrites
  }
}

/** A commit has more bytes than the engine takes at once; nothing of it was written. */
export class TooLargeError extends RangeError {
  override readonly name = 'TooLargeError'
}

/** The data folder (locked, damaged, foreign, not writable) or the etcd prefix or address cannot be used. The message says what to do. */
export class StorageRefusedError extends Error {
  override readonly name = 'StorageRefusedError'
}

/** First bytes of an encrypted value; no unencrypted value begins with them. */
export const encryptedPrefix = Buffer.from('enc:')

export const isEncrypted = (value: Uint8Array): boolean => encryptedPrefix.equals(value.subarray(0, encryptedPrefix.length))

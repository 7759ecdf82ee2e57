// Revisioned bytes under keys: the one contract that every engine keeps. It knows nothing of objects, schemas or HTTP.
//
// Revisions are whole numbers that grow by one or more with every committed write and are never reused, not even after a crash.
// Reads are synchronous: an engine either owns its data (memory, LMDB) or keeps a local mirror of it (etcd); `readIndex` is where a
// consistent read waits for the mirror.

/** The bytes at one key, with the revision that wrote them. The bytes must not be changed by whoever holds them. */
export interface Entry {
  readonly key: string
  readonly revision: number
  readonly value: Buffer
}

/** What was written by a server of the format before, as this one writes it. What is so already comes back as it is. */
export interface FormatUpgrade {
  upgradeKey(key: string): string
  upgradeValue(key: string, value: Buffer): Buffer
  /** The keys of servers that are at work: on a store that many use, those of the older format must have gone before keys change. */
  readonly servers: KeyRange
}

/** One committed write. `previous` is what the key held before; a delete has no `value`. */
export interface Change {
  readonly revision: number
  readonly key: string
  readonly value: Buffer | undefined
  readonly previous: Entry | undefined
}

/** A write with its condition. */
export interface Write {
  readonly key: string
  /** New bytes, or undefined to delete the key. */
  readonly value: Buffer | undefined
  /** The revision the key must have now; 0: the key must be absent; undefined: no condition. */
  readonly expect: number | undefined
  /** When the engine shall delete the key by itself (milliseconds since 1970). */
  readonly expiresAtMs?: number
}

/** Either everything was written durably, or nothing was because a condition failed; `current` is what stood in the way. */
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
  /** The page ends early, though never empty, with the entry that makes its values this long together: few large ones fill memory, too. */
  readonly maxBytes?: number
  /** Read as of this revision; needs `compacted <= at <= revision`. Left out: the newest state. */
  readonly at?: number
}

export interface RangePage {
  readonly entries: readonly Entry[]
  /** Whether keys of the range remain after the last entry. */
  readonly more: boolean
  /** Where they begin, when that is not right behind the last entry: a page of the past may end early, even empty, after much that was not there. */
  readonly next?: string
}

/** An entry that is looked at in place: the object is used again for the next one, and the bytes are true only until then. */
export interface ScannedEntry {
  readonly key: string
  readonly revision: number
  /** The value is what lies from `start` to `end`. */
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
}

export interface ChangesQuery extends KeyRange {
  /** Changes with a greater revision. */
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
  /** History up to and including the step to this revision is gone: `changes` needs `after >= compacted`, `range` needs `at >= compacted`. */
  readonly compacted: number
  /**
   * Resolves with a revision at which reads see every write acknowledged by anybody before the call; a plain number when that is now.
   * Whoever is going to write may say so: a write is sent after those that are on their way in any case, so it can wait for them, which costs
   * less than to ask.
   */
  readIndex(purpose?: 'write'): number | Promise<number>
  read(key: string): Entry | undefined
  /** Whether what a key holds would be stored in another way now, with a newer key: then a write of the same value is not without effect. */
  isStale?(key: string): boolean
  range(query: RangeQuery): RangePage
  /**
   * Prepares reads of a range at a revision of the past, step by step: they go through what has happened since, which may be much. Without it
   * they do that at once.
   */
  recall(range: KeyRange, at: number): Generator<undefined, void, void>
  /** Shows the entries of a range as they are now, in order, without a copy of their values, until `look` has seen enough and says false. */
  scan(range: KeyRange, look: (scanned: ScannedEntry) => boolean): void
  /** How many keys the range holds, at `at` or now. Cheap for the ranges of whole collections: see the engine. */
  count(range: KeyRange, at?: number): number
  /**
   * All writes or none, durable when it resolves. Commits of one turn of the event loop share one durable write.
   * The writes of a commit share its revision; deleting what is absent changes nothing. Rejects with a RangeError for writes that no engine
   * could carry out: see checkWrites in commit-batch.ts.
   */
  commit(writes: readonly Write[]): Promise<CommitOutcome>
  /**
   * A page of history, ordered and gapless. Throws {@link CompactedError} when `after` is too old. A page may hold less than `limit`, even
   * nothing, before the present is reached, because there is much to look through or because its values are large; and a little more rather
   * than split a commit.
   */
  changes(query: ChangesQuery): ChangesPage
  /**
   * Calls `listener` synchronously with every later change, in order, exactly when `revision` has moved to include it.
   * Together with `changes` a watcher sees everything once: page through history until `upTo === revision`, then follow, in one turn.
   */
  follow(listener: ChangeListener): Unfollow
  /** Forgets history up to `revision` and gives its space back. */
  compact(revision: number): Promise<void>
  /** How much room it takes where it is kept; left out by engines that are kept nowhere. */
  measure?(): Promise<readonly StorageSize[]>
  close(): Promise<void>
}

export interface StorageSize {
  /** Where that is: a file, or the address of a member. */
  readonly endpoint: string
  readonly bytes: number
}

/**
 * With `hasGap` the changes are what differs, and not everything that happened: the engine was cut off for so long that nobody can tell the rest.
 * What was read before still becomes what is read now; but who promised to pass on every change cannot keep that promise.
 */
export type ChangeListener = (changes: readonly Change[], hasGap: boolean) => void
export type Unfollow = () => void

/** The history asked for is no longer kept. */
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
  readonly most: number
  constructor(most: number) {
    super(`at most ${most} keys can be written at once`)
    this.most = most
  }
}

/** A commit has more bytes than the engine takes at once; nothing of it was written. */
export class TooLargeError extends RangeError {
  override readonly name = 'TooLargeError'
}

/** The data folder cannot be used: locked by another process, corrupt, foreign, unreadable. The message says what to do. */
export class StorageRefusedError extends Error {
  override readonly name = 'StorageRefusedError'
}

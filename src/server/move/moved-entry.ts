// What moves between stores: entries in the order of their keys, from a source that stands still, into a target that was empty.

export interface MovedEntry {
  readonly key: string
  readonly revision: number
  readonly value: Buffer
  readonly expiresAtMs: number | undefined
}

export interface MoveSource {
  /** Whose data it is: see the engines. */
  readonly mark: string
  /** The newest revision: whoever takes the data over goes on above it. */
  readonly revision: number
  /** Everything as of one moment, in the order of keys, page by page. */
  pages(): AsyncIterable<readonly MovedEntry[]>
  /** Throws when the source has changed since it was opened, if that matters to it. */
  checkUnchanged(): Promise<void>
  close(): Promise<void>
}

export interface MoveTarget {
  write(page: readonly MovedEntry[]): Promise<void>
  /** Makes what was written the store's content; before that, it is nothing. */
  finish(summary: MoveSummary): Promise<void>
  /** After a failure: leaves as little as possible behind. */
  abandon(): Promise<void>
  /** What is there after `finish`, read back. */
  readBack(): Promise<MoveSource>
}

/** Where to put things. */
export interface TargetOptions {
  readonly mark: string
  /** No revision at the target may be lower. */
  readonly revision: number
}

export interface MoveSummary {
  readonly count: number
  /** Of keys and values. */
  readonly bytes: number
  /** Over keys, values and expiries, in order; revisions may differ from store to store. */
  readonly checksum: string
}

/** Something that cannot be moved, or not there; the message says what to do. */
export class MoveError extends Error {
  override readonly name = 'MoveError'
}

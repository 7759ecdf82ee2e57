// Interfaces of backup, restore and migrate: entries are copied in key order, from a snapshot of a source into an empty target.

export interface CopiedEntry {
  readonly key: string
  readonly revision: number
  readonly value: Buffer
  readonly expiresAtMs: number | undefined
}

export interface CopySource {
  /** `--identity` of the server that wrote the data. */
  readonly identityName: string
  /** Targets continue with higher revisions. */
  readonly revision: number
  /** A snapshot in key order. */
  pages(): AsyncIterable<readonly CopiedEntry[]>
  /** Throws if a source that must not change (migrate) has changed since the snapshot. */
  checkUnchanged(): Promise<void>
  close(): Promise<void>
}

export interface CopyTarget {
  write(page: readonly CopiedEntry[]): Promise<void>
  /** Makes the copy the content of the store. */
  finish(summary: CopySummary): Promise<void>
  /** Cleans up after a failure. */
  abandon(): Promise<void>
  readBack(): Promise<CopySource>
}

export interface TargetOptions {
  /** `--identity` of the servers that will use the target. */
  readonly identityName: string
  /** Minimum revision of the target. */
  readonly revision: number
}

export interface CopySummary {
  readonly count: number
  readonly bytes: number
  /** Over keys, values and expiries; revisions may differ. */
  readonly checksum: string
}

export class BackupError extends Error {
  override readonly name = 'BackupError'
}

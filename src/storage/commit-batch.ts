// Decides the conditions of commits that will become durable together, each against what the ones before it leave behind.

import { checkKey } from './key-order.js'
import { type Change, type CommitOutcome, type Entry, TooManyWritesError, type Write } from './storage.js'

/** What an engine keeps at a key. */
export interface Row {
  readonly revision: number
  readonly value: Buffer
  readonly expiresAtMs: number | undefined
}

export interface StagedWrite {
  readonly change: Change
  /** Which of the changes of its commit. */
  readonly position: number
  readonly row: Row | undefined
  readonly previousRow: Row | undefined
}

export interface CommitBatch {
  /** The revision once the batch is durable. */
  revision: number
  readonly staged: StagedWrite[]
  /** Of all values, the new ones and those they replace. */
  bytes: number
  /** What the staged writes leave at their keys. */
  readonly written: Map<string, Row | undefined>
  readonly readCommitted: (key: string) => Row | undefined
}

export function createCommitBatch(revision: number, readCommitted: (key: string) => Row | undefined): CommitBatch {
  return { revision, staged: [], bytes: 0, written: new Map(), readCommitted }
}

/** Adds the writes to the batch, all under one new revision, or none; the outcome holds once the batch is durable. */
export function stageCommit(batch: CommitBatch, writes: readonly Write[]): CommitOutcome {
  const previousRows: (Row | undefined)[] = []
  for (const { key, expect } of writes) {
    const row = batch.written.has(key) ? batch.written.get(key) : batch.readCommitted(key)
    if (expect !== undefined && expect !== (row?.revision ?? 0)) return { ok: false, key, current: entryOf(key, row) }
    previousRows.push(row)
  }
  let position = 0
  for (let index = 0; index < writes.length; index += 1) {
    const write = writes[index] as Write
    const previousRow = previousRows[index]
    if (write.value === undefined && previousRow === undefined) continue
    const staged = stagedOf({ write, previousRow, position, revision: batch.revision + 1 })
    batch.written.set(write.key, staged.row)
    batch.bytes += (write.value?.length ?? 0) + (previousRow?.value.length ?? 0)
    batch.staged.push(staged)
    position += 1
  }
  if (position > 0) batch.revision += 1
  return { ok: true, revision: batch.revision }
}

interface DecidedWrite {
  readonly write: Pick<Write, 'key' | 'value'> & { readonly expiresAtMs?: number | undefined }
  readonly previousRow: Row | undefined
  readonly position: number
  readonly revision: number
}

export function stagedOf({ write: { key, value, expiresAtMs }, previousRow, position, revision }: DecidedWrite): StagedWrite {
  const row = value && { revision, value, expiresAtMs }
  return { change: { revision, key, value, previous: entryOf(key, previousRow) }, position, row, previousRow }
}

export function entryOf(key: string, row: Row | undefined): Entry | undefined {
  return row && { key, revision: row.revision, value: row.value }
}

const mostWrites = 1000

/** Throws for writes that no engine could carry out. */
export function checkWrites(writes: readonly Write[]): void {
  if (writes.length > mostWrites) throw new TooManyWritesError(mostWrites)
  for (const { key } of writes) checkKey(key)
  if (writes.length > 1 && new Set(writes.map(({ key }) => key)).size < writes.length) {
    throw new RangeError('a commit must not write a key twice')
  }
}

// Group commit: commits of consecutive event-loop iterations become durable together. A batch is staged when the one before it is durable.

import { checkKey } from './collections.js'
import { type Change, type CommitOutcome, type Entry, TooManyWritesError, type Write } from './storage.js'

interface BatchItem<B> {
  /** Adds itself to the batch; an error fails this item alone. */
  stage(batch: B): void
  resolve(): void
  fail(error: unknown): void
}

export interface BatchWriter<B> {
  begin(): B
  isFull(batch: B): boolean
  write(batch: B): Promise<unknown>
  /** Moves the engine's visible state to include the batch. */
  publish(batch: B): void
  /** After a failed write: returns the engine to its durable state. The items fail with the returned error. */
  recover(error: unknown): Promise<Error>
}

interface OpenBatch<B> {
  readonly batch: B
  readonly items: BatchItem<B>[]
}

export class CommitQueue<B> {
  readonly #writer: BatchWriter<B>
  readonly #waiting: BatchItem<B>[] = []
  #open: OpenBatch<B> | undefined
  #inFlight: OpenBatch<B> | undefined
  #isBusy = false
  #recentMaxItems = Number.POSITIVE_INFINITY
  #lastBatchItems = Number.POSITIVE_INFINITY

  constructor(writer: BatchWriter<B>) {
    this.#writer = writer
  }

  add(item: BatchItem<B>): void {
    if (this.#isBusy || this.#waiting.length > 0) this.#waiting.push(item)
    else this.#stage(item)
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.add({ stage: () => undefined, resolve: resolve, fail: () => resolve() }))
  }

  #stage(item: BatchItem<B>): void {
    try {
      const open = this.#open ?? this.#begin()
      if (this.#writer.isFull(open.batch)) {
        this.#waiting.push(item)
        return
      }
      item.stage(open.batch)
      open.items.push(item)
    } catch (error) {
      item.fail(error)
    }
  }

  #begin(): OpenBatch<B> {
    const open: OpenBatch<B> = { batch: this.#writer.begin(), items: [] }
    this.#open = open
    coalesce(
      () => (this.#writer.isFull(open.batch) ? undefined : open.items.length),
      () => this.#write(open),
      this.#recentMaxItems <= 1,
    )
    return open
  }

  #write(open: OpenBatch<B>): void {
    this.#inFlight = open
    this.#open = undefined
    this.#recentMaxItems = Math.max(this.#lastBatchItems, open.items.length)
    this.#lastBatchItems = open.items.length
    this.#isBusy = true
    this.#writer.write(open.batch).then(this.#acknowledge, this.#fail)
  }

  readonly #acknowledge = (): void => {
    const done = this.#inFlight
    try {
      if (done) this.#writer.publish(done.batch)
    } catch (error) {
      void this.#fail(error)
      return
    }
    this.#inFlight = undefined
    for (const item of done?.items ?? []) item.resolve()
    this.#continue()
  }

  readonly #fail = async (error: unknown): Promise<void> => {
    const failed = this.#inFlight
    this.#inFlight = undefined
    const reported = await this.#writer.recover(error)
    for (const item of failed?.items ?? []) item.fail(reported)
    this.#continue()
  }

  #continue(): void {
    this.#isBusy = false
    const waiting = this.#waiting.splice(0)
    for (const item of waiting) this.#stage(item)
  }
}

export class StagedCommit implements BatchItem<CommitBatch> {
  readonly #writes: readonly Write[]
  readonly #resolve: (outcome: CommitOutcome) => void
  readonly fail: (error: unknown) => void
  #outcome: CommitOutcome | undefined

  constructor(writes: readonly Write[], resolve: (outcome: CommitOutcome) => void, fail: (error: unknown) => void) {
    this.#writes = writes
    this.#resolve = resolve
    this.fail = fail
  }

  stage(batch: CommitBatch): void {
    this.#outcome = stageCommit(batch, this.#writes)
  }

  resolve(): void {
    this.#resolve(this.#outcome as CommitOutcome)
  }
}

/** Maximum wait, in event-loop iterations. */
const maxIterations = 8

/**
 * Calls `done` in the first event-loop iteration in which `sizeOfBatch` has not grown or is undefined (full), at the latest after
 * `maxIterations`. If `hasSingleWriter`, does not wait.
 */
export function coalesce(sizeOfBatch: () => number | undefined, done: () => void, hasSingleWriter: boolean): void {
  if (hasSingleWriter) {
    queueMicrotask(done)
    return
  }
  let lastSize = 0
  let iterations = 0
  const checkSize = (): void => {
    const currentSize = sizeOfBatch()
    if (currentSize === undefined || currentSize <= lastSize || iterations === maxIterations) {
      done()
      return
    }
    lastSize = currentSize
    iterations += 1
    setImmediate(checkSize)
  }
  setImmediate(checkSize)
}

export interface Row {
  readonly revision: number
  readonly value: Buffer
  readonly expiresAtMs: number | undefined
}

export interface StagedWrite {
  readonly change: Change
  /** Index of the change in its commit. */
  readonly position: number
  readonly row: Row | undefined
  readonly previousRow: Row | undefined
}

export interface CommitBatch {
  revision: number
  readonly staged: StagedWrite[]
  bytes: number
  readonly written: Map<string, Row | undefined>
  readonly readCommitted: (key: string) => Row | undefined
}

export function createCommitBatch(revision: number, readCommitted: (key: string) => Row | undefined): CommitBatch {
  return { revision, staged: [], bytes: 0, written: new Map(), readCommitted }
}

/** Adds the writes to the batch, all under one new revision, or none; the outcome holds once the batch is durable. */
function stageCommit(batch: CommitBatch, writes: readonly Write[]): CommitOutcome {
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

const maxWrites = 1000

export function checkWrites(writes: readonly Write[]): void {
  if (writes.length > maxWrites) throw new TooManyWritesError(maxWrites)
  for (const { key } of writes) checkKey(key)
  if (writes.length > 1 && new Set(writes.map(({ key }) => key)).size < writes.length) {
    throw new RangeError('a commit must not write a key twice')
  }
}

// Harness of the storage contract tests: opens, reopens and closes an engine, with helpers for writes and reads.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Change, CommitOutcome, Entry, KeyRange, Storage } from '../storage.js'

export interface StorageUnderTest {
  readonly storage: Storage
  readonly reopen?: () => Promise<Storage>
  close(): Promise<void>
}

interface PutOptions {
  readonly expect?: number
  readonly expiresAtMs?: number
}

export const everything: KeyRange = { start: '', end: '\u{10ffff}' }
export const noLimit = Number.POSITIVE_INFINITY

export class ContractHarness {
  #opened: StorageUnderTest | undefined
  #storage: Storage | undefined

  use(opened: StorageUnderTest): void {
    this.#opened = opened
    this.#storage = opened.storage
  }

  close(): Promise<void> | undefined {
    return this.#opened?.close()
  }

  get storage(): Storage {
    assert.ok(this.#storage)
    return this.#storage
  }

  get canReopen(): boolean {
    return this.#opened?.reopen !== undefined
  }

  async reopen(): Promise<void> {
    this.#storage = await this.#opened?.reopen?.()
  }

  put(key: string, value: string, { expect, expiresAtMs }: PutOptions = {}): Promise<CommitOutcome> {
    return this.storage.commit([{ key, value: Buffer.from(value), expect, ...(expiresAtMs === undefined ? {} : { expiresAtMs }) }])
  }

  remove(key: string, expect?: number): Promise<CommitOutcome> {
    return this.storage.commit([{ key, value: undefined, expect }])
  }

  async putAll(...keys: readonly string[]): Promise<number> {
    for (const key of keys) assert.ok((await this.put(key, `value of ${key}`)).ok)
    return this.storage.revision
  }

  keysOf(range: Partial<KeyRange> & { at?: number } = {}): readonly string[] {
    return this.storage.range({ ...everything, limit: noLimit, ...range }).entries.map(({ key }) => key)
  }

  allChanges(after: number, range: KeyRange = everything, limit = 3): readonly Change[] {
    const changes: Change[] = []
    for (let from = after; ; ) {
      const page = this.storage.changes({ ...range, after: from, limit })
      changes.push(...page.changes)
      if (page.upTo === this.storage.revision) return changes
      assert.ok(page.upTo > from, 'a page must advance')
      from = page.upTo
    }
  }
}

export function assertEntry(entry: Entry | undefined, expected: { key: string; revision: number; value: string }): void {
  assert.deepEqual(entry && { ...entry, value: entry.value.toString() }, expected)
}

export function sameBytes(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && a.equals(b))
}

export async function until(condition: () => boolean): Promise<void> {
  for (let waited = 0; !condition(); waited += 5) {
    assert.ok(waited < 30_000, 'the condition did not become true in 30 s')
    await sleep(5)
  }
}

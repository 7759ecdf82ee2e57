// The storage as the thread for heavy requests sees it: reads are questions that the event loop answers between two turns, commits are sent to it.

import type { OwnerResource } from '../../admission/owner-kinds.js'
import { silentLogger } from '../../base/logger.js'
import { createFollowers } from '../../storage/followers.js'
import type {
  Change,
  ChangeListener,
  ChangesPage,
  ChangesQuery,
  CommitOutcome,
  Entry,
  KeyRange,
  RangePage,
  RangeQuery,
  ScannedEntry,
  Storage,
  Unfollow,
  Write,
} from '../../storage/storage.js'
import { errorOf } from './failure.js'
import type { Question, Reply, SentEntry, SentOutcome, SentWrite, StorageState } from './messages.js'
import { copyOf } from './own-bytes.js'
import type { SyncCaller } from './sync-calls.js'

/** What is waited for without standing still. */
export interface StorageWrites {
  commit(writes: readonly SentWrite[]): Promise<Reply<SentOutcome>>
  readIndex(purpose: 'write' | undefined): Promise<Reply<number>>
}

const scannedAtOnce = 500
const scannedBytes = 4 << 20

/**
 * Made anew for each request: of changes it learns what its own commits tell, which is what was written and what stood in the way. All else that
 * was read through it is kept for no longer than the request.
 */
export class ThreadStorage implements Storage {
  readonly isPartlyFollowed = true
  readonly #calls: SyncCaller
  readonly #writes: StorageWrites
  readonly #followers = createFollowers(silentLogger)
  #state: StorageState

  constructor(calls: SyncCaller, writes: StorageWrites) {
    this.#calls = calls
    this.#writes = writes
    this.#state = { revision: 0, compacted: 0 }
    this.#ask({ about: 'state' })
  }

  get revision(): number {
    return this.#state.revision
  }

  get compacted(): number {
    return this.#state.compacted
  }

  async readIndex(purpose?: 'write'): Promise<number> {
    return this.#take(await this.#writes.readIndex(purpose))
  }

  read(key: string): Entry | undefined {
    return received(this.#ask<SentEntry | undefined>({ about: 'read', key }))
  }

  isStale(key: string): boolean {
    return this.#ask<boolean>({ about: 'staleness', key })
  }

  range(query: RangeQuery): RangePage {
    const page = this.#ask<Omit<RangePage, 'entries'> & { readonly entries: readonly SentEntry[] }>({ about: 'range', query })
    return { ...page, entries: page.entries.map(receivedEntry) }
  }

  // The event loop does it at once where it has to; nothing that is written reads the past.
  *recall(): Generator<undefined, void, void> {}

  scan(range: KeyRange, look: (scanned: ScannedEntry) => boolean): void {
    for (let start = range.start; ; ) {
      const page = this.range({ start, end: range.end, limit: scannedAtOnce, maxBytes: scannedBytes })
      for (const { key, revision, value } of page.entries) if (!look({ key, revision, bytes: value, start: 0, end: value.length })) return
      const last = page.entries.at(-1)
      if (!page.more || last === undefined) return
      start = page.next ?? `${last.key}\0`
    }
  }

  count(range: KeyRange, at?: number): number {
    return this.#ask<number>({ about: 'count', range, at })
  }

  async commit(writes: readonly Write[]): Promise<CommitOutcome> {
    const sent = writes.map((write) => ({ ...write, value: write.value === undefined ? undefined : copyOf(write.value) }))
    const outcome = this.#take(await this.#writes.commit(sent))
    if (outcome.ok) {
      this.#followers.publish(writes.map((write) => writtenChange(write, outcome.revision)))
      return outcome
    }
    const { key } = outcome
    const current = received(outcome.current)
    const expect = writes.find((write) => write.key === key)?.expect
    // Whoever read it before reads it again, or the next attempt would meet the same.
    this.#followers.publish([writtenChange({ key, value: current?.value, expect }, current?.revision ?? this.revision)], true)
    return { ok: false, key, current }
  }

  changes(query: ChangesQuery): ChangesPage {
    return this.#ask<ChangesPage>({ about: 'changes', query })
  }

  /** No matter of the storage, though asked for in the same way. */
  owners(apiVersion: string, kind: string): readonly OwnerResource[] {
    return this.#ask<readonly OwnerResource[]>({ about: 'owners', apiVersion, kind })
  }

  /** Nor is this. */
  takeEvents(keys: readonly string[]): readonly boolean[] {
    return this.#ask<readonly boolean[]>({ about: 'events', keys })
  }

  follow(listener: ChangeListener): Unfollow {
    return this.#followers.follow(listener)
  }

  async compact(): Promise<void> {
    throw new Error('history is given up by the event loop alone')
  }

  async close(): Promise<void> {}

  #ask<T>(question: Question): T {
    return this.#take(this.#calls.call(question) as Reply<T>)
  }

  #take<T>(reply: Reply<T>): T {
    if ('failure' in reply) throw errorOf(reply.failure)
    this.#state = reply.state
    return reply.value
  }
}

/** What was there before is known by its revision alone. */
const writtenChange = ({ key, value, expect }: Write, revision: number): Change => ({
  key,
  revision,
  value,
  previous: expect === 0 ? undefined : { key, revision: expect ?? 0, value: Buffer.alloc(0) },
})

const receivedEntry = ({ key, revision, value }: SentEntry): Entry => ({
  key,
  revision,
  value: Buffer.from(value.buffer, value.byteOffset, value.byteLength),
})

const received = (entry: SentEntry | undefined): Entry | undefined => (entry === undefined ? undefined : receivedEntry(entry))

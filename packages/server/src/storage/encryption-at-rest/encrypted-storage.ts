// Storage whose values of some collections are encrypted: on the disk, in etcd, in its mirror, in history and in backups. Whoever reads
// through it sees plain values. Collections without a rule pass as they are.

import type { Logger } from '../../base/logger.js'
import type {
  Change,
  ChangesPage,
  ChangesQuery,
  CommitOutcome,
  Entry,
  KeyRange,
  RangePage,
  RangeQuery,
  ScannedEntry,
  Storage,
  StorageSize,
  Unfollow,
  Write,
} from '../storage.js'
import { DecryptionError, type EncryptionRules, isOf, openWith, type Provider, sealWith } from './encryption.js'

export interface EncryptedStorageOptions {
  readonly storage: Storage
  readonly rules: EncryptionRules
  readonly logger: Logger
  /** Called before the storage is closed: whoever changes the rules stops. */
  readonly onClose?: () => void
}

const collectionOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf('/')))

export class EncryptedStorage implements Storage {
  readonly #storage: Storage
  readonly #logger: Logger
  readonly #onClose: (() => void) | undefined
  #rules: EncryptionRules

  constructor({ storage, rules, logger, onClose }: EncryptedStorageOptions) {
    this.#storage = storage
    this.#rules = rules
    this.#logger = logger
    this.#onClose = onClose
  }

  /** From now on: values that were written by former rules must stay readable by these. */
  setRules(rules: EncryptionRules): void {
    this.#rules = rules
  }

  get revision(): number {
    return this.#storage.revision
  }

  get compacted(): number {
    return this.#storage.compacted
  }

  readIndex(purpose?: 'write'): number | Promise<number> {
    return this.#storage.readIndex(purpose)
  }

  read(key: string): Entry | undefined {
    const entry = this.#storage.read(key)
    return entry === undefined ? undefined : this.#openEntry(entry)
  }

  isStale(key: string): boolean {
    const providers = this.#providersOf(key)
    const value = providers === undefined ? undefined : this.#storage.read(key)?.value
    return providers !== undefined && value !== undefined && !isOf(providers[0], value)
  }

  range(query: RangeQuery): RangePage {
    const page = this.#storage.range(query)
    return this.#concerns(query) ? { ...page, entries: page.entries.map((entry) => this.#openEntry(entry)) } : page
  }

  recall(range: KeyRange, at: number): Generator<undefined, void, void> {
    return this.#storage.recall(range, at)
  }

  scan(range: KeyRange, look: (scanned: ScannedEntry) => boolean): void {
    if (!this.#concerns(range)) {
      this.#storage.scan(range, look)
      return
    }
    this.#storage.scan(range, (scanned) => {
      const { key, revision, bytes, start, end } = scanned
      if (this.#providersOf(key) === undefined) return look(scanned)
      const { value } = this.#openEntry({ key, revision, value: Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start) })
      return look({ key, revision, bytes: value, start: 0, end: value.length })
    })
  }

  count(range: KeyRange, at?: number): number {
    return this.#storage.count(range, at)
  }

  async commit(writes: readonly Write[]): Promise<CommitOutcome> {
    const outcome = await this.#storage.commit(writes.map((write) => this.#sealWrite(write)))
    return outcome.ok || outcome.current === undefined ? outcome : { ...outcome, current: this.#openEntry(outcome.current) }
  }

  changes(query: ChangesQuery): ChangesPage {
    const page = this.#storage.changes(query)
    return this.#concerns(query) ? { ...page, changes: page.changes.map((change) => this.#openChange(change)) } : page
  }

  /**
   * A change that cannot be decrypted cannot be told: it counts as a gap, so that clients list anew and are told why that fails. Caches must
   * hear of it all the same, so it goes on as far as it is known, at the worst like a deletion.
   */
  follow(listener: (changes: readonly Change[], hasGap: boolean) => void): Unfollow {
    return this.#storage.follow((changes, hasGap) => {
      let isUnreadable = false
      const attempt = <T>(open: () => T): T | undefined => {
        try {
          return open()
        } catch (thrown) {
          if (!(thrown instanceof DecryptionError)) throw thrown
          this.#logger.error({ err: thrown }, 'cannot decrypt a change; closing watches')
          isUnreadable = true
          return undefined
        }
      }
      const opened = changes.map((change) => {
        const known = attempt(() => this.#openChange(change))
        if (known !== undefined) return known
        const { key, revision, value } = change
        return {
          key,
          revision,
          value: attempt(() => this.#openChange({ key, revision, value, previous: undefined }))?.value,
          previous: undefined,
        }
      })
      listener(opened, hasGap || isUnreadable)
    })
  }

  compact(revision: number): Promise<void> {
    return this.#storage.compact(revision)
  }

  async measure(): Promise<readonly StorageSize[]> {
    return (await this.#storage.measure?.()) ?? []
  }

  close(): Promise<void> {
    this.#onClose?.()
    return this.#storage.close()
  }

  #providersOf(key: string): readonly Provider[] | undefined {
    return this.#rules.get(collectionOf(key))
  }

  /** Whether a range may hold keys with a rule: one of a single collection is known by its start, and others hold anything. */
  #concerns({ start, end }: KeyRange): boolean {
    const collection = collectionOf(start)
    const isOfOne = collection !== '' && (end === `${collection}0` || end.startsWith(`${collection}/`))
    return !isOfOne || this.#rules.has(collection)
  }

  #sealWrite(write: Write): Write {
    const providers = write.value === undefined ? undefined : this.#providersOf(write.key)
    if (write.value === undefined || providers === undefined) return write
    return { ...write, value: sealWith(providers, write.key, write.value) }
  }

  #openEntry(entry: Entry): Entry {
    const providers = this.#providersOf(entry.key)
    if (providers === undefined) return entry
    return { key: entry.key, revision: entry.revision, value: openWith(providers, entry.key, entry.value) }
  }

  #openChange(change: Change): Change {
    const providers = this.#providersOf(change.key)
    if (providers === undefined) return change
    const { key, revision, value, previous } = change
    return {
      key,
      revision,
      value: value === undefined ? undefined : openWith(providers, key, value),
      previous: previous === undefined ? undefined : this.#openEntry(previous),
    }
  }
}

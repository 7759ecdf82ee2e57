// Encryption at rest: a storage engine that encrypts the values of configured collections.

import type { Logger } from '@cluster-apiserver/api/base/logger.js'
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
import { DecryptionError, decryptWith, type EncryptionRules, encryptWith, isEncryptedBy, type Provider } from './encryption-providers.js'

interface EncryptedStorageOptions {
  readonly storage: Storage
  readonly rules: EncryptionRules
  readonly logger: Logger
  /** Looks for newer rules: another process of this server may have begun to use a key that this one lacks. */
  readonly refresh?: () => void
  readonly onClose?: () => void
}

const collectionOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf('/')))

export class EncryptedStorage implements Storage {
  readonly #storage: Storage
  readonly #logger: Logger
  readonly #refresh: (() => void) | undefined
  readonly #onClose: (() => void) | undefined
  #rules: EncryptionRules

  constructor({ storage, rules, logger, refresh, onClose }: EncryptedStorageOptions) {
    this.#storage = storage
    this.#rules = rules
    this.#logger = logger
    this.#refresh = refresh
    this.#onClose = onClose
  }

  /** The new rules must be able to decrypt values written with the old ones. */
  setRules(rules: EncryptionRules): void {
    this.#rules = rules
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
    const entry = this.#storage.read(key)
    return entry === undefined ? undefined : this.#decryptEntry(entry)
  }

  isStale(key: string): boolean {
    const providers = this.#providersOf(key)
    const value = providers === undefined ? undefined : this.#storage.read(key)?.value
    return providers !== undefined && value !== undefined && !isEncryptedBy(providers[0], value)
  }

  range(query: RangeQuery): RangePage {
    const page = this.#storage.range(query)
    return this.#mayContainEncrypted(query) ? { ...page, entries: page.entries.map((entry) => this.#decryptEntry(entry)) } : page
  }

  prepareRangeAt(range: KeyRange, at: number): Generator<undefined, void, void> {
    return this.#storage.prepareRangeAt(range, at)
  }

  scan(range: KeyRange, visit: (scanned: ScannedEntry) => boolean): void {
    if (!this.#mayContainEncrypted(range)) {
      this.#storage.scan(range, visit)
      return
    }
    this.#storage.scan(range, (scanned) => {
      const { key, revision, bytes, start, end } = scanned
      if (this.#providersOf(key) === undefined) return visit(scanned)
      const { value } = this.#decryptEntry({ key, revision, value: Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start) })
      return visit({ key, revision, bytes: value, start: 0, end: value.length })
    })
  }

  count(range: KeyRange, at?: number): number {
    return this.#storage.count(range, at)
  }

  async commit(writes: readonly Write[]): Promise<CommitOutcome> {
    const outcome = await this.#storage.commit(writes.map((write) => this.#encryptWrite(write)))
    return outcome.ok || outcome.current === undefined ? outcome : { ...outcome, current: this.#decryptEntry(outcome.current) }
  }

  changes(query: ChangesQuery): ChangesPage {
    const page = this.#storage.changes(query)
    return this.#mayContainEncrypted(query) ? { ...page, changes: page.changes.map((change) => this.#decryptChange(change)) } : page
  }

  /** A change that cannot be decrypted is reported as a gap, so that clients list again; at worst caches see a deletion. */
  follow(listener: (changes: readonly Change[], hasGap: boolean) => void): Unfollow {
    return this.#storage.follow((changes, hasGap) => {
      let isUnreadable = false
      const decryptOrUndefined = <T>(decrypt: () => T): T | undefined => {
        try {
          return decrypt()
        } catch (thrown) {
          if (!(thrown instanceof DecryptionError)) throw thrown
          this.#logger.error({ error: thrown }, 'cannot decrypt a change; closing watches')
          isUnreadable = true
          return undefined
        }
      }
      const decrypted = changes.map((change) => {
        const whole = decryptOrUndefined(() => this.#decryptChange(change))
        if (whole !== undefined) return whole
        const { key, revision, value } = change
        return {
          key,
          revision,
          value: decryptOrUndefined(() => this.#decryptChange({ key, revision, value, previous: undefined }))?.value,
          previous: undefined,
        }
      })
      listener(decrypted, hasGap || isUnreadable)
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

  #mayContainEncrypted({ start, end }: KeyRange): boolean {
    const collection = collectionOf(start)
    const isOneCollection = collection !== '' && (end === `${collection}0` || end.startsWith(`${collection}/`))
    return !isOneCollection || this.#rules.has(collection)
  }

  #encryptWrite(write: Write): Write {
    const providers = write.value === undefined ? undefined : this.#providersOf(write.key)
    if (write.value === undefined || providers === undefined) return write
    return { ...write, value: encryptWith(providers, write.key, write.value) }
  }

  #decryptEntry(entry: Entry): Entry {
    const providers = this.#providersOf(entry.key)
    if (providers === undefined) return entry
    return { key: entry.key, revision: entry.revision, value: this.#decrypt(providers, entry.key, entry.value) }
  }

  #decryptChange(change: Change): Change {
    const providers = this.#providersOf(change.key)
    if (providers === undefined) return change
    const { key, revision, value, previous } = change
    return {
      key,
      revision,
      value: value === undefined ? undefined : this.#decrypt(providers, key, value),
      previous: previous === undefined ? undefined : this.#decryptEntry(previous),
    }
  }

  #decrypt(providers: readonly Provider[], key: string, value: Buffer): Buffer {
    try {
      return decryptWith(providers, key, value)
    } catch (thrown) {
      const before = this.#rules
      this.#refresh?.()
      const refreshed = this.#providersOf(key)
      if (this.#rules === before || refreshed === undefined) throw thrown
      return decryptWith(refreshed, key, value)
    }
  }
}

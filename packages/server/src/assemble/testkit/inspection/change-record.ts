// The record of all changes of a server's objects, with their authors: follows the storage, within a limit of versions and bytes.

import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { Clock } from '@cluster-apiserver/api/base/clock.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import type { StoredObject } from '../../../objects/entry/stored-object.js'
import type { Change, Entry, Storage } from '../../../storage/storage.js'
import type { CommitListener } from '../../../verbs/engine.js'
import { managerOf } from '../../../verbs/managed-fields.js'

const defaultLimits = { versions: 100_000, bytes: 64 << 20 }
/** Bytes of a version without its value. */
const versionBytes = 200

interface Author {
  readonly user: string
  /** Undefined for writes of the server itself. */
  readonly verb: string | undefined
  readonly manager: string | undefined
  /** The key that the author wanted to write; others, such as quotas, were written along with it. */
  readonly key: string
}

/** All changes of one revision. The author is reported before or after the changes. */
interface Commit {
  readonly revision: number
  timeMs: number
  author: Author | undefined
}

export interface RecordedVersion {
  readonly key: string
  readonly commit: Commit
  /** Undefined for a deletion. */
  readonly value: Buffer | undefined
  readonly isCreated: boolean
}

interface KeyRecord {
  versions: RecordedVersion[]
  /** Index of the oldest version that is kept; the ones before it are dropped. */
  first: number
  /** The entry before the record began; undefined if the record began with the creation of the object. */
  base: Entry | undefined
}

export interface KeyHistory {
  readonly versions: readonly RecordedVersion[]
  /** The object before the first version, for its changes. */
  readonly base: Entry | undefined
  /** The first revision after all dropped versions; undefined if none was dropped. */
  readonly keptFrom: number | undefined
}

export class ChangeRecord {
  readonly #limits: typeof defaultLimits
  readonly #keys = new Map<string, KeyRecord>()
  readonly #commits = new Map<number, Commit>()
  /** All versions, oldest first, from index `#first`. */
  #order: RecordedVersion[] = []
  #first = 0
  #bytes = 0
  #keptFrom: number | undefined

  constructor(limits = defaultLimits) {
    this.#limits = limits
  }

  follow(storage: Pick<Storage, 'follow'>, clock: Clock): void {
    storage.follow((changes) => {
      const timeMs = clock.now()
      for (const change of changes) this.#add(change, timeMs)
      this.#dropOldest()
    })
  }

  /** Records the authors of commits. `controller`: the name of the controller whose commits these are. */
  listener(controller?: string): CommitListener {
    return (written, call) => this.#setAuthor(written, authorOf(written.key, call, controller))
  }

  of(key: string): KeyHistory {
    const { versions, first, base } = this.#keys.get(key) ?? { versions: [], first: 0, base: undefined }
    return { versions: versions.slice(first), base, keptFrom: this.#keptFrom }
  }

  #add({ key, revision, value, previous }: Change, timeMs: number): void {
    const commit = this.#commitOf(revision)
    commit.timeMs = timeMs
    const version: RecordedVersion = { key, commit, value, isCreated: previous === undefined }
    getOrInsert(this.#keys, key, (): KeyRecord => ({ versions: [], first: 0, base: previous })).versions.push(version)
    this.#order.push(version)
    this.#bytes += sizeOf(version)
  }

  #commitOf(revision: number): Commit {
    return getOrInsert(this.#commits, revision, () => ({ revision, timeMs: 0, author: undefined }))
  }

  #setAuthor({ revision }: StoredObject, author: Author): void {
    this.#commitOf(revision).author = author
  }

  #dropOldest(): void {
    while (this.#order.length - this.#first > this.#limits.versions || this.#bytes > this.#limits.bytes) {
      const oldest = this.#order[this.#first++]
      if (oldest === undefined) return
      this.#bytes -= sizeOf(oldest)
      this.#keptFrom = oldest.commit.revision + 1
      this.#commits.delete(oldest.commit.revision)
      this.#dropOldestOf(oldest.key)
    }
    // Dropped versions are released once they are half of the list, so that the work stays linear.
    if (this.#first * 2 < this.#order.length) return
    this.#order = this.#order.slice(this.#first)
    this.#first = 0
  }

  #dropOldestOf(key: string): void {
    const record = this.#keys.get(key)
    if (record === undefined) return
    record.first++
    record.base = undefined
    if (record.first === record.versions.length) this.#keys.delete(key)
    else if (record.first * 2 >= record.versions.length) {
      record.versions = record.versions.slice(record.first)
      record.first = 0
    }
  }
}

const sizeOf = ({ value }: RecordedVersion): number => (value?.length ?? 0) + versionBytes

/** User of the writes of the server that no request caused. */
const serverUser = 'system:apiserver'

function authorOf(key: string, call: Call | undefined, controller: string | undefined): Author {
  const user = controller === undefined ? (call?.user.name ?? serverUser) : `system:controller:${controller}`
  const verb = call?.caller.info?.verb
  const manager = call === undefined || verb === undefined || verb.startsWith('delete') ? undefined : managerOf(call)
  return { user, verb, manager, key }
}

// Who depends on whom, by the uids of owners: keys of entries and nothing else, kept true by every change as long as somebody collects garbage.

import type { OwnerReference } from '../api/object.js'
import type { Change, KeyRange, Storage } from '../storage/storage.js'
import { bytesOf, type EntryBytes, haveSameOwners, ownersOf } from './entry-header.js'
import { collectionOf, keyAfter } from './keys.js'
import { haveSameUid, isGoing, mayHaveFinalizers, ownerReferencesIn, uidOf } from './owner-fields.js'

/** Who is told of changes, in the turn in which they happen: it must be quick. */
export interface OwnerListener {
  /** Whether a collection holds objects that are looked at. */
  isFollowed(collection: string): boolean
  /** An object came that has owners, or it has others than before. */
  onOwners(key: string): void
  /** An object is gone on which others depend. */
  onGone(uid: string): void
  /** An object was written that was deleted and is held by something. */
  onGoing(key: string): void
  /** A dependent changed or went of an object that waits for them. */
  onDependent(ownerKey: string): void
  /** What a change means could not be found out. */
  onFault(key: string, thrown: unknown): void
}

/** What an entry says of itself, to whoever collects garbage. */
export interface OwnedEntry {
  readonly key: string
  readonly revision: number
  readonly uid: string
  readonly isGoing: boolean
  readonly mayHaveFinalizers: boolean
  readonly references: readonly OwnerReference[]
}

const nobody: readonly string[] = []

/** Those that the others are not. An object may name thousands of owners. */
function without(uids: readonly string[], others: readonly string[]): readonly string[] {
  if (uids.length === 0 || others.length === 0) return uids
  const known = new Set(others)
  return uids.filter((uid) => !known.has(uid))
}
/** Looked at between two yields: less than a millisecond. */
const entriesPerStep = 500

export class OwnerIndex {
  readonly #storage: Storage
  readonly #listener: OwnerListener
  readonly #close: (index: OwnerIndex) => void
  /** Most owners have few dependents: one of them is kept as it is. */
  readonly #dependents = new Map<string, string | Set<string>>()
  /** The keys of owners that wait for their dependents, by uid. */
  readonly #waiting = new Map<string, string>()

  constructor(storage: Storage, listener: OwnerListener, close: (index: OwnerIndex) => void) {
    this.#storage = storage
    this.#listener = listener
    this.#close = close
  }

  /** How many pairs of a dependent and an owner it knows. */
  get size(): number {
    let total = 0
    for (const found of this.#dependents.values()) total += typeof found === 'string' ? 1 : found.size
    return total
  }

  /** The keys of those that depend on an owner; it may change while it is gone through. */
  dependentsOf(uid: string): Iterable<string> {
    const found = this.#dependents.get(uid)
    return found === undefined ? nobody : typeof found === 'string' ? [found] : found
  }

  hasDependents(uid: string): boolean {
    return this.#dependents.has(uid)
  }

  /** Tells from now on of everything that happens to the dependents of an owner. */
  watchDependents(uid: string, ownerKey: string): void {
    this.#waiting.set(uid, ownerKey)
  }

  /** Nobody has to be told any more. */
  unwatchDependents(uid: string): void {
    this.#waiting.delete(uid)
  }

  /** Something that lies elsewhere depends on these owners, and on those before. Gives whether it has some that it did not have. */
  relink(key: string, before: readonly string[], after: readonly string[]): boolean {
    for (const uid of without(before, after)) this.#remove(uid, key)
    const added = without(after, before)
    for (const uid of added) this.#add(uid, key)
    if (this.#waiting.size > 0) for (const uid of before) this.#tellOwner(uid)
    return added.length > 0
  }

  /** What lies under a key; undefined where nothing does. */
  look(key: string): OwnedEntry | undefined {
    const entry = this.#storage.read(key)
    if (entry === undefined) return undefined
    const bytes = bytesOf(entry)
    return {
      key,
      revision: entry.revision,
      uid: uidOf(bytes),
      isGoing: isGoing(bytes),
      mayHaveFinalizers: mayHaveFinalizers(bytes),
      references: ownersOf(bytes).length === 0 ? [] : ownerReferencesIn(bytes),
    }
  }

  /** The uid of what lies under a key: less work than to look at it. */
  uidAt(key: string): string | undefined {
    const entry = this.#storage.read(key)
    return entry === undefined ? undefined : uidOf(bytesOf(entry))
  }

  /** Takes in what a range holds, and yields after each step the keys of those that have owners and of those that are going. */
  *scan(range: KeyRange): Generator<{ readonly owned: readonly string[]; readonly going: readonly string[] }, void, void> {
    for (let start: string | undefined = range.start; start !== undefined; ) {
      const owned: string[] = []
      const going: string[] = []
      let left = entriesPerStep
      let next: string | undefined
      this.#storage.scan({ start, end: range.end }, (scanned) => {
        const owners = ownersOf(scanned)
        for (const uid of owners) this.#add(uid, scanned.key)
        if (owners.length > 0) owned.push(scanned.key)
        if (isGoing(scanned)) going.push(scanned.key)
        left -= 1
        if (left === 0) next = keyAfter(scanned.key)
        return left > 0
      })
      yield { owned, going }
      start = next
    }
  }

  /** Finds objects by their uids in a range, step by step. */
  *find(range: KeyRange, uids: ReadonlySet<string>): Generator<readonly string[], void, void> {
    for (let start: string | undefined = range.start; start !== undefined; ) {
      const found: string[] = []
      let left = entriesPerStep
      let next: string | undefined
      this.#storage.scan({ start, end: range.end }, (scanned) => {
        if (uids.has(uidOf(scanned))) found.push(scanned.key)
        left -= 1
        if (left === 0) next = keyAfter(scanned.key)
        return left > 0
      })
      yield found
      start = next
    }
  }

  /** Called with every change, before anybody else hears of it: a fault here is nobody else's. */
  update(change: Change): void {
    try {
      this.#update(change)
    } catch (thrown) {
      this.#listener.onFault(change.key, thrown)
    }
  }

  #update(change: Change): void {
    if (!this.#listener.isFollowed(collectionOf(change.key))) return
    const before = change.previous === undefined ? undefined : bytesOf(change.previous)
    const after = change.value === undefined ? undefined : bytesOf({ value: change.value })
    const isMoved = this.#updateOwners(change.key, before, after)
    if (after === undefined) {
      if (before !== undefined) this.#forget(uidOf(before))
      return
    }
    // A server that was cut off hears of another object under the name of one that is gone as of a change.
    if (before !== undefined && !haveSameUid(before, after)) this.#forget(uidOf(before))
    if (isMoved) this.#listener.onOwners(change.key)
    if (isGoing(after)) this.#listener.onGoing(change.key)
  }

  close(): void {
    this.#close(this)
    this.#dependents.clear()
    this.#waiting.clear()
  }

  /** Whether it has owners that it did not have before. */
  #updateOwners(key: string, before: EntryBytes | undefined, after: EntryBytes | undefined): boolean {
    if (before !== undefined && after !== undefined && this.#waiting.size === 0 && haveSameOwners(before, after)) return false
    const old = before === undefined ? nobody : ownersOf(before)
    const current = after === undefined ? nobody : ownersOf(after)
    if (old.length === 0 && current.length === 0) return false
    return this.relink(key, old, current)
  }

  #tellOwner(uid: string): void {
    const ownerKey = this.#waiting.get(uid)
    if (ownerKey !== undefined) this.#listener.onDependent(ownerKey)
  }

  #forget(uid: string): void {
    this.#waiting.delete(uid)
    if (this.#dependents.has(uid)) this.#listener.onGone(uid)
  }

  #add(uid: string, key: string): void {
    const found = this.#dependents.get(uid)
    if (found === undefined) this.#dependents.set(uid, key)
    else if (typeof found !== 'string') found.add(key)
    else if (found !== key) this.#dependents.set(uid, new Set([found, key]))
  }

  #remove(uid: string, key: string): void {
    const found = this.#dependents.get(uid)
    if (found === key) this.#dependents.delete(uid)
    if (found === undefined || typeof found === 'string') return
    found.delete(key)
    if (found.size === 0) this.#dependents.delete(uid)
  }
}

// Index of dependents by owner uid, for the garbage collector: storage keys only, updated with every change.

import type { ApiObject, OwnerReference } from '@cluster-apiserver/api/api/object.js'
import type { Change, KeyRange, ScannedEntry, Storage } from '../storage/storage.js'
import {
  bodyStartOf,
  bytesOf,
  type EntryBytes,
  haveSameOwners,
  noUids,
  ownersOf,
  spliceAndFlagsOf,
  spliceMask,
  startsWith,
} from './entry/entry-header.js'
import { collectionOf, keyAfter } from './object-keys.js'

/** Callbacks run synchronously with the change, so they must be fast. */
export interface OwnerListener {
  /** True for collections with garbage-collected objects. */
  isFollowed(collection: string): boolean
  /** An object with new owner references was written. */
  onOwners(key: string): void
  /** An owner with dependents was deleted. */
  onDeleted(uid: string): void
  /** An object with a deletionTimestamp was written. */
  onTerminating(key: string): void
  /** A dependent of a watched owner was changed or deleted. */
  onDependent(ownerKey: string): void
  /** A change could not be processed. */
  onError(key: string, thrown: unknown): void
}

export interface OwnedEntry {
  readonly key: string
  readonly revision: number
  readonly uid: string
  readonly isTerminating: boolean
  readonly mayHaveFinalizers: boolean
  readonly references: readonly OwnerReference[]
}

function without(uids: readonly string[], others: readonly string[]): readonly string[] {
  if (uids.length === 0 || others.length === 0) return uids
  const excluded = new Set(others)
  return uids.filter((uid) => !excluded.has(uid))
}

/** Entries per step: less than a millisecond. */
const entriesPerStep = 500

export class OwnerIndex {
  readonly #storage: Storage
  readonly #listener: OwnerListener
  readonly #close: (index: OwnerIndex) => void
  /** A single dependent is stored without a Set, to save memory. */
  readonly #dependents = new Map<string, string | Set<string>>()
  readonly #watchedOwners = new Map<string, string>()

  constructor(storage: Storage, listener: OwnerListener, close: (index: OwnerIndex) => void) {
    this.#storage = storage
    this.#listener = listener
    this.#close = close
  }

  get size(): number {
    let total = 0
    for (const dependents of this.#dependents.values()) total += typeof dependents === 'string' ? 1 : dependents.size
    return total
  }

  /** Keys of the dependents. The index may change during the iteration. */
  dependentsOf(uid: string): Iterable<string> {
    const dependents = this.#dependents.get(uid)
    return dependents === undefined ? noUids : typeof dependents === 'string' ? [dependents] : dependents
  }

  hasDependents(uid: string): boolean {
    return this.#dependents.has(uid)
  }

  /** Calls onDependent for every later change of a dependent. */
  watchDependents(uid: string, ownerKey: string): void {
    this.#watchedOwners.set(uid, ownerKey)
  }

  unwatchDependents(uid: string): void {
    this.#watchedOwners.delete(uid)
  }

  /** Replaces the owners of a dependent; also called for objects of extension API servers. Returns true if owners were added. */
  relink(key: string, before: readonly string[], after: readonly string[]): boolean {
    for (const uid of without(before, after)) this.#remove(uid, key)
    const added = without(after, before)
    for (const uid of added) this.#add(uid, key)
    if (this.#watchedOwners.size > 0) for (const uid of before) this.#notifyOwner(uid)
    return added.length > 0
  }

  readOwned(key: string): OwnedEntry | undefined {
    const entry = this.#storage.read(key)
    if (entry === undefined) return undefined
    const bytes = bytesOf(entry)
    return {
      key,
      revision: entry.revision,
      uid: uidOf(bytes),
      isTerminating: hasDeletionTimestamp(bytes),
      mayHaveFinalizers: mayHaveFinalizers(bytes),
      references: ownersOf(bytes).length === 0 ? [] : ownerReferencesIn(bytes),
    }
  }

  /** Reads the uid alone, which is cheaper than all fields of readOwned. */
  uidAt(key: string): string | undefined {
    const entry = this.#storage.read(key)
    return entry === undefined ? undefined : uidOf(bytesOf(entry))
  }

  /** Indexes a range; yields after each step the keys of owned and of terminating objects. */
  *scan(range: KeyRange): Generator<{ readonly owned: readonly string[]; readonly terminating: readonly string[] }, void, void> {
    let owned: string[] = []
    let terminating: string[] = []
    const visit = (scanned: ScannedEntry): void => {
      const owners = ownersOf(scanned)
      for (const uid of owners) this.#add(uid, scanned.key)
      if (owners.length > 0) owned.push(scanned.key)
      if (hasDeletionTimestamp(scanned)) terminating.push(scanned.key)
    }
    for (const _ of this.#visitInSteps(range, visit)) {
      yield { owned, terminating }
      owned = []
      terminating = []
    }
  }

  *find(range: KeyRange, uids: ReadonlySet<string>): Generator<readonly string[], void, void> {
    let found: string[] = []
    const visit = (scanned: ScannedEntry): void => {
      if (uids.has(uidOf(scanned))) found.push(scanned.key)
    }
    for (const _ of this.#visitInSteps(range, visit)) {
      yield found
      found = []
    }
  }

  /** Yields after every `entriesPerStep` entries, and at the end. */
  *#visitInSteps(range: KeyRange, visit: (scanned: ScannedEntry) => void): Generator<undefined, void, void> {
    for (let start: string | undefined = range.start; start !== undefined; ) {
      let entriesLeft = entriesPerStep
      let next: string | undefined
      this.#storage.scan({ start, end: range.end }, (scanned) => {
        visit(scanned)
        entriesLeft -= 1
        if (entriesLeft === 0) next = keyAfter(scanned.key)
        return entriesLeft > 0
      })
      yield undefined
      start = next
    }
  }

  /** Called with every change, before watchers; an error must not affect them. */
  update(change: Change): void {
    try {
      this.#update(change)
    } catch (thrown) {
      this.#listener.onError(change.key, thrown)
    }
  }

  #update(change: Change): void {
    if (!this.#listener.isFollowed(collectionOf(change.key))) return
    const before = change.previous === undefined ? undefined : bytesOf(change.previous)
    const after = change.value === undefined ? undefined : bytesOf({ value: change.value })
    const hasNewOwners = this.#updateOwners(change.key, before, after)
    if (after === undefined) {
      if (before !== undefined) this.#onOwnerDeleted(uidOf(before))
      return
    }
    // After a gap in the history, a deleted and recreated object appears as one change.
    if (before !== undefined && !haveSameUid(before, after)) this.#onOwnerDeleted(uidOf(before))
    if (hasNewOwners) this.#listener.onOwners(change.key)
    if (hasDeletionTimestamp(after)) this.#listener.onTerminating(change.key)
  }

  close(): void {
    this.#close(this)
    this.#dependents.clear()
    this.#watchedOwners.clear()
  }

  #updateOwners(key: string, before: EntryBytes | undefined, after: EntryBytes | undefined): boolean {
    if (before !== undefined && after !== undefined && this.#watchedOwners.size === 0 && haveSameOwners(before, after)) return false
    const old = before === undefined ? noUids : ownersOf(before)
    const current = after === undefined ? noUids : ownersOf(after)
    if (old.length === 0 && current.length === 0) return false
    return this.relink(key, old, current)
  }

  #notifyOwner(uid: string): void {
    const ownerKey = this.#watchedOwners.get(uid)
    if (ownerKey !== undefined) this.#listener.onDependent(ownerKey)
  }

  #onOwnerDeleted(uid: string): void {
    this.#watchedOwners.delete(uid)
    if (this.#dependents.has(uid)) this.#listener.onDeleted(uid)
  }

  #add(uid: string, key: string): void {
    const dependents = this.#dependents.get(uid)
    if (dependents === undefined) this.#dependents.set(uid, key)
    else if (typeof dependents !== 'string') dependents.add(key)
    else if (dependents !== key) this.#dependents.set(uid, new Set([dependents, key]))
  }

  #remove(uid: string, key: string): void {
    const dependents = this.#dependents.get(uid)
    if (dependents === key) this.#dependents.delete(uid)
    if (dependents === undefined || typeof dependents === 'string') return
    dependents.delete(key)
    if (dependents.size === 0) this.#dependents.delete(uid)
  }
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d

const generationKey = Buffer.from('"generation":')
const creationTimestampKey = Buffer.from('"creationTimestamp":')
const deletionTimestampKey = Buffer.from('"deletionTimestamp":"')
const ownerReferencesKey = Buffer.from('"ownerReferences":[')
const finalizersKey = Buffer.from('"finalizers":[')

const uidEnd = (entry: EntryBytes): number => bodyStartOf(entry) + (spliceAndFlagsOf(entry) & spliceMask)

/** Reads the uid from `"uid":"…",`, which ends at the splice: the offset at which readers insert the resourceVersion. */
export function uidOf(entry: EntryBytes): string {
  const end = uidEnd(entry) - 2
  let start = end
  while (start > entry.start && entry.bytes[start - 1] !== quote) start -= 1
  return viewOf(entry, start, end).toString('latin1')
}

function haveSameUid(one: EntryBytes, other: EntryBytes): boolean {
  const end = uidEnd(one) - 2
  const shift = uidEnd(other) - 2 - end
  // Compares backwards to the opening quote.
  for (let offset = end; offset >= one.start; offset--) {
    const byte = one.bytes[offset]
    if (byte !== other.bytes[offset + shift]) return false
    if (byte === quote && offset < end) return true
  }
  return false
}

/** True if the object has a deletionTimestamp. */
export function hasDeletionTimestamp(entry: EntryBytes): boolean {
  const { bytes } = entry
  let offset = uidEnd(entry)
  if (startsWith(bytes, offset, generationKey)) offset = afterComma(entry, offset + generationKey.length)
  if (startsWith(bytes, offset, creationTimestampKey)) offset = afterComma(entry, offset + creationTimestampKey.length)
  return startsWith(bytes, offset, deletionTimestampKey)
}

/** False if the object has no finalizers. True may be wrong: another field may contain the same text. */
export const mayHaveFinalizers = (entry: EntryBytes): boolean => viewOf(entry, uidEnd(entry), entry.end).includes(finalizersKey)

const noOwners: readonly OwnerReference[] = []

export function ownerReferencesIn(entry: EntryBytes): readonly OwnerReference[] {
  const rest = viewOf(entry, uidEnd(entry), entry.end)
  const found = rest.indexOf(ownerReferencesKey)
  if (found < 0) return noOwners
  const start = found + ownerReferencesKey.length - 1
  return JSON.parse(rest.toString('utf8', start, endOfList(rest, start))) as readonly OwnerReference[]
}

function endOfList(bytes: Buffer, start: number): number {
  let depth = 0
  let isInString = false
  for (let offset = start; offset < bytes.length; offset++) {
    const byte = bytes[offset]
    if (isInString) {
      if (byte === backslash) offset += 1
      else if (byte === quote) isInString = false
    } else if (byte === quote) isInString = true
    else if (byte === openBracket) depth += 1
    else if (byte === closeBracket) {
      depth -= 1
      if (depth === 0) return offset + 1
    }
  }
  return bytes.length
}

function afterComma({ bytes, end }: EntryBytes, start: number): number {
  let offset = start
  while (offset < end && bytes[offset] !== comma) offset += 1
  return offset + 1
}

const viewOf = ({ bytes }: EntryBytes, start: number, end: number): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, Math.max(0, end - start))

export function ownerUids({ metadata }: ApiObject): readonly string[] {
  const owners = metadata?.ownerReferences
  if (owners === undefined || owners.length === 0) return noUids
  return [...new Set(owners.map(({ uid }) => uid ?? ''))]
}

// Objects in storage: reading, listing, watching and writing them by kind, namespace and name.

import { tooManyRequests } from '../api/api-error.js'
import type { Catalog, Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { type Clock, problemWithin } from '../base/clock.js'
import { atOnce, nowOrInPieces, type Pieces } from '../base/pieces.js'
import { type Promised, whenThere } from '../base/promised.js'
import { type ChangesPage, type CommitOutcome, type Entry, type Storage, StorageUnavailableError, type Write } from '../storage/storage.js'
import type { ClientWatcher } from './audiences.js'
import { ItemCache } from './item-cache.js'
import { collectionOf, keyAt, rangeOf } from './keys.js'
import { LabelIndex } from './label-index.js'
import { LargeItems } from './large-items.js'
import { LastChanges } from './last-changes.js'
import { type ListQuery, type ObjectPage, readPage, ready, stepsOf } from './list.js'
import { ListCache } from './list-cache.js'
import type { AwaitedSteps, Reads } from './list-source.js'
import { ObjectCache } from './object-cache.js'
import { orderedItems } from './ordered-items.js'
import { OwnerIndex, type OwnerListener } from './owner-index.js'
import { readableFailure } from './readable-failure.js'
import { type StoreOperation, StoreTallies } from './store-tallies.js'
import { encodeStored, StoredObject } from './stored-object.js'
import { isNothing, noUniqueKeys, storageKeyOf, type UniqueKey, type UniqueKeyChanges, writesOf } from './unique-keys.js'
import { WatchBacklog } from './watch-backlog.js'
import { type OwnWatcher, WatchHub } from './watch-hub.js'

export interface ObjectAddress {
  readonly resource: Resource
  readonly namespace: string
  readonly name: string
}

export interface PutConditions {
  /** The revision that the object must have; 0: it must not be there. */
  readonly expect: number
  readonly uniqueKeys?: UniqueKeyChanges
  /** What is written in the same commit, or nothing is. */
  readonly alongside?: readonly Alongside[]
  /** What the bytes were encoded from, where it is likely to be changed again soon. */
  readonly object?: ApiObject
  /** The key, where it is known because the object was read. */
  readonly key?: string
}

/** An object that changes together with another one, from what is known of it. */
export interface Alongside {
  readonly stored: StoredObject
  readonly value: Buffer
}

export interface HistoryQuery {
  readonly resource: Resource
  /** Empty: all namespaces. */
  readonly namespace: string
  readonly after: number
  readonly limit: number
}

/**
 * Either the object as it was written, or what stood in the way (undefined: nothing is there). `isTaken`: somebody has what it wanted to take;
 * `isBehind`: what should have changed with it is not any more as it was known.
 */
export type WriteOutcome =
  | { readonly ok: true; readonly object: StoredObject }
  | { readonly ok: false; readonly current: StoredObject | undefined; readonly isTaken?: boolean; readonly isBehind?: boolean }

export interface ObjectStoreOptions {
  readonly storage: Storage
  readonly clock: Clock
  readonly readCacheBytes: number
  readonly eventTtlSeconds: number
}

/** A write that could not be stored says something about the store for so long; then only the next one does. */
const problemLastsMs = 10_000
const mostBacklogBytes = 64 << 20
/** What nobody asks for goes from the caches after one to two periods. */
const cachePeriodMs = 120_000
/** Of commits that wait for the disk; one that is larger still goes alone. */
const mostPendingBytes = 64 << 20

type OneOrMore = readonly [Write, ...Write[]]
type OutcomeOf = (outcome: CommitOutcome) => WriteOutcome

/** Somebody who watches objects of a kind, in a namespace or in all of them. */
type WatcherOf<W> = Omit<W, 'range' | 'resource'> & Pick<HistoryQuery, 'resource' | 'namespace'>

export class ObjectStore {
  private readonly storage: Storage
  private readonly reads: Reads
  private readonly recent: ObjectCache
  private owners: OwnerIndex | undefined
  readonly large = new LargeItems()
  private readonly hub: WatchHub
  /** What waits for slow watchers. */
  readonly backlog = new WatchBacklog(mostBacklogBytes)
  /** What it was asked for. */
  readonly tallies = new StoreTallies()
  private readonly options: ObjectStoreOptions
  private lastProblem: { readonly text: string; readonly atMs: number } | undefined
  private pendingBytes = 0
  private readonly periods: NodeJS.Timeout

  constructor(options: ObjectStoreOptions) {
    this.options = options
    this.storage = options.storage
    const labelBytes = Math.floor(options.readCacheBytes / 4)
    const recentBytes = Math.floor(options.readCacheBytes / 16)
    const keptBytes = Math.floor(options.readCacheBytes / 8)
    this.reads = {
      storage: this.storage,
      cache: new ListCache(options.storage, options.readCacheBytes - labelBytes - recentBytes - keptBytes, this.large),
      labels: new LabelIndex(options.storage, labelBytes),
      kept: new ItemCache(keptBytes),
      large: this.large,
      tallies: this.tallies,
      lastChanges: new LastChanges(options.storage),
    }
    this.recent = new ObjectCache(recentBytes, this.reads.kept)
    this.periods = setInterval(() => this.releaseUnused(), cachePeriodMs).unref()
    this.hub = new WatchHub(options.storage, (change) => {
      this.reads.lastChanges.note(change.key)
      this.reads.cache.drop(change.key)
      this.reads.kept.drop(change.key)
      this.reads.labels.update(change)
      this.recent.update(change)
      this.owners?.update(change)
    })
  }

  /** Ends a period of the caches: they hold what is asked for, and not all that was. */
  releaseUnused(): void {
    this.reads.cache.release()
    this.reads.kept.release()
    this.reads.labels.release()
  }

  get revision(): number {
    return this.storage.revision
  }

  /** Changes up to this revision are forgotten; a watch must begin at it or later. */
  get compacted(): number {
    return this.storage.compacted
  }

  get cacheBytes(): number {
    return this.reads.cache.bytes + this.reads.kept.bytes + this.reads.labels.bytes + this.recent.bytes
  }

  get watchers(): number {
    return this.hub.size
  }

  /** A revision at which reads see every write that anybody was told of before the call. */
  readIndex(purpose?: 'write'): number | Promise<number> {
    const index = this.storage.readIndex(purpose)
    if (!(index instanceof Promise)) return index
    const begunMs = performance.now()
    const note = (): void => this.tallies.of('').took('readIndex', begunMs)
    return index.then(
      (revision) => {
        note()
        return revision
      },
      (thrown: unknown) => {
        note()
        throw readableFailure(thrown, 'be read consistently')
      },
    )
  }

  /** Asks the storage, and answers why it cannot be used; undefined when it can. A write that failed a moment ago counts, too. */
  async check(timeoutMs: number): Promise<string | undefined> {
    const index = this.storage.readIndex()
    if (index instanceof Promise) {
      const problem = await problemWithin(timeoutMs, index)
      if (problem !== undefined) return problem
    }
    const { text, atMs } = this.lastProblem ?? { text: '', atMs: Number.NEGATIVE_INFINITY }
    return this.options.clock.now() - atMs < problemLastsMs ? text : undefined
  }

  /** Resolves when the store has reached a revision, or with false when the signal says that nobody waits any more. */
  reach(revision: number, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (isReached: boolean): void => {
        stop()
        signal?.removeEventListener('abort', give)
        resolve(isReached)
      }
      const give = (): void => finish(false)
      const stop = this.storage.follow(() => {
        if (this.revision >= revision) finish(true)
      })
      if (signal?.aborted) give()
      else signal?.addEventListener('abort', give, { once: true })
    })
  }

  read(address: ObjectAddress): StoredObject | undefined {
    const key = keyAt(address)
    return this.recent.get(key) ?? this.readStored(address, key)
  }

  /** Reads an object that is likely to be wanted again: because it is about to be changed, many writes ask for it, or a client did. */
  readOften(address: ObjectAddress): StoredObject | undefined {
    const key = keyAt(address)
    const kept = this.recent.get(key)
    if (kept !== undefined) return kept
    const object = this.readStored(address, key)
    if (object !== undefined) this.recent.keep(object)
    return object
  }

  private readStored({ resource }: ObjectAddress, key: string): StoredObject | undefined {
    const begunMs = performance.now()
    const object = objectOf(this.storage.read(key), this.reads.kept)
    this.tallies.of(resource.collection).took('get', begunMs)
    return object
  }

  /** At once: for loops and small collections. */
  list(query: ListQuery): ObjectPage {
    const begunMs = performance.now()
    return this.listed(atOnce(readPage(this.reads, query)), query, begunMs)
  }

  /** What is not there within a piece is waited for, and items are read piece by piece. */
  listInPieces(query: ListQuery & { readonly pieces: Pieces }): Promised<ObjectPage> {
    const begunMs = performance.now()
    return whenThere(nowOrInPieces(readPage(this.reads, query), query.pieces), (page) => this.listed(page, query, begunMs))
  }

  private listed(page: ObjectPage, query: ListQuery, begunMs: number): ObjectPage {
    const tally = this.tallies.of(query.resource.collection)
    tally.lists += 1
    tally.took('list', begunMs)
    return ordered(page, query)
  }

  /** What is there now, step by step: undefined stands where others may have a turn. No index is built for it. */
  look(query: Pick<ListQuery, 'resource' | 'namespace' | 'selection'>): Iterable<StoredObject | undefined> {
    return ready(this.lookAhead(query))
  }

  /** The same, with what has to be waited for before it is known which objects are selected. */
  lookAhead(query: Pick<ListQuery, 'resource' | 'namespace' | 'selection'>): AwaitedSteps<StoredObject> {
    return stepsOf(this.reads, query)
  }

  /** A page of what happened to objects of a kind, after a revision and in order. */
  history(query: HistoryQuery): ChangesPage {
    return this.storage.changes({ ...rangeOf(query.resource, query.namespace), after: query.after, limit: query.limit })
  }

  /** At a revision, or now. */
  count(resource: Resource, namespace: string, at?: number): number {
    return this.storage.count(rangeOf(resource, namespace), at)
  }

  /** Tells a watcher of every later change; the function it returns ends that. */
  watch({ resource, namespace, ...watcher }: WatcherOf<OwnWatcher> | WatcherOf<ClientWatcher>): () => void {
    return this.hub.add({ ...watcher, resource, range: rangeOf(resource, namespace) })
  }

  /** The revision up to which a watcher of a client was told everything; undefined where that is not certain. */
  get toldUpTo(): number | undefined {
    return this.hub.toldUpTo(this.revision)
  }

  /** Follows who owns whom, for the one loop that collects what has lost its owners. */
  followOwners(listener: OwnerListener): OwnerIndex {
    this.owners = new OwnerIndex(this.storage, listener, (index) => {
      if (this.owners === index) this.owners = undefined
    })
    return this.owners
  }

  /** The bytes of an object; equal bytes mean that a write would change nothing. */
  encode(resource: Resource, object: ApiObject): Buffer {
    return encodeStored(resource, object)
  }

  /** Whether a write of these bytes would change nothing. */
  holds(stored: StoredObject, value: Buffer): boolean {
    return value.equals(stored.entry.value) && this.storage.isStale?.(stored.key) !== true
  }

  /** Writes an encoded object if the key is as expected: absent (0), or at a revision. */
  put(
    address: ObjectAddress,
    value: Buffer,
    { expect, uniqueKeys = noUniqueKeys, alongside = [], object, key = keyAt(address) }: PutConditions,
  ): Promise<WriteOutcome> {
    const expiresAtMs = this.expiryOf(address.resource)
    const write = expiresAtMs === undefined ? { key, value, expect } : { key, value, expect, expiresAtMs }
    const writes: OneOrMore =
      isNothing(uniqueKeys) && alongside.length === 0 ? [write] : [write, ...writesOf(key, uniqueKeys), ...alongside.map(changed)]
    return this.commitDurably(expect === 0 ? 'create' : 'update', writes, (outcome) => {
      if (outcome.ok) {
        const held = object === undefined ? undefined : this.recent.get(key)
        if (object !== undefined && held?.revision === outcome.revision) held.keepSource(address.resource, object)
        return { ok: true, object: new StoredObject({ key, revision: outcome.revision, value }) }
      }
      if (isAmong(alongside, outcome.key)) return { ok: false, current: undefined, isBehind: true }
      if (outcome.key !== key) return { ok: false, current: undefined, isTaken: true }
      return { ok: false, current: objectOf(outcome.current) }
    })
  }

  /** When an object that is written now goes by itself. */
  expiryOf({ definition }: Resource): number | undefined {
    const ttlSeconds = definition.ttlSeconds?.(this.options.eventTtlSeconds) ?? 0
    return ttlSeconds > 0 ? this.options.clock.now() + ttlSeconds * 1000 : undefined
  }

  isTaken(uniqueKey: UniqueKey): boolean {
    return this.storage.read(storageKeyOf(uniqueKey)) !== undefined
  }

  /** Removes the object at a revision, with what it held; the outcome shows it with the version at which it went. */
  remove(stored: StoredObject, released: readonly UniqueKey[] = [], alongside: readonly Alongside[] = []): Promise<WriteOutcome> {
    const removal = { key: stored.key, value: undefined, expect: stored.revision }
    const writes: OneOrMore = [removal, ...writesOf(stored.key, { gained: [], released }), ...alongside.map(changed)]
    return this.commitDurably('delete', writes, (outcome) => {
      if (outcome.ok) return { ok: true, object: new StoredObject({ ...stored.entry, revision: outcome.revision }) }
      if (isAmong(alongside, outcome.key)) return { ok: false, current: undefined, isBehind: true }
      return { ok: false, current: objectOf(outcome.current) }
    })
  }

  /** Ends the watches that are open, so that their connections can close. */
  endWatches(): void {
    this.hub.endAll()
  }

  /** Ends the watches of kinds and versions that were served and are not any more, or are others under the same name. */
  readonly endWatchesOfGone = (current: Catalog, before: Catalog): void => {
    for (const { group, version, name, collection, kind, namespaced } of before.all()) {
      const now = current.find(group, version, name)
      if (now !== undefined && now.kind === kind && now.namespaced === namespaced && now.collection === collection) continue
      this.hub.end(collection, (watched) => watched?.group === group && watched.version === version && watched.name === name)
    }
  }

  close(): void {
    clearInterval(this.periods)
    this.backlog.close()
    this.hub.close()
    this.reads.cache.clear()
    this.recent.clear()
    this.reads.kept.clear()
  }

  /** How the last write went, for the health of the store: it failed by what was thrown, or it did not. */
  noteWrite(thrown?: unknown): void {
    if (thrown === undefined) this.lastProblem = undefined
    else if (thrown instanceof StorageUnavailableError) this.lastProblem = { text: thrown.message, atMs: this.options.clock.now() }
  }

  /**
   * A store that cannot write now is no fault of the client's: it may try again. What is made of the outcome is made here: a promise more on the
   * way of every write would show.
   */
  private async commitDurably(operation: StoreOperation, writes: OneOrMore, outcomeOf: OutcomeOf): Promise<WriteOutcome> {
    let bytes = 0
    for (const { value } of writes) bytes += value?.length ?? 0
    if (this.pendingBytes > 0 && this.pendingBytes + bytes > mostPendingBytes) throw tooManyRequests(slowStore, 1)
    this.pendingBytes += bytes
    const begunMs = performance.now()
    let outcome: CommitOutcome
    try {
      outcome = await this.storage.commit(writes)
      this.noteWrite()
    } catch (thrown) {
      this.noteWrite(thrown)
      throw readableFailure(thrown, 'write')
    } finally {
      this.pendingBytes -= bytes
      this.tallies.of(collectionOf(writes[0].key)).took(operation, begunMs)
    }
    return outcomeOf(outcome)
  }
}

const ordered = (page: ObjectPage, { resource, form }: ListQuery): ObjectPage =>
  form?.order === undefined ? page : { ...page, items: orderedItems(page, resource, form) }

const slowStore = 'the store is slower than its writers: too much waits to be written, please try again later'

const changed = ({ stored, value }: Alongside): Write => ({ key: stored.key, value, expect: stored.revision })

const isAmong = (alongside: readonly Alongside[], key: string): boolean => alongside.some(({ stored }) => stored.key === key)

const objectOf = (entry: Entry | undefined, kept?: ItemCache): StoredObject | undefined =>
  entry === undefined ? undefined : new StoredObject(entry, kept)

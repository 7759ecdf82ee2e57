// Objects in storage: read, list, watch and write by kind, namespace and name.

import { requestEntityTooLarge, tooManyRequests, unavailable } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { type Clock, errorWithin } from '@cluster-apiserver/api/base/clock.js'
import { type TurnBudget, turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import {
  type ChangesPage,
  type CommitOutcome,
  type Entry,
  type Storage,
  StorageUnavailableError,
  TooLargeError,
  TooManyWritesError,
  type Write,
} from '../storage/storage.js'
import { committing, EncodedObject } from './entry/encoded-object.js'
import { encodeStored, StoredObject } from './entry/stored-object.js'
import { LargeItems } from './list/large-items.js'
import {
  type ListPage,
  type ListQuery,
  type ObjectQuery,
  openListPage,
  readAllObjects,
  readObjectsInBatches,
  readObjectsInSteps,
  sortListPage,
} from './list/list-page.js'
import type { ReadContext } from './list/list-source.js'
import {
  collectionOf,
  isNoChange,
  keyAt,
  noUniqueKeys,
  rangeOf,
  storageKeyOf,
  type UniqueKey,
  type UniqueKeyChanges,
  writesOf,
} from './object-keys.js'
import { OwnerIndex, type OwnerListener } from './owner-index.js'
import { StoreCounters, type StoreOperation } from './store-metrics.js'
import { WatchBacklog } from './watch/watch-backlog.js'
import { type InternalWatcher, WatchHub, type WatchHubOptions } from './watch/watch-hub.js'
import type { ClientWatcher } from './watch/watcher-index.js'
import { ItemCache } from './watch-cache/item-cache.js'
import { LabelIndex } from './watch-cache/label-index.js'
import { LastChanges } from './watch-cache/last-changes.js'
import { ListCache } from './watch-cache/list-cache.js'
import { ObjectCache } from './watch-cache/object-cache.js'

export interface ObjectAddress {
  readonly resource: Resource
  readonly namespace: string
  readonly name: string
}

interface PutConditions {
  /** Expected revision of the object; 0: it must be absent. */
  readonly expect: number
  readonly uniqueKeys?: UniqueKeyChanges
  /** Written in the same commit. */
  readonly alongside?: readonly Alongside[]
  /** The object that `value` encodes: readers of the commit do not parse it. */
  readonly object?: ApiObject
  readonly key?: string
}

export interface Alongside {
  readonly stored: StoredObject
  readonly value: Buffer
}

interface HistoryQuery extends Omit<ObjectAddress, 'name'> {
  readonly after: number
  readonly limit: number
}

/** `isTaken`: a unique key is taken. `isBehind`: another object of the same commit has changed. */
export type WriteOutcome =
  | { readonly ok: true; readonly object: StoredObject }
  | { readonly ok: false; readonly current: StoredObject | undefined; readonly isTaken?: boolean; readonly isBehind?: boolean }

interface ObjectStoreOptions extends WatchHubOptions {
  readonly storage: Storage
  readonly clock: Clock
  readonly readCacheBytes: number
  readonly eventTtlSeconds: number
}

/** Time for which a failed write makes health checks fail. */
const problemLastsMs = 10_000
const maxBacklogBytes = 64 << 20
/** Unused entries leave the caches after one to two periods. */
const cachePeriodMs = 120_000
/** Limit for bytes of pending commits; a larger commit is allowed if it is the only one. */
const maxPendingBytes = 64 << 20

type NonEmptyWrites = readonly [Write, ...Write[]]
type OutcomeOf = (outcome: CommitOutcome) => WriteOutcome

type WatcherOf<W> = Omit<W, 'range' | 'resource'> & Pick<HistoryQuery, 'resource' | 'namespace'>

export class ObjectStore {
  private readonly storage: Storage
  private readonly readContext: ReadContext
  private readonly objectCache: ObjectCache
  private owners: OwnerIndex | undefined
  readonly largeItems = new LargeItems()
  private readonly hub: WatchHub
  readonly backlog: WatchBacklog
  readonly counters = new StoreCounters()
  readonly budget: TurnBudget
  private readonly options: ObjectStoreOptions
  private lastProblem: { readonly text: string; readonly atMs: number } | undefined
  private pendingBytes = 0
  private readonly cacheTimer: NodeJS.Timeout

  constructor(options: ObjectStoreOptions) {
    this.options = options
    const { storage, readCacheBytes } = options
    this.storage = storage
    this.budget = options.budget ?? turnBudget
    this.backlog = new WatchBacklog(maxBacklogBytes, this.budget)
    const labelIndexBytes = Math.floor(readCacheBytes / 4)
    const objectCacheBytes = Math.floor(readCacheBytes / 16)
    const itemCacheBytes = Math.floor(readCacheBytes / 8)
    this.readContext = {
      storage: this.storage,
      listCache: new ListCache(storage, readCacheBytes - labelIndexBytes - objectCacheBytes - itemCacheBytes, this.largeItems),
      labelIndex: new LabelIndex(storage, labelIndexBytes),
      itemCache: new ItemCache(itemCacheBytes),
      largeItems: this.largeItems,
      counters: this.counters,
      lastChanges: new LastChanges(storage),
      budget: this.budget,
    }
    this.objectCache = new ObjectCache(objectCacheBytes, this.readContext.itemCache)
    this.cacheTimer = setInterval(() => this.releaseUnused(), cachePeriodMs).unref()
    this.hub = new WatchHub(
      storage,
      (change) => {
        this.readContext.lastChanges.record(change.key)
        this.readContext.listCache.drop(change.key)
        this.readContext.itemCache.drop(change.key)
        this.readContext.labelIndex.update(change)
        this.owners?.update(change)
        return this.objectCache.update(change)
      },
      options,
    )
  }

  releaseUnused(): void {
    this.readContext.listCache.endPeriod()
    this.readContext.itemCache.endPeriod()
    this.readContext.labelIndex.endPeriod()
  }

  get revision(): number {
    return this.storage.revision
  }

  /** Watches must start at this revision or later. */
  get compacted(): number {
    return this.storage.compacted
  }

  get cacheBytes(): number {
    return this.readContext.listCache.bytes + this.readContext.itemCache.bytes + this.readContext.labelIndex.bytes + this.objectCache.bytes
  }

  get watchers(): number {
    return this.hub.size
  }

  /** A revision at which reads see all writes acknowledged by any replica before; with `call`, before the request. `call` can abort the wait. */
  readIndex(call?: Pick<Call, 'waitFor' | 'caller'>): number | Promise<number> {
    if (call?.caller.hasReadIndex === true) return this.revision
    const index = this.storage.readIndex()
    return typeof index === 'number' ? index : this.#waitForIndex(index, call)
  }

  async #waitForIndex(index: Promise<number>, call: Pick<Call, 'waitFor'> | undefined): Promise<number> {
    const startMs = performance.now()
    try {
      return await (call?.waitFor(index) ?? index)
    } catch (thrown) {
      throw toApiError(thrown, 'be read consistently')
    } finally {
      this.counters.of('').observe('readIndex', startMs)
    }
  }

  /** Reason why the storage is unhealthy, recent failed writes included; undefined if it is healthy. */
  async check(timeoutMs: number): Promise<string | undefined> {
    const problem = await errorWithin(timeoutMs, Promise.resolve(this.storage.readIndex()))
    if (problem !== undefined) return problem
    const { text, atMs } = this.lastProblem ?? { text: '', atMs: Number.NEGATIVE_INFINITY }
    return this.options.clock.now() - atMs < problemLastsMs ? text : undefined
  }

  /** Resolves with true when the revision is reached, with false when the signal is aborted. */
  reach(revision: number, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (isReached: boolean): void => {
        stop()
        resolve(isReached)
      }
      const stop = this.storage.follow(() => this.revision >= revision && finish(true))
      if (signal?.aborted) finish(false)
      else signal?.addEventListener('abort', () => finish(false), { once: true })
    })
  }

  read(address: ObjectAddress): StoredObject | undefined {
    const key = keyAt(address)
    return this.objectCache.get(key) ?? this.readStored(address, key)
  }

  /** Reads an object that is likely to be read again, and caches it. */
  readCached(address: ObjectAddress): StoredObject | undefined {
    const object = this.read(address)
    if (object !== undefined && object.owningCache === undefined) this.objectCache.add(object)
    return object
  }

  private readStored({ resource }: ObjectAddress, key: string): StoredObject | undefined {
    const startMs = performance.now()
    const object = objectOf(this.storage.read(key), this.readContext.itemCache)
    this.counters.of(resource.collection).observe('get', startMs)
    return object
  }

  /** Reads without yielding to the event loop: for controllers and small collections. */
  readAll(query: ObjectQuery & { readonly limit?: 0 }): { readonly objects: () => Iterable<StoredObject> } {
    return { objects: () => readAllObjects(this.readContext, query) }
  }

  async listPage(query: ListQuery): Promise<ListPage> {
    const startMs = performance.now()
    const page = await openListPage(this.readContext, query)
    const counter = this.counters.of(query.resource.collection)
    counter.lists += 1
    counter.observe('list', startMs)
    return sortListPage(page, query)
  }

  /** Yields undefined where the caller may yield to the event loop. Builds no label index. */
  readInSteps(query: ObjectQuery): Iterable<StoredObject | undefined> {
    return readObjectsInSteps(this.readContext, query)
  }

  /** Yields to the event loop between batches, and converts by webhook if selected fields need it. */
  readInBatches(query: ObjectQuery): AsyncIterable<readonly StoredObject[]> {
    return readObjectsInBatches(this.readContext, query)
  }

  history(query: HistoryQuery): ChangesPage {
    return this.storage.changes({ ...rangeOf(query.resource, query.namespace), after: query.after, limit: query.limit })
  }

  count(resource: Resource, namespace: string, at?: number): number {
    return this.storage.count(rangeOf(resource, namespace), at)
  }

  /** Notifies a watcher of every later change. Returns a function that ends the watch. */
  watch({ resource, namespace, ...watcher }: WatcherOf<InternalWatcher> | WatcherOf<ClientWatcher>): () => void {
    return this.hub.add({ ...watcher, resource, range: rangeOf(resource, namespace) })
  }

  /** Revision up to which all clients were notified; undefined while watches are being ended. */
  get notifiedUpTo(): number | undefined {
    return this.hub.notifiedUpTo(this.revision)
  }

  followOwners(listener: OwnerListener): OwnerIndex {
    this.owners = new OwnerIndex(this.storage, listener, (index) => {
      if (this.owners === index) this.owners = undefined
    })
    return this.owners
  }

  encode(resource: Resource, object: ApiObject): Buffer {
    return encodeStored(resource, object)
  }

  isUnchanged(stored: StoredObject, value: Buffer): boolean {
    return value.equals(stored.entry.value) && this.storage.isStale?.(stored.key) !== true
  }

  put(
    address: ObjectAddress,
    value: Buffer,
    { expect, uniqueKeys = noUniqueKeys, alongside = [], object, key = keyAt(address) }: PutConditions,
  ): Promise<WriteOutcome> {
    const expiresAtMs = this.expiryOf(address.resource)
    const write = expiresAtMs === undefined ? { key, value, expect } : { key, value, expect, expiresAtMs }
    const writes: NonEmptyWrites =
      isNoChange(uniqueKeys) && alongside.length === 0 ? [write] : [write, ...writesOf(key, uniqueKeys), ...alongside.map(writeOf)]
    const source = object && new EncodedObject(address.resource, object)
    if (source !== undefined) committing.set(value, source)
    return this.commitDurably(expect === 0 ? 'create' : 'update', writes, (outcome) => {
      if (outcome.ok) {
        const { revision } = outcome
        const cached = this.objectCache.get(key)
        return { ok: true, object: cached?.revision === revision ? cached : new StoredObject({ key, revision, value }).setSource(source) }
      }
      if (includesKey(alongside, outcome.key)) return { ok: false, current: undefined, isBehind: true }
      if (outcome.key !== key) return { ok: false, current: undefined, isTaken: true }
      return { ok: false, current: objectOf(outcome.current) }
    }).finally(() => committing.delete(value))
  }

  expiryOf({ definition }: Resource): number | undefined {
    const ttlSeconds = definition.ttlSeconds?.(this.options.eventTtlSeconds) ?? 0
    return ttlSeconds > 0 ? this.options.clock.now() + ttlSeconds * 1000 : undefined
  }

  isTaken(uniqueKey: UniqueKey): boolean {
    return this.storage.read(storageKeyOf(uniqueKey)) !== undefined
  }

  /** The outcome has the revision of the removal. */
  remove(stored: StoredObject, released: readonly UniqueKey[] = [], alongside: readonly Alongside[] = []): Promise<WriteOutcome> {
    const removal = { key: stored.key, value: undefined, expect: stored.revision }
    const writes: NonEmptyWrites = [removal, ...writesOf(stored.key, { gained: [], released }), ...alongside.map(writeOf)]
    return this.commitDurably('delete', writes, (outcome) => {
      if (outcome.ok) return { ok: true, object: new StoredObject({ ...stored.entry, revision: outcome.revision }) }
      if (includesKey(alongside, outcome.key)) return { ok: false, current: undefined, isBehind: true }
      return { ok: false, current: objectOf(outcome.current) }
    })
  }

  endWatches(): void {
    this.hub.endAll()
  }

  /** Ends the watches of kinds and versions that are no longer served, or were replaced under the same name. */
  readonly endWatchesOfRemovedKinds = (current: Catalog, before: Catalog): void => {
    for (const { group, version, name, collection, kind, namespaced } of before.all()) {
      const served = current.find(group, version, name)
      if (served !== undefined && served.kind === kind && served.namespaced === namespaced && served.collection === collection) continue
      this.hub.end(collection, (watched) => watched?.group === group && watched.version === version && watched.name === name)
    }
  }

  close(): void {
    clearInterval(this.cacheTimer)
    this.backlog.close()
    this.hub.close()
    this.readContext.listCache.clear()
    this.objectCache.clear()
    this.readContext.itemCache.clear()
  }

  recordWriteOutcome(thrown?: unknown): void {
    if (thrown === undefined) this.lastProblem = undefined
    else if (thrown instanceof StorageUnavailableError) this.lastProblem = { text: thrown.message, atMs: this.options.clock.now() }
  }

  private async commitDurably(operation: StoreOperation, writes: NonEmptyWrites, outcomeOf: OutcomeOf): Promise<WriteOutcome> {
    const bytes = writes.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
    if (this.pendingBytes > 0 && this.pendingBytes + bytes > maxPendingBytes) throw tooManyRequests(slowStore, 1)
    this.pendingBytes += bytes
    const startMs = performance.now()
    try {
      const outcome = await this.storage.commit(writes)
      this.recordWriteOutcome()
      return outcomeOf(outcome)
    } catch (thrown) {
      this.recordWriteOutcome(thrown)
      throw toApiError(thrown, 'write')
    } finally {
      this.pendingBytes -= bytes
      this.counters.of(collectionOf(writes[0].key)).observe(operation, startMs)
    }
  }
}

const slowStore = 'the store is overloaded: too many bytes are waiting to be written, please try again later'

const writeOf = ({ stored, value }: Alongside): Write => ({ key: stored.key, value, expect: stored.revision })
const includesKey = (alongside: readonly Alongside[], key: string): boolean => alongside.some(({ stored }) => stored.key === key)

const objectOf = (entry: Entry | undefined, itemCache?: ItemCache): StoredObject | undefined =>
  entry === undefined ? undefined : new StoredObject(entry, itemCache)

function toApiError(thrown: unknown, operation: string): unknown {
  if (thrown instanceof StorageUnavailableError) return unavailable(`the store cannot ${operation} now: ${thrown.message}`)
  if (thrown instanceof TooLargeError) return requestEntityTooLarge(thrown.message)
  if (!(thrown instanceof TooManyWritesError)) return thrown
  return requestEntityTooLarge(
    `the object, the addresses and ports that it takes or gives back, and the quotas that count it are written together, and ${thrown.message}`,
  )
}

// The base of most controllers: listed objects and watch events become keys of a work queue; `work` reconciles one key from the store.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Catalog, CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { systemTimers, type Timers } from '@cluster-apiserver/api/base/clock.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { StoredObject } from '../../objects/entry/stored-object.js'
import type { Matcher } from '../../objects/list/selection.js'
import type { EventType } from '../../objects/watch/watch-events.js'
import type { Engine } from '../../verbs/engine.js'
import type { Controller } from '../leader-election/leader-election.js'
import { pagesOf, type Range } from './list-pages.js'
import { ControllerCounters } from './queue-metrics.js'
import { budgetOf, newAbortController } from './timers.js'
import { type BackOff, type Outcome, WorkQueue } from './work-queue.js'

export interface ControllerParts {
  readonly engine: Engine
  readonly catalogs: Pick<CatalogSource, 'current' | 'onChange'>
  readonly logger: Logger
  readonly counters?: ControllerCounters
  readonly timers?: Timers
  /** Real time for pauses, network timeouts and CPU budgets, which a movable clock would block. Default: `timers`. */
  readonly pacing?: Timers
  /** Maximum number of keys in a queue of the garbage collector; undefined: the default. */
  readonly maxKeys?: number | undefined
  /** Delay of the first list in a fork: the controllers of its parent have reconciled all objects. Default: none. */
  readonly firstListMs?: number | undefined
}

export interface Source extends Range {
  readonly matches?: Matcher
  /** The key to reconcile for a listed or changed object; undefined for none. `previous`: the object before the change. */
  readonly keyOf: (object: StoredObject, eventType: SourceEvent, previous?: StoredObject) => QueuedKey | readonly QueuedKey[] | undefined
  /** Objects that exist at the start are not listed. */
  readonly onlyChanges?: boolean
  /** Deletions that are still in the history are replayed with every list, because the previous leader may have missed them. */
  readonly replaysDeletions?: boolean
}

export type SourceEvent = EventType | 'LISTED'

type QueuedKey = string | DelayedKey

export interface DelayedKey {
  readonly key: string
  readonly afterMs: number
}

export interface Run {
  readonly signal: AbortSignal
  readonly budget: TurnBudget
}

export interface ControllerPlan {
  readonly name: string
  /** Called again when the Catalog changes; returns none while its kinds are not served. */
  readonly sources: (catalog: Catalog) => readonly Source[]
  /** Must be idempotent and accept keys of deleted objects, which lists do not show. Errors are logged and retried. */
  readonly work: (key: string, run: Run) => Promise<Outcome>
  readonly concurrency?: number
  readonly backOff?: BackOff
  readonly maxKeys?: number
  /** Subscribes to changes outside of the store, which list everything again; returns the function that unsubscribes. */
  readonly onExternalChange?: (resync: () => void) => () => void
  /** Interval at which everything is listed again, for changes without an event; never if undefined. */
  readonly resyncMs?: number
}

interface WatchedSource {
  readonly source: Source
  readonly unwatch: () => void
}

export class KeyedController implements Controller {
  readonly #parts: ControllerParts
  readonly #plan: ControllerPlan
  readonly #timers: Timers
  readonly #budget: TurnBudget
  readonly #queue: WorkQueue
  readonly #unsubscribe: (() => void)[] = []
  readonly #stop = newAbortController()
  #watched: ReadonlyMap<string, WatchedSource> = new Map()
  readonly #unlisted = new Set<Source>()
  #listing: Promise<void> | undefined
  #nextList: { readonly atMs: number; readonly cancel: () => void } | undefined

  constructor(parts: ControllerParts, plan: ControllerPlan) {
    this.#parts = parts
    this.#plan = plan
    this.#timers = parts.timers ?? systemTimers
    this.#budget = budgetOf(parts.pacing ?? parts.timers)
    const run: Run = { signal: this.#stop.signal, budget: this.#budget }
    this.#queue = new WorkQueue({
      ...plan,
      work: (key) => plan.work(key, run),
      onFailure: (...failure) => this.#logFailure(...failure),
      onOverflow: (afterMs) => this.#listAfter(afterMs),
      counters: (parts.counters ?? new ControllerCounters()).forQueue(plan.name),
      timers: this.#timers,
      budget: this.#budget,
    })
    this.#watchSources(parts.catalogs.current)
    if (parts.firstListMs === undefined) this.#list()
    else {
      this.#unlisted.clear()
      this.#listAfter(parts.firstListMs)
    }
    const onCatalogChange = (current: Catalog): void => {
      this.#watchSources(current)
      this.#list()
    }
    this.#unsubscribe.push(parts.catalogs.onChange(onCatalogChange))
    const unsubscribe = plan.onExternalChange?.(() => this.#listAfter(0))
    if (unsubscribe !== undefined) this.#unsubscribe.push(unsubscribe)
    if (plan.resyncMs !== undefined) this.#unsubscribe.push(this.#timers.every(plan.resyncMs, () => this.#listAll()))
  }

  get isIdle(): boolean {
    return this.#listing === undefined && this.#queue.isIdle
  }

  get busyKeys(): readonly string[] {
    return this.#queue.busyKeys
  }

  expedite(withinMs: number): void {
    this.#queue.expedite(withinMs)
  }

  async close(): Promise<void> {
    this.#stop.abort()
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    for (const { unwatch } of this.#watched.values()) unwatch()
    this.#nextList?.cancel()
    await Promise.all([this.#queue.close(), this.#listing])
  }

  /** Keeps sources of unchanged kinds. New ones are watched before they are listed, so that no change is missed. */
  #watchSources(catalog: Catalog): void {
    const watched = new Map<string, WatchedSource>()
    for (const source of this.#plan.sources(catalog)) {
      let id = `${source.resource.collection} ${source.namespace}`
      while (watched.has(id)) id += '+'
      const before = this.#watched.get(id)
      if (before?.source.resource === source.resource) watched.set(id, before)
      else {
        watched.set(id, { source, unwatch: this.#watch(source) })
        if (source.onlyChanges !== true) this.#unlisted.add(source)
      }
    }
    for (const [id, { source, unwatch }] of this.#watched) {
      if (watched.get(id)?.source === source) continue
      unwatch()
      this.#unlisted.delete(source)
    }
    this.#watched = watched
  }

  #watch(source: Source): () => void {
    return this.#parts.engine.store.watch({
      resource: source.resource,
      namespace: source.namespace,
      matches: source.matches,
      deliver: ({ object, type }, previous) => this.#enqueue(source, object, type, previous),
    })
  }

  #enqueue(source: Source, object: StoredObject, eventType: SourceEvent, previous?: StoredObject): void {
    try {
      // Watches deliver matching objects only.
      if (eventType === 'LISTED' && source.matches?.(object) === false) return
      const found = source.keyOf(object, eventType, previous)
      if (Array.isArray(found)) for (const key of found) this.#add(key)
      else if (found !== undefined) this.#add(found as QueuedKey)
    } catch (error) {
      this.#parts.logger.error({ controller: this.#plan.name, key: object.key, error }, 'controller ignores an object that it cannot read')
    }
  }

  #add(key: QueuedKey): void {
    if (typeof key === 'string') this.#queue.add(key)
    else this.#queue.addAfter(key.key, key.afterMs)
  }

  #listAll(): void {
    this.#nextList?.cancel()
    this.#nextList = undefined
    for (const { source } of this.#watched.values()) if (source.onlyChanges !== true) this.#unlisted.add(source)
    this.#list()
  }

  #list(): void {
    if (this.#unlisted.size === 0 || this.#isClosed) return
    this.#listing ??= this.#listUnlisted()
      .catch((error: unknown) => this.#retryList(error))
      .finally(() => {
        this.#listing = undefined
        this.#list()
      })
  }

  async #listUnlisted(): Promise<void> {
    await this.#queue.waitForSpace()
    for (const source of this.#unlisted) {
      this.#unlisted.delete(source)
      await this.#listSource(source)
    }
  }

  async #listSource(source: Source): Promise<void> {
    for await (const page of pagesOf(this.#parts.engine.store, source, this.#budget)) {
      for (const object of page) {
        if (!this.#queue.hasSpace) await this.#queue.waitForSpace()
        await this.#budget.yieldIfSpent()
        if (this.#isClosed) return
        this.#enqueue(source, object, 'LISTED')
      }
    }
    if (source.replaysDeletions === true) await this.#replayDeletions(source)
  }

  async #replayDeletions(source: Source): Promise<void> {
    const { store } = this.#parts.engine
    const until = store.revision
    for (let after = store.compacted; after < until; ) {
      const { changes, upTo } = store.history({ resource: source.resource, namespace: source.namespace, after, limit: historyPageSize })
      for (const { value, previous } of changes)
        if (value === undefined && previous !== undefined) this.#enqueue(source, new StoredObject(previous), 'DELETED')
      await this.#budget.nextTurn()
      if (this.#isClosed) return
      // Skip history that was compacted meanwhile.
      after = Math.max(upTo, store.compacted)
    }
  }

  #retryList(error: unknown): void {
    if (this.#isClosed) return
    this.#parts.logger.warn({ controller: this.#plan.name, error, retryMs: listRetryMs }, 'controller cannot list its objects; retrying')
    this.#unlisted.clear()
    this.#listAfter(listRetryMs)
  }

  #listAfter(ms: number): void {
    if (this.#isClosed) return
    if (ms <= 0) {
      this.#listAll()
      return
    }
    const atMs = this.#timers.now() + ms
    if (this.#nextList !== undefined && this.#nextList.atMs <= atMs) return
    this.#nextList?.cancel()
    this.#nextList = { atMs, cancel: this.#timers.after(ms, () => this.#listAll()) }
  }

  get #isClosed(): boolean {
    return this.#stop.signal.aborted
  }

  #logFailure(key: string, thrown: unknown, retryMs: number, isNewFailure: boolean): void {
    if (this.#isClosed) return
    const { logger } = this.#parts
    const fields = { controller: this.#plan.name, key, error: thrown, retryMs: Math.round(retryMs) }
    if (thrown instanceof ApiError && thrown.status.code === 409) logger.debug(fields, 'conflict; retrying')
    else if (!isNewFailure) logger.debug(fields, 'controller failed again; retrying')
    else logger.warn(fields, 'controller failed; retrying')
  }
}

const listRetryMs = 5000
const historyPageSize = 200

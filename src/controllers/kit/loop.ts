// The kit of every loop: what is stored and what changes become keys in a queue, and one function works on a key until it is as wanted.
//
// A loop keeps no copy of objects: a key says where to look, and the store is in the process. It costs nothing while nothing changes.

import { ApiError } from '../../api/api-error.js'
import type { Catalog } from '../../api/catalog.js'
import type { CatalogSource } from '../../api/catalog-source.js'
import type { Logger } from '../../base/logger.js'
import { type PieceClock, SharedPieces, sharedPieces } from '../../base/pieces.js'
import type { Matcher } from '../../objects/selection.js'
import { StoredObject } from '../../objects/stored-object.js'
import type { EventType } from '../../objects/watch-events.js'
import type { Engine } from '../../verbs/engine.js'
import type { Loop } from '../leader-election.js'
import { LoopCounters } from './counters.js'
import { newEnding } from './ending.js'
import { type BackOff, KeyedQueue, type Outcome } from './keyed-queue.js'
import { pagesOf, type Range } from './pages.js'
import { systemTimers, type Timers } from './timers.js'

/** What a loop is made of and with. */
export interface LoopParts {
  readonly engine: Engine
  readonly catalogs: Pick<CatalogSource, 'current' | 'onChange'>
  readonly logger: Logger
  readonly counters?: LoopCounters
  readonly timers?: Timers
}

/** A kind, or what it holds of one namespace, whose objects and changes concern the loop. */
export interface Source extends Range {
  /** Which objects are looked at, without decoding them if that can be; left out: all. */
  readonly matches?: Matcher
  /** The key that an object, listed or changed, means work on; undefined: none. */
  readonly keyOf: (object: StoredObject, seen: Seen) => string | Later | undefined
  /** Only changes concern the loop: what is there already does not. */
  readonly onlyChanges?: boolean
  /** What was removed before the loop began, and is still in the history, is told of as well: who led before may not have come to it. */
  readonly pastRemovals?: boolean
}

export type Seen = EventType | 'LISTED'

/** A key that is worked on after a while. */
export interface Later {
  readonly key: string
  readonly afterMs: number
}

/** What work on a key has besides it. */
export interface Run {
  /** Aborted when the loop is closed: what takes long ends between two steps. */
  readonly signal: AbortSignal
  readonly pieces: PieceClock
}

export interface LoopPlan {
  /** How metrics and the log call it. */
  readonly name: string
  /** Where work comes from, asked again when other kinds are served; empty where the kinds that it is about are not. */
  readonly sources: (catalog: Catalog) => readonly Source[]
  /**
   * Makes what a key stands for as it shall be, from what is stored now. What it throws is logged, and the key comes again. It must bear to be
   * called for nothing, and for keys whose object is gone. A removal that nobody saw is not found by a list: whoever lives by removals also
   * lists what depends on them.
   */
  readonly work: (key: string, run: Run) => Promise<Outcome>
  readonly concurrency?: number
  readonly backOff?: BackOff
  readonly mostKeys?: number
  /** Calls back when something outside of the store changed, so that everything is looked at again, until what it returns is called. */
  readonly onOutsideChange?: (lookAgain: () => void) => () => void
  /** How often everything is looked at again, for what nobody tells of; left out: never. */
  readonly resyncMs?: number
}

interface Watched {
  readonly source: Source
  readonly unwatch: () => void
}

export class KeyedLoop implements Loop {
  readonly #parts: LoopParts
  readonly #plan: LoopPlan
  readonly #timers: Timers
  readonly #pieces: PieceClock
  readonly #queue: KeyedQueue
  readonly #unsubscribe: (() => void)[] = []
  readonly #ending = newEnding()
  #watched: ReadonlyMap<string, Watched> = new Map()
  /** What is to be looked at whole. */
  readonly #unlisted = new Set<Source>()
  #listing: Promise<void> | undefined
  #nextList: { readonly atMs: number; readonly cancel: () => void } | undefined

  constructor(parts: LoopParts, plan: LoopPlan) {
    this.#parts = parts
    this.#plan = plan
    this.#timers = parts.timers ?? systemTimers
    this.#pieces = parts.timers === undefined ? sharedPieces : new SharedPieces(parts.timers.now)
    const run: Run = { signal: this.#ending.signal, pieces: this.#pieces }
    this.#queue = new KeyedQueue({
      ...plan,
      work: (key) => plan.work(key, run),
      onFailure: (...failure) => this.#tell(...failure),
      onOverflow: (afterMs) => this.#listAfter(afterMs),
      counters: (parts.counters ?? new LoopCounters()).of(plan.name),
      timers: this.#timers,
      pieces: this.#pieces,
    })
    this.#follow(parts.catalogs.current)
    this.#unsubscribe.push(parts.catalogs.onChange((current) => this.#follow(current)))
    const unsubscribe = plan.onOutsideChange?.(() => this.#listAfter(0))
    if (unsubscribe !== undefined) this.#unsubscribe.push(unsubscribe)
    if (plan.resyncMs !== undefined) this.#listAfter(plan.resyncMs)
  }

  get isIdle(): boolean {
    return this.#listing === undefined && this.#queue.isIdle
  }

  hurry(withinMs: number): void {
    this.#queue.hurry(withinMs)
  }

  /** Lets nothing start any more, and waits for what runs. */
  async close(): Promise<void> {
    this.#ending.abort()
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    for (const { unwatch } of this.#watched.values()) unwatch()
    this.#nextList?.cancel()
    await Promise.all([this.#queue.close(), this.#listing])
  }

  /** Sources of kinds that are as they were go on; others are watched first and then listed, so that nothing falls between. */
  #follow(catalog: Catalog): void {
    const watched = new Map<string, Watched>()
    for (const source of this.#plan.sources(catalog)) {
      let place = `${source.resource.collection} ${source.namespace}`
      while (watched.has(place)) place += '+'
      const before = this.#watched.get(place)
      if (before?.source.resource === source.resource) watched.set(place, before)
      else {
        watched.set(place, { source, unwatch: this.#watch(source) })
        if (source.onlyChanges !== true) this.#unlisted.add(source)
      }
    }
    for (const [place, { source, unwatch }] of this.#watched) {
      if (watched.get(place)?.source === source) continue
      unwatch()
      this.#unlisted.delete(source)
    }
    this.#watched = watched
    this.#list()
  }

  #watch(source: Source): () => void {
    return this.#parts.engine.store.watch({
      resource: source.resource,
      namespace: source.namespace,
      matches: source.matches,
      deliver: ({ object, type }) => this.#notice(source, object, type),
    })
  }

  #notice(source: Source, object: StoredObject, seen: Seen): void {
    try {
      // What is delivered by a watch was matched by it.
      if (seen === 'LISTED' && source.matches?.(object) === false) return
      const found = source.keyOf(object, seen)
      if (found === undefined) return
      if (typeof found === 'string') this.#queue.add(found)
      else this.#queue.addAfter(found.key, found.afterMs)
    } catch (err) {
      this.#parts.logger.error({ loop: this.#plan.name, key: object.key, err }, 'loop cannot read an object')
    }
  }

  #listAll(): void {
    this.#nextList?.cancel()
    this.#nextList = undefined
    for (const { source } of this.#watched.values()) if (source.onlyChanges !== true) this.#unlisted.add(source)
    this.#list()
    if (this.#plan.resyncMs !== undefined) this.#listAfter(this.#plan.resyncMs)
  }

  #list(): void {
    if (this.#unlisted.size === 0 || this.#isClosed) return
    this.#listing ??= this.#listWhileAsked()
      .catch((err: unknown) => this.#tryToListAgain(err))
      .finally(() => {
        this.#listing = undefined
        this.#list()
      })
  }

  /** What is asked for while it is being looked at is looked at once more. */
  async #listWhileAsked(): Promise<void> {
    await this.#queue.room()
    for (const source of this.#unlisted) {
      this.#unlisted.delete(source)
      await this.#listSource(source)
    }
  }

  /** As quickly as the queue takes it. */
  async #listSource(source: Source): Promise<void> {
    for await (const page of pagesOf(this.#parts.engine.store, source, this.#pieces)) {
      for (const object of page) {
        if (!this.#queue.hasRoom) await this.#queue.room()
        if (this.#pieces.isOver) await this.#pieces.next()
        if (this.#isClosed) return
        this.#notice(source, object, 'LISTED')
      }
    }
    if (source.pastRemovals === true) await this.#recallRemovals(source)
  }

  async #recallRemovals(source: Source): Promise<void> {
    const { store } = this.#parts.engine
    const until = store.revision
    for (let after = store.compacted; after < until; ) {
      const { changes, upTo } = store.history({ resource: source.resource, namespace: source.namespace, after, limit: recalledPage })
      for (const { value, previous } of changes)
        if (value === undefined && previous !== undefined) this.#notice(source, new StoredObject(previous), 'DELETED')
      await this.#pieces.next()
      if (this.#isClosed) return
      // What is forgotten meanwhile is too old to matter.
      after = Math.max(upTo, store.compacted)
    }
  }

  #tryToListAgain(err: unknown): void {
    if (this.#isClosed) return
    this.#parts.logger.warn({ loop: this.#plan.name, err }, 'loop cannot list its objects; retrying')
    this.#unlisted.clear()
    this.#listAfter(listAgainMs)
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
    return this.#ending.signal.aborted
  }

  /** That somebody else was quicker is no news, nor is what was told of the key the last time. */
  #tell(key: string, thrown: unknown, againMs: number, isNews: boolean): void {
    if (this.#isClosed) return
    const { logger } = this.#parts
    const fields = { loop: this.#plan.name, key, err: thrown, againMs: Math.round(againMs) }
    if (thrown instanceof ApiError && thrown.status.code === 409) logger.debug(fields, 'loop met a conflict; retrying')
    else if (!isNews) logger.debug(fields, 'loop failed again; retrying')
    else logger.warn(fields, 'loop failed; retrying')
  }
}

const listAgainMs = 5000
const recalledPage = 200

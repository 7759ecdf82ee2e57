// Deleting an owner deletes what it owns: later (background), before it (foreground), or not at all (orphan).
//
// An index of owners follows every change of every kind that is served; there is no copy of objects and nothing is asked for again and again.
// What the server missed while it did not run, or had no room to remember, is found by going through the headers of all entries.

import { ApiError } from '../../api/api-error.js'
import type { Catalog, Resource } from '../../api/catalog.js'
import { type PieceClock, SharedPieces, sharedPieces } from '../../base/pieces.js'
import { rangeOf } from '../../objects/keys.js'
import type { OwnerIndex } from '../../objects/owner-index.js'
import { LoopCounters } from '../kit/counters.js'
import { KeyedQueue, type Outcome } from '../kit/keyed-queue.js'
import { resourceOfKind } from '../kit/kinds.js'
import type { LoopParts } from '../kit/loop.js'
import { systemTimers, type Timers } from '../kit/timers.js'
import type { Loop } from '../leader-election.js'
import { collect } from './collect.js'
import { eachDependent } from './each-dependent.js'
import { collectedKinds, type Graph, locate } from './graph.js'
import { isSettled } from './owners.js'
import { deleteDependents, letGoUnlessBlocked, orphanDependents, waitsFor } from './release.js'
import { StrayOwners } from './stray-owners.js'

export interface CollectionTimes {
  /**
   * How long after a change something is done about it: whoever deletes an object may still say what shall become of its dependents, and whoever
   * makes an owner and its dependents need not wait for the answer to the first.
   */
  readonly graceMs: number
  /** How long after a dependent of a waiting owner changed the owner is looked at: many change together. */
  readonly gatherMs: number
}

const usualTimes: CollectionTimes = { graceMs: 300, gatherMs: 20 }

/** What a key of the queue is about. */
type Task = 'gone' | 'check' | 'going' | 'unblock'

const mostUnknownKinds = 1000
const concurrency = 4
const retryMs = 5000
/** Between two deletions of the same worker. */
const restMs = 2

export const garbageCollection = (parts: LoopParts, times: CollectionTimes = usualTimes): Loop => new GarbageCollection(parts, times)

class GarbageCollection implements Loop {
  readonly #parts: LoopParts
  readonly #times: CollectionTimes
  readonly #timers: Timers
  readonly #pieces: PieceClock
  readonly #ending = new AbortController()
  readonly #index: OwnerIndex
  readonly #graph: Graph
  readonly #strays: StrayOwners
  readonly #deletions: KeyedQueue
  readonly #orphans: KeyedQueue
  readonly #unsubscribe: () => void
  /** By collection: they stay when a kind is not served any more, for what is left of it. */
  readonly #followed = new Map<string, Resource>()
  /** Followed, and not all of what was there before is in the index. */
  readonly #untaken = new Set<string>()
  /** Taken in and not yet gone through. */
  readonly #unseen = new Set<Resource>()
  /** Kinds of owners that nobody serves. */
  readonly #unknownKinds = new Map<string, readonly [string, string]>()
  /** What ends the rests that are taken now. */
  readonly #resting = new Set<() => void>()
  #scanning: Promise<void> | undefined
  #nextScan: (() => void) | undefined
  /** Resolves when the index knows every dependent: before that nobody can be said to have none. */
  #complete: Promise<void>
  #isComplete = false

  constructor(parts: LoopParts, times: CollectionTimes) {
    this.#parts = parts
    this.#times = times
    this.#timers = parts.timers ?? systemTimers
    this.#pieces = parts.timers === undefined ? sharedPieces : new SharedPieces(parts.timers.now)
    this.#strays = new StrayOwners(parts, () => this.#index, this.#ending.signal)
    this.#deletions = this.#queue('garbage_collector_attempt_to_delete', (key) => this.#work(key))
    this.#orphans = this.#queue('garbage_collector_attempt_to_orphan', (key) => this.#orphan(key))
    this.#index = parts.engine.store.followOwners({
      isFollowed: (collection) => this.#followed.has(collection),
      onOwners: (key) => this.#later('check', key),
      onGone: (uid) => this.#later('gone', uid),
      onGoing: (key) => this.#later('going', key),
      onFault: (key, err) => {
        parts.logger.error({ loop: 'garbagecollector', key, err }, 'loop cannot read the owners of an object')
        this.#scanAllAfter(retryMs)
      },
      onDependent: (key) => this.#deletions.addAfter(taskKey('unblock', key), this.#times.gatherMs),
    })
    this.#graph = {
      engine: parts.engine,
      catalogs: parts.catalogs,
      index: this.#index,
      run: { signal: this.#ending.signal, pieces: this.#pieces },
      rest: () => this.#rest(restMs),
      onStray: (dependent, stray, owners) => this.#strays.note(dependent, stray, owners),
      onUnknownKind: (apiVersion, kind) => this.#noteUnknown(apiVersion, kind),
    }
    this.#complete = this.#followAll()
    this.#unsubscribe = parts.catalogs.onChange(() => {
      this.#complete = this.#complete.then(() => this.#followAll())
    })
  }

  get isIdle(): boolean {
    return this.#isComplete && this.#scanning === undefined && this.#deletions.isIdle && this.#orphans.isIdle
  }

  hurry(withinMs: number): void {
    this.#deletions.hurry(withinMs)
    this.#orphans.hurry(withinMs)
  }

  async close(): Promise<void> {
    this.#ending.abort()
    for (const end of [...this.#resting]) end()
    this.#unsubscribe()
    this.#nextScan?.()
    this.#index.close()
    await Promise.all([this.#complete, this.#deletions.close(), this.#orphans.close(), this.#scanning, this.#strays.close()])
  }

  #queue(name: string, work: (key: string) => Promise<Outcome>): KeyedQueue {
    return new KeyedQueue({
      concurrency,
      work: async (key) => {
        await this.#complete
        return this.#isClosed ? undefined : await work(key)
      },
      onFailure: (key, thrown, againMs) => this.#tell(key, thrown, againMs),
      onOverflow: (afterMs) => this.#scanAllAfter(afterMs),
      counters: (this.#parts.counters ?? new LoopCounters()).of(name),
      timers: this.#timers,
      pieces: this.#pieces,
    })
  }

  #later(task: Task, subject: string): void {
    this.#deletions.addAfter(taskKey(task, subject), this.#times.graceMs)
  }

  async #work(key: string): Promise<Outcome> {
    const at = key.indexOf(' ')
    const subject = key.slice(at + 1)
    switch (key.slice(0, at) as Task) {
      case 'gone':
        await eachDependent(this.#graph, subject, (dependent) => collect(this.#graph, dependent, subject))
        return undefined
      case 'check':
        await collect(this.#graph, subject)
        return undefined
      case 'going':
        if (waitsFor(this.#graph, subject) === 'orphans') this.#orphans.add(subject)
        else await deleteDependents(this.#graph, subject)
        return undefined
      case 'unblock':
        await letGoUnlessBlocked(this.#graph, subject)
        return undefined
    }
  }

  async #orphan(key: string): Promise<Outcome> {
    await orphanDependents(this.#graph, key)
    return waitsFor(this.#graph, key) === 'orphans' ? 'again' : undefined
  }

  /** Nothing is decided before all kinds are taken in. */
  async #followAll(): Promise<void> {
    this.#isComplete = false
    while (!this.#isClosed) {
      try {
        await this.#follow(this.#parts.catalogs.current)
        this.#isComplete = true
        return
      } catch (err) {
        this.#parts.logger.warn({ loop: 'garbagecollector', err }, 'loop cannot read the owners of objects; retrying')
        await this.#rest(retryMs)
      }
    }
  }

  /** Ends early when the loop does. */
  #rest(ms: number): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    return new Promise((resolve) => {
      const end = (): void => {
        cancel()
        this.#resting.delete(end)
        resolve()
      }
      const cancel = this.#timers.after(ms, end)
      this.#resting.add(end)
    })
  }

  /** Takes kinds in that were not served before, and then goes through what they hold. */
  async #follow(catalog: Catalog): Promise<void> {
    for (const [collection, resource] of collectedKinds(catalog)) {
      const before = this.#followed.get(collection)
      // Changes are followed from here on, also while the kind is taken in.
      this.#followed.set(collection, resource)
      if (before === undefined || this.#untaken.has(collection)) await this.#takeIn(collection, resource)
      if (this.#isClosed) return
    }
    if ([...this.#unknownKinds.values()].some(([apiVersion, kind]) => resourceOfKind(catalog, apiVersion, kind) !== undefined)) {
      this.#unknownKinds.clear()
      for (const resource of collectedKinds(catalog).values()) this.#unseen.add(resource)
    }
    this.#scan()
  }

  async #takeIn(collection: string, resource: Resource): Promise<void> {
    this.#untaken.add(collection)
    for (const { owned, going } of this.#index.scan(rangeOf(resource, ''))) {
      if (owned.length + going.length > 0) this.#unseen.add(resource)
      if (this.#pieces.isOver) await this.#pieces.next()
      if (this.#isClosed) return
    }
    this.#untaken.delete(collection)
  }

  #scanAllAfter(ms: number): void {
    if (this.#nextScan !== undefined || this.#isClosed) return
    this.#nextScan = this.#timers.after(Math.max(ms, this.#times.graceMs), () => {
      this.#nextScan = undefined
      for (const resource of this.#followed.values()) this.#unseen.add(resource)
      this.#scan()
    })
  }

  #scan(): void {
    if (this.#unseen.size === 0 || this.#isClosed) return
    this.#scanning ??= this.#scanWhileAsked()
      .catch((err: unknown) => {
        this.#parts.logger.warn({ loop: 'garbagecollector', err }, 'loop cannot go through the owners of objects; retrying')
        this.#scanAllAfter(retryMs)
      })
      .finally(() => {
        this.#scanning = undefined
        this.#scan()
      })
  }

  async #scanWhileAsked(): Promise<void> {
    for (const resource of this.#unseen) {
      this.#unseen.delete(resource)
      for (const { owned, going } of this.#index.scan(rangeOf(resource, ''))) {
        await this.#queueUnsettled(owned)
        for (const key of going) await this.#queueInTime(taskKey('going', key))
        if (this.#isClosed) return
      }
    }
  }

  /** Most objects have their owners, and nothing is to be done for them. */
  async #queueUnsettled(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      if (this.#pieces.isOver) await this.#pieces.next()
      if (this.#isClosed) return
      const dependent = locate(this.#graph, key)
      if (dependent !== undefined && !isSettled(this.#graph, dependent)) await this.#queueInTime(taskKey('check', key))
    }
  }

  /** As quickly as the queue takes it. */
  async #queueInTime(key: string): Promise<void> {
    if (!this.#deletions.hasRoom) await this.#deletions.room()
    this.#deletions.add(key)
  }

  #noteUnknown(apiVersion: string, kind: string): void {
    if (this.#unknownKinds.size < mostUnknownKinds) this.#unknownKinds.set(`${apiVersion} ${kind}`, [apiVersion, kind])
  }

  get #isClosed(): boolean {
    return this.#ending.signal.aborted
  }

  /** That somebody else was quicker is no news. */
  #tell(key: string, thrown: unknown, againMs: number): void {
    if (this.#isClosed) return
    const { logger } = this.#parts
    const fields = { loop: 'garbagecollector', key, err: thrown, againMs: Math.round(againMs) }
    if (thrown instanceof ApiError && thrown.status.code === 409) logger.debug(fields, 'loop met a conflict; retrying')
    else logger.warn(fields, 'loop failed; retrying')
  }
}

const taskKey = (task: Task, subject: string): string => `${task} ${subject}`

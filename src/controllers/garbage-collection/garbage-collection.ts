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
import { newEnding } from '../kit/ending.js'
import { KeyedQueue, type Outcome } from '../kit/keyed-queue.js'
import { lastOfKind, resourceOfKind } from '../kit/kinds.js'
import type { LoopParts } from '../kit/loop.js'
import { systemTimers, type Timers } from '../kit/timers.js'
import type { Loop } from '../leader-election.js'
import { collect } from './collect.js'
import { eachDependent } from './each-dependent.js'
import { NoAnswerError } from './elsewhere/remote-client.js'
import { isElsewhere } from './elsewhere/remote-kinds.js'
import { type Extensions, RemoteObjects } from './elsewhere/remote-objects.js'
import { FollowedKinds } from './followed-kinds.js'
import { type Graph, isCollected, locate } from './graph.js'
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

/** What a key of a queue is about. */
type Task = 'gone' | 'left' | 'check' | 'going' | 'unblock' | 'orphan'

const mostUnknownKinds = 1000
const concurrency = 4
const retryMs = 5000
/** Servers that do not answer keep workers waiting. */
const concurrencyElsewhere = 16
/** Between two deletions of the same worker. */
const restMs = 4

/** `extensions`: who else keeps objects; left out: nobody. */
export const garbageCollection = (parts: LoopParts, times: CollectionTimes = usualTimes, extensions?: Extensions): Loop =>
  new GarbageCollection(parts, times, extensions)

class GarbageCollection implements Loop {
  readonly #parts: LoopParts
  readonly #times: CollectionTimes
  readonly #timers: Timers
  readonly #pieces: PieceClock
  readonly #ending = newEnding()
  readonly #index: OwnerIndex
  readonly #graph: Graph
  readonly #strays: StrayOwners
  readonly #deletions: KeyedQueue
  readonly #orphans: KeyedQueue
  /** Work for which other servers are asked. */
  readonly #elsewhere: KeyedQueue
  readonly #askingGraph: Graph
  readonly #remotes: RemoteObjects | undefined
  readonly #unsubscribe: () => void
  readonly #followed = new FollowedKinds()
  /** Followed, and not all of what was there before is in the index. */
  readonly #untaken = new Set<string>()
  /** Taken in and not yet gone through. */
  readonly #unseen = new Set<Resource>()
  /** Kinds of owners that nobody serves. */
  readonly #unknownKinds = new Map<string, readonly [string, string]>()
  /** What ends the rests that are taken now. */
  readonly #resting = new Set<() => void>()
  #scanning: Promise<void> | undefined
  /** What other servers keep is to be gone through as well. */
  #areRemotesUnseen = false
  #nextScan: (() => void) | undefined
  /** Resolves when the index knows every dependent: before that nobody can be said to have none. */
  #complete: Promise<void>
  #isComplete = false

  constructor(parts: LoopParts, times: CollectionTimes, extensions: Extensions | undefined) {
    this.#parts = parts
    this.#times = times
    this.#timers = parts.timers ?? systemTimers
    this.#pieces = parts.timers === undefined ? sharedPieces : new SharedPieces(parts.timers.now)
    this.#strays = new StrayOwners(parts, () => this.#index, this.#ending.signal)
    this.#deletions = this.#queue('garbage_collector_attempt_to_delete', (key) => this.#work(this.#graph, key))
    this.#orphans = this.#queue('garbage_collector_attempt_to_orphan', (key) => this.#orphan(this.#graph, key))
    this.#elsewhere = this.#queue('garbage_collector_elsewhere', (key) => this.#work(this.#askingGraph, key), concurrencyElsewhere)
    this.#index = parts.engine.store.followOwners({
      isFollowed: (collection) => this.#followed.has(collection),
      onOwners: (key) => this.#later('check', key),
      onGone: (uid) => this.#later('gone', uid),
      onGoing: (key) => this.#later('going', key),
      onFault: (key, err) => {
        parts.logger.error({ loop: 'garbagecollector', key, err }, 'loop cannot read the owners of an object')
        this.#scanAllAfter(retryMs)
      },
      onDependent: (key) => this.#queueFor(key).addAfter(taskKey('unblock', key), this.#times.gatherMs),
    })
    this.#remotes = extensions && this.#followOthers(extensions)
    this.#graph = {
      engine: parts.engine,
      catalogs: parts.catalogs,
      index: this.#index,
      remotes: this.#remotes,
      asksOthers: false,
      run: { signal: this.#ending.signal, pieces: this.#pieces },
      rest: () => this.#rest(restMs),
      onStray: (dependent, stray, owners) => this.#strays.note(dependent, stray, owners),
      onceServed: (apiVersion, kind) => lastOfKind(this.#followed.all(), apiVersion, kind),
      onUnknownKind: (apiVersion, kind) => this.#noteUnknown(apiVersion, kind),
      onElsewhere: (task, key) => this.#elsewhere.add(taskKey(task, key)),
    }
    this.#askingGraph = { ...this.#graph, asksOthers: true }
    this.#complete = this.#followAll()
    this.#unsubscribe = parts.catalogs.onChange(() => {
      this.#complete = this.#complete.then(() => this.#followAll())
    })
  }

  get isIdle(): boolean {
    const areIdle = [this.#deletions, this.#orphans, this.#elsewhere].every(({ isIdle }) => isIdle)
    return this.#isComplete && this.#scanning === undefined && areIdle
  }

  hurry(withinMs: number): void {
    this.#deletions.hurry(withinMs)
    this.#orphans.hurry(withinMs)
    this.#elsewhere.hurry(withinMs)
  }

  async close(): Promise<void> {
    this.#ending.abort()
    for (const end of [...this.#resting]) end()
    this.#unsubscribe()
    this.#nextScan?.()
    const remotes = this.#remotes?.close()
    this.#index.close()
    const queues = [this.#deletions, this.#orphans, this.#elsewhere].map((queue) => queue.close())
    await Promise.all([this.#complete, ...queues, this.#scanning, this.#strays.close(), remotes])
  }

  #followOthers(extensions: Extensions): RemoteObjects {
    return new RemoteObjects({
      ...this.#parts,
      extensions,
      index: () => this.#index,
      pieces: this.#pieces,
      now: this.#timers.now,
      after: (ms, run) => this.#timers.after(ms, run),
      listener: {
        onOwners: (key) => this.#later('check', key),
        // Others may be wrong about who is gone: each dependent is looked at.
        onGone: (uid) => this.#later('left', uid),
        onGoing: (key) => this.#later('going', key),
        onKnown: () => {
          this.#areRemotesUnseen = true
          // Owners of these kinds were not known before.
          this.#scanForKnown()
        },
        onLost: (apiVersion, kind) => this.#noteUnknown(apiVersion, kind),
        onBack: () => this.#elsewhere.hurry(Number.POSITIVE_INFINITY),
      },
    })
  }

  /** Work on what lies elsewhere has a queue of its own. */
  #queueFor(subject: string): KeyedQueue {
    return isElsewhere(subject) ? this.#elsewhere : this.#deletions
  }

  #queue(name: string, work: (key: string) => Promise<Outcome>, width = concurrency): KeyedQueue {
    return new KeyedQueue({
      concurrency: width,
      work: async (key) => {
        await this.#complete
        return this.#isClosed ? undefined : await work(key)
      },
      onFailure: (...failure) => this.#tell(...failure),
      onOverflow: (afterMs) => this.#scanAllAfter(afterMs),
      counters: (this.#parts.counters ?? new LoopCounters()).of(name),
      timers: this.#timers,
      pieces: this.#pieces,
    })
  }

  #later(task: Task, subject: string): void {
    this.#queueFor(subject).addAfter(taskKey(task, subject), this.#times.graceMs)
  }

  async #work(graph: Graph, key: string): Promise<Outcome> {
    const at = key.indexOf(' ')
    const subject = key.slice(at + 1)
    switch (key.slice(0, at) as Task) {
      case 'gone':
        await eachDependent(graph, subject, (dependent) => collect(graph, dependent, subject))
        return undefined
      case 'left':
        await eachDependent(graph, subject, (dependent) => collect(graph, dependent))
        return undefined
      case 'check':
        await collect(graph, subject)
        return undefined
      case 'going':
        if (waitsFor(graph, subject) !== 'orphans') await deleteDependents(graph, subject)
        else if (isElsewhere(subject)) return await this.#orphan(graph, subject)
        else this.#orphans.add(subject)
        return undefined
      case 'unblock':
        await letGoUnlessBlocked(graph, subject)
        return undefined
      case 'orphan':
        return await this.#orphan(graph, subject)
    }
  }

  async #orphan(graph: Graph, key: string): Promise<Outcome> {
    await orphanDependents(graph, key)
    return waitsFor(graph, key) === 'orphans' ? 'again' : undefined
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
    for (const resource of catalog.collections()) {
      if (this.#pieces.isOver) await this.#pieces.next()
      if (!isCollected(resource)) continue
      const { collection } = resource
      // Changes are followed from here on, also while the kind is taken in.
      const isNew = this.#followed.put(resource)
      if (isNew || this.#untaken.has(collection)) await this.#takeIn(collection, resource)
      if (this.#isClosed) return
    }
    this.#followed.forgetUnserved(catalog, this.#timers.now(), (resource) => this.#parts.engine.store.count(resource, '') === 0)
    this.#scanForKnown()
  }

  /** Kinds of owners that were not known may be known now: whoever names one is looked at again. */
  #scanForKnown(): void {
    const { current: catalog } = this.#parts.catalogs
    const isKnown = ([apiVersion, kind]: readonly [string, string]): boolean =>
      (resourceOfKind(catalog, apiVersion, kind) ?? this.#remotes?.kindOf(apiVersion, kind)) !== undefined
    if ([...this.#unknownKinds.values()].some(isKnown)) {
      this.#unknownKinds.clear()
      for (const resource of catalog.collections()) if (isCollected(resource)) this.#unseen.add(resource)
      this.#areRemotesUnseen = this.#remotes !== undefined
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
      for (const resource of this.#followed.all()) this.#unseen.add(resource)
      this.#areRemotesUnseen = this.#remotes !== undefined
      this.#scan()
    })
  }

  #scan(): void {
    if ((this.#unseen.size === 0 && !this.#areRemotesUnseen) || this.#isClosed) return
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
    if (!this.#areRemotesUnseen) return
    this.#areRemotesUnseen = false
    const concerned = [...(this.#remotes?.concerned() ?? [])]
    await this.#queueUnsettled(concerned)
    for (const key of concerned) if (waitsFor(this.#graph, key) !== undefined) await this.#queueInTime(taskKey('going', key))
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
    const queue = this.#queueFor(key.slice(key.indexOf(' ') + 1))
    if (!queue.hasRoom) await queue.room()
    queue.add(key)
  }

  #noteUnknown(apiVersion: string, kind: string): void {
    if (this.#unknownKinds.size < mostUnknownKinds) this.#unknownKinds.set(`${apiVersion} ${kind}`, [apiVersion, kind])
  }

  get #isClosed(): boolean {
    return this.#ending.signal.aborted
  }

  /** That somebody else was quicker is no news. */
  #tell(key: string, thrown: unknown, againMs: number, isNews: boolean): void {
    if (this.#isClosed) return
    const { logger } = this.#parts
    const fields = { loop: 'garbagecollector', key, err: thrown, againMs: Math.round(againMs) }
    if (thrown instanceof ApiError && thrown.status.code === 409) logger.debug(fields, 'loop met a conflict; retrying')
    // That is told with the API service, and there may be thousands of objects.
    else if (thrown instanceof NoAnswerError) logger.debug(fields, 'loop waits for another server; retrying')
    else if (!isNews) logger.debug(fields, 'loop failed again; retrying')
    else logger.warn(fields, 'loop failed; retrying')
  }
}

const taskKey = (task: Task, subject: string): string => `${task} ${subject}`

// Garbage collector: an owner index follows all kinds with delete, list and watch, except events; a start or queue overflow scans them.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { systemTimers, type Timers } from '@cluster-apiserver/api/base/clock.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { rangeOf } from '../../objects/object-keys.js'
import type { OwnerIndex } from '../../objects/owner-index.js'
import type { ControllerParts } from '../framework/controller.js'
import { lastOfKind, resourceOfKind } from '../framework/find-resource.js'
import { ControllerCounters } from '../framework/queue-metrics.js'
import { budgetOf, newAbortController } from '../framework/timers.js'
import { type Outcome, WorkQueue } from '../framework/work-queue.js'
import type { Controller } from '../leader-election/leader-election.js'
import { collect } from './collect-object.js'
import { CrossNamespaceOwners } from './cross-namespace-owners.js'
import { deleteDependents, orphanDependents, removeForegroundFinalizer, waitsFor } from './deletion-propagation.js'
import { forEachDependent, type Graph, isCollected, locate } from './owner-graph.js'
import { hasAllOwners } from './owner-state.js'
import { RemoteUnavailableError } from './remote-groups/remote-client.js'
import { isRemoteKey } from './remote-groups/remote-kinds.js'
import { type Extensions, RemoteObjects } from './remote-groups/remote-objects.js'

interface CollectionTimes {
  /** Delay after a change, in which clients may still set the propagation policy or create dependents. */
  readonly graceMs: number
  /** Delay between a change of a dependent and the check of its waiting owner, because many change together. */
  readonly batchMs: number
}

const defaultTimes: CollectionTimes = { graceMs: 300, batchMs: 20 }

/** Work on the uid of an owner (`deleted`; `lost` if an extension API server reports the deletion), or on the key of an object. */
type Task = 'deleted' | 'lost' | 'check' | 'terminating' | 'unblock' | 'orphan'

const maxUnknownKinds = 1000
const concurrency = 4
const retryMs = 5000
/** High, because extension API servers that do not respond occupy workers. */
const remoteConcurrency = 16
const pauseBeforeDependentMs = 4

/** `extensions`: extension API servers, whose objects can be owners and dependents. */
export const garbageCollection = (parts: ControllerParts, times: CollectionTimes = defaultTimes, extensions?: Extensions): Controller =>
  new GarbageCollection(parts, times, extensions)

class GarbageCollection implements Controller {
  readonly #parts: ControllerParts
  readonly #times: CollectionTimes
  readonly #timers: Timers
  readonly #pacing: Timers
  readonly #budget: TurnBudget
  readonly #stop = newAbortController()
  readonly #index: OwnerIndex
  readonly #graph: Graph
  readonly #crossNamespace: CrossNamespaceOwners
  readonly #deletionQueue: WorkQueue
  readonly #orphanQueue: WorkQueue
  readonly #remoteQueue: WorkQueue
  readonly #remoteGraph: Graph
  readonly #remoteObjects: RemoteObjects | undefined
  readonly #unsubscribe: () => void
  readonly #followed = new FollowedKinds()
  readonly #unindexed = new Set<string>()
  readonly #unscanned = new Set<Resource>()
  readonly #unknownKinds = new Map<string, readonly [string, string]>()
  readonly #pausing = new Set<() => void>()
  #scanning: Promise<void> | undefined
  #hasUnscannedRemotes = false
  #nextScan: (() => void) | undefined
  /** Resolves when the index is complete; before that no object is known to have no dependents. */
  #complete: Promise<void>
  #isComplete = false

  constructor(parts: ControllerParts, times: CollectionTimes, extensions: Extensions | undefined) {
    this.#parts = parts
    this.#times = times
    this.#timers = parts.timers ?? systemTimers
    this.#pacing = parts.pacing ?? this.#timers
    this.#budget = budgetOf(parts.pacing ?? parts.timers)
    this.#crossNamespace = new CrossNamespaceOwners(parts, () => this.#index, this.#stop.signal)
    this.#deletionQueue = this.#createQueue('garbage_collector_attempt_to_delete', (key) => this.#work(this.#graph, key))
    this.#orphanQueue = this.#createQueue('garbage_collector_attempt_to_orphan', (key) => this.#orphan(this.#graph, key))
    this.#remoteQueue = this.#createQueue('garbage_collector_elsewhere', (key) => this.#work(this.#remoteGraph, key), remoteConcurrency)
    this.#index = parts.engine.store.followOwners({
      isFollowed: (collection) => this.#followed.has(collection),
      onOwners: (key) => this.#addDelayed('check', key),
      onDeleted: (uid) => this.#addDelayed('deleted', uid),
      onTerminating: (key) => this.#addDelayed('terminating', key),
      onError: (key, error) => {
        parts.logger.error({ controller: 'garbagecollector', key, error }, 'cannot read the owner references of an object; scanning again')
        this.#scanAllAfter(retryMs)
      },
      onDependent: (key) => this.#queueFor(key).addAfter(taskKey('unblock', key), this.#times.batchMs),
    })
    this.#remoteObjects = extensions && this.#followRemotes(extensions)
    this.#graph = {
      engine: parts.engine,
      catalogs: parts.catalogs,
      index: this.#index,
      remotes: this.#remoteObjects,
      mayCallRemote: false,
      run: { signal: this.#stop.signal, budget: this.#budget },
      pause: () => this.#pause(pauseBeforeDependentMs),
      onCrossNamespace: (dependent, reference, owners) => this.#crossNamespace.add(dependent, reference, owners),
      findFormerKind: (apiVersion, kind) => lastOfKind(this.#followed.all(), apiVersion, kind),
      onUnknownKind: (apiVersion, kind) => this.#addUnknownKind(apiVersion, kind),
      onRemote: (task, key) => this.#remoteQueue.add(taskKey(task, key)),
    }
    this.#remoteGraph = { ...this.#graph, mayCallRemote: true }
    this.#complete = this.#followAll()
    this.#unsubscribe = parts.catalogs.onChange(() => {
      this.#complete = this.#complete.then(() => this.#followAll())
    })
  }

  get isIdle(): boolean {
    const areIdle = [this.#deletionQueue, this.#orphanQueue, this.#remoteQueue].every(({ isIdle }) => isIdle)
    return this.#isComplete && this.#scanning === undefined && areIdle
  }

  get busyKeys(): readonly string[] {
    return [this.#deletionQueue, this.#orphanQueue, this.#remoteQueue].flatMap(({ busyKeys }) => busyKeys)
  }

  expedite(withinMs: number): void {
    this.#deletionQueue.expedite(withinMs)
    this.#orphanQueue.expedite(withinMs)
    this.#remoteQueue.expedite(withinMs)
  }

  async close(): Promise<void> {
    this.#stop.abort()
    for (const end of [...this.#pausing]) end()
    this.#unsubscribe()
    this.#nextScan?.()
    const remotes = this.#remoteObjects?.close()
    this.#index.close()
    const queues = [this.#deletionQueue, this.#orphanQueue, this.#remoteQueue].map((queue) => queue.close())
    await Promise.all([this.#complete, ...queues, this.#scanning, this.#crossNamespace.close(), remotes])
  }

  #followRemotes(extensions: Extensions): RemoteObjects {
    return new RemoteObjects({
      ...this.#parts,
      extensions,
      index: () => this.#index,
      budget: this.#budget,
      now: this.#pacing.now,
      after: (ms, run) => this.#pacing.after(ms, run),
      listener: {
        onOwners: (key) => this.#addDelayed('check', key),
        // An extension server may be wrong, so each dependent is checked.
        onDeleted: (uid) => this.#addDelayed('lost', uid),
        onTerminating: (key) => this.#addDelayed('terminating', key),
        onDiscovered: () => {
          this.#hasUnscannedRemotes = true
          this.#scanIfKnown()
        },
        onKindRemoved: (apiVersion, kind) => this.#addUnknownKind(apiVersion, kind),
        onAvailable: () => this.#remoteQueue.expedite(Number.POSITIVE_INFINITY),
      },
    })
  }

  #queueFor(uidOrKey: string): WorkQueue {
    return isRemoteKey(uidOrKey) ? this.#remoteQueue : this.#deletionQueue
  }

  #createQueue(name: string, work: (key: string) => Promise<Outcome>, workers = concurrency): WorkQueue {
    return new WorkQueue({
      concurrency: workers,
      work: async (key) => {
        await this.#complete
        return this.#isClosed ? undefined : await work(key)
      },
      onFailure: (...failure) => this.#logFailure(...failure),
      onOverflow: (afterMs) => this.#scanAllAfter(afterMs),
      counters: (this.#parts.counters ?? new ControllerCounters()).forQueue(name),
      timers: this.#timers,
      maxKeys: this.#parts.maxKeys,
      budget: this.#budget,
    })
  }

  #addDelayed(task: Task, uidOrKey: string): void {
    this.#queueFor(uidOrKey).addAfter(taskKey(task, uidOrKey), this.#times.graceMs)
  }

  async #work(graph: Graph, key: string): Promise<Outcome> {
    const space = key.indexOf(' ')
    const uidOrKey = key.slice(space + 1)
    switch (key.slice(0, space) as Task) {
      case 'deleted':
        await forEachDependent(graph, uidOrKey, (dependent) => collect(graph, dependent, uidOrKey))
        return undefined
      case 'lost':
        await forEachDependent(graph, uidOrKey, (dependent) => collect(graph, dependent))
        return undefined
      case 'check':
        await collect(graph, uidOrKey)
        return undefined
      case 'terminating':
        if (waitsFor(graph, uidOrKey) !== 'orphans') await deleteDependents(graph, uidOrKey)
        else if (isRemoteKey(uidOrKey)) return await this.#orphan(graph, uidOrKey)
        else this.#orphanQueue.add(uidOrKey)
        return undefined
      case 'unblock':
        await removeForegroundFinalizer(graph, uidOrKey)
        return undefined
      case 'orphan':
        return await this.#orphan(graph, uidOrKey)
    }
  }

  async #orphan(graph: Graph, key: string): Promise<Outcome> {
    await orphanDependents(graph, key)
    return waitsFor(graph, key) === 'orphans' ? 'again' : undefined
  }

  /** Work waits until all kinds are indexed. */
  async #followAll(): Promise<void> {
    this.#isComplete = false
    while (!this.#isClosed) {
      try {
        await this.#followKinds(this.#parts.catalogs.current)
        this.#isComplete = true
        return
      } catch (error) {
        this.#parts.logger.warn({ controller: 'garbagecollector', error, retryMs }, 'cannot index owner references; retrying')
        await this.#pause(retryMs)
      }
    }
  }

  #pause(ms: number): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    return new Promise((resolve) => {
      const end = (): void => {
        cancel()
        this.#pausing.delete(end)
        resolve()
      }
      const cancel = this.#pacing.after(ms, end)
      this.#pausing.add(end)
    })
  }

  async #followKinds(catalog: Catalog): Promise<void> {
    for (const resource of catalog.collections()) {
      await this.#budget.yieldIfSpent()
      if (!isCollected(resource)) continue
      const { collection } = resource
      // Changes are followed from now on, also while the kind is indexed.
      const isNew = this.#followed.put(resource)
      if (isNew || this.#unindexed.has(collection)) await this.#indexKind(collection, resource)
      if (this.#isClosed) return
    }
    this.#followed.forgetUnserved(catalog, this.#timers.now(), (resource) => this.#parts.engine.store.count(resource, '') === 0)
    this.#scanIfKnown()
  }

  /** Scans again if a kind of owners that was unknown is served now. */
  #scanIfKnown(): void {
    const { current: catalog } = this.#parts.catalogs
    const isKnown = ([apiVersion, kind]: readonly [string, string]): boolean =>
      (resourceOfKind(catalog, apiVersion, kind) ?? this.#remoteObjects?.kindOf(apiVersion, kind)) !== undefined
    if ([...this.#unknownKinds.values()].some(isKnown)) {
      this.#unknownKinds.clear()
      for (const resource of catalog.collections()) if (isCollected(resource)) this.#unscanned.add(resource)
      this.#hasUnscannedRemotes = this.#remoteObjects !== undefined
    }
    this.#scan()
  }

  async #indexKind(collection: string, resource: Resource): Promise<void> {
    this.#unindexed.add(collection)
    for (const { owned, terminating } of this.#index.scan(rangeOf(resource, ''))) {
      if (owned.length + terminating.length > 0) this.#unscanned.add(resource)
      await this.#budget.yieldIfSpent()
      if (this.#isClosed) return
    }
    this.#unindexed.delete(collection)
  }

  #scanAllAfter(ms: number): void {
    if (this.#nextScan !== undefined || this.#isClosed) return
    this.#nextScan = this.#timers.after(Math.max(ms, this.#times.graceMs), () => {
      this.#nextScan = undefined
      for (const resource of this.#followed.all()) this.#unscanned.add(resource)
      this.#hasUnscannedRemotes = this.#remoteObjects !== undefined
      this.#scan()
    })
  }

  #scan(): void {
    if ((this.#unscanned.size === 0 && !this.#hasUnscannedRemotes) || this.#isClosed) return
    this.#scanning ??= this.#scanUnscanned()
      .catch((error: unknown) => {
        this.#parts.logger.warn({ controller: 'garbagecollector', error, retryMs }, 'cannot scan owner references; retrying')
        this.#scanAllAfter(retryMs)
      })
      .finally(() => {
        this.#scanning = undefined
        this.#scan()
      })
  }

  async #scanUnscanned(): Promise<void> {
    for (const resource of this.#unscanned) {
      this.#unscanned.delete(resource)
      for (const { owned, terminating } of this.#index.scan(rangeOf(resource, ''))) {
        await this.#queueIfOwnersMissing(owned)
        for (const key of terminating) await this.#addWhenSpace(taskKey('terminating', key))
        if (this.#isClosed) return
      }
    }
    if (!this.#hasUnscannedRemotes) return
    this.#hasUnscannedRemotes = false
    const relevantKeys = [...(this.#remoteObjects?.relevantKeys() ?? [])]
    await this.#queueIfOwnersMissing(relevantKeys)
    for (const key of relevantKeys) if (waitsFor(this.#graph, key) !== undefined) await this.#addWhenSpace(taskKey('terminating', key))
  }

  async #queueIfOwnersMissing(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      await this.#budget.yieldIfSpent()
      if (this.#isClosed) return
      const dependent = locate(this.#graph, key)
      if (dependent !== undefined && !hasAllOwners(this.#graph, dependent)) await this.#addWhenSpace(taskKey('check', key))
    }
  }

  async #addWhenSpace(key: string): Promise<void> {
    const queue = this.#queueFor(key.slice(key.indexOf(' ') + 1))
    if (!queue.hasSpace) await queue.waitForSpace()
    queue.add(key)
  }

  #addUnknownKind(apiVersion: string, kind: string): void {
    if (this.#unknownKinds.size < maxUnknownKinds) this.#unknownKinds.set(`${apiVersion} ${kind}`, [apiVersion, kind])
  }

  get #isClosed(): boolean {
    return this.#stop.signal.aborted
  }

  #logFailure(key: string, thrown: unknown, retryMs: number, isNewFailure: boolean): void {
    if (this.#isClosed) return
    const { logger } = this.#parts
    const fields = { controller: 'garbagecollector', key, error: thrown, retryMs: Math.round(retryMs) }
    if (thrown instanceof ApiError && thrown.status.code === 409) logger.debug(fields, 'conflict; retrying')
    // Only debug: the status of the APIService reports the outage, and thousands of objects may be affected.
    else if (thrown instanceof RemoteUnavailableError) logger.debug(fields, 'extension API server does not respond; retrying')
    else if (!isNewFailure) logger.debug(fields, 'controller failed again; retrying')
    else logger.warn(fields, 'controller failed; retrying')
  }
}

const taskKey = (task: Task, uidOrKey: string): string => `${task} ${uidOrKey}`

/** Long enough to collect the dependents of the last objects of a removed kind, also after failures. */
const unservedTtlMs = 5 * 60_000

class FollowedKinds {
  readonly #followed = new Map<string, Resource>()
  /** Time since which a followed kind is not served. */
  readonly #unserved = new Map<string, number>()

  has(collection: string): boolean {
    return this.#followed.has(collection)
  }

  put(resource: Resource): boolean {
    const isNew = !this.#followed.has(resource.collection)
    this.#followed.set(resource.collection, resource)
    return isNew
  }

  all(): Iterable<Resource> {
    return this.#followed.values()
  }

  /** `isEmpty`: true if no object of the kind is stored. */
  forgetUnserved(catalog: Catalog, nowMs: number, isEmpty: (resource: Resource) => boolean): void {
    for (const [collection, resource] of this.#followed) {
      if (catalog.inCollection(collection) !== undefined) {
        this.#unserved.delete(collection)
        continue
      }
      const sinceMs = getOrInsert(this.#unserved, collection, () => nowMs)
      if (nowMs - sinceMs < unservedTtlMs || !isEmpty(resource)) continue
      this.#followed.delete(collection)
      this.#unserved.delete(collection)
    }
  }
}

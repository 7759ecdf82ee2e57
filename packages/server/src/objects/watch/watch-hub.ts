// Delivers committed changes: updates the caches, notifies controllers at once, and many clients over several event-loop iterations.
// Changes of one commit are delivered together; watchers of the same range and selection share their events.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { type TurnBudget, turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { isInRange } from '../../storage/collections.js'
import type { Change, KeyRange, Storage, Unfollow } from '../../storage/storage.js'
import type { StoredObject } from '../entry/stored-object.js'
import type { Matcher } from '../list/selection.js'
import { collectionOf } from '../object-keys.js'
import { batchesOf, EventBatch, type WatchEvent, WatchedChange } from './watch-events.js'
import { type ClientWatcher, type WatcherGroup, WatcherIndex } from './watcher-index.js'

/** A controller or another component of the server; after a gap in the changes it gets only the differences. */
export interface InternalWatcher {
  readonly range: KeyRange
  readonly matches: Matcher | undefined
  /** `previous`: the state before the change. */
  readonly deliver: (event: WatchEvent, previous?: StoredObject) => void
  readonly take?: undefined
  readonly resource?: Resource
  /** Called when the hub closes, when watches of the resource are ended, or after a gap in the changes. */
  readonly end?: () => void
  /** Called if `matches` or `deliver` throws. Default: the error is logged. */
  readonly fail?: (thrown: unknown) => void
}

type Watcher = InternalWatcher | ClientWatcher

/** Bytes of changes that wait for clients; above it clients are notified without yielding. */
const maxPendingBytes = 32 << 20
/** Watchers between two checks of the time budget. */
const watchersPerCheck = 8
/** After a change was written to many clients, later ones of its collection wait for about as long as the writes of one process for all would take. */
const pauseMsPerWrite = 0.04
const minPauseMs = 1
const maxPauseMs = 10

export interface WatchHubOptions {
  readonly budget?: TurnBudget
  /** Number of processes among which the clients are spread: with a part of them, each joins as many changes as one with all. */
  readonly processes?: number | undefined
}

export class WatchHub {
  readonly #internal = new Map<string, Set<InternalWatcher>>()
  readonly #clients = new Map<string, WatcherIndex>()
  /** By collection, in the order of their first revisions. */
  readonly #pending = new Map<string, WatchedChange[]>()
  readonly #paused = new Set<string>()
  readonly #budget: TurnBudget
  readonly #processes: number
  readonly #unfollow: Unfollow
  readonly #errors: unknown[] = []
  #pendingBytes = 0
  #isNotifying = false
  #notifyingFrom: number | undefined
  #watchersToEnd = 0
  #revision = 0
  #size = 0

  /** `updateCaches` returns the object before the change, if it is at hand: it may be decoded already. */
  constructor(
    storage: Storage,
    updateCaches: (change: Change) => StoredObject | undefined,
    { budget = turnBudget, processes = 1 }: WatchHubOptions = {},
  ) {
    this.#budget = budget
    this.#processes = processes
    this.#unfollow = storage.follow((changes, hasGap) => {
      const previous = changes.map(updateCaches)
      // Clients must see every change, so their watches end; when they resume they get 410. Controllers only need differences.
      if (hasGap) this.endAll()
      for (const [collection, watchedChanges] of this.#changesByCollection(changes, previous))
        this.#queueChanges(collection, watchedChanges)
      this.#revision = changes.at(-1)?.revision ?? this.#revision
      if (this.#pending.size > 0 && !this.#isNotifying) void this.#notifyClients()
      const [error] = this.#errors
      this.#errors.length = 0
      if (error !== undefined) throw error
    })
  }

  get size(): number {
    return this.#size
  }

  /** Revision up to which all clients were notified, at most `revision`; undefined while watches are being ended. */
  notifiedUpTo(revision: number): number | undefined {
    if (this.#watchersToEnd > 0) return undefined
    const [pending] = this.#pending.values()
    const next = Math.min(this.#notifyingFrom ?? Number.POSITIVE_INFINITY, pending?.[0]?.revision ?? Number.POSITIVE_INFINITY)
    return Math.min(revision, next - 1)
  }

  add(watcher: Watcher): () => void {
    const collection = collectionOf(watcher.range.start)
    const remove = watcher.take === undefined ? this.#addInternal(collection, watcher) : this.#addClient(collection, watcher)
    this.#size++
    let isAdded = true
    return () => {
      if (!isAdded) return
      isAdded = false
      this.#size--
      remove()
    }
  }

  #addInternal(collection: string, watcher: InternalWatcher): () => void {
    const watchers = getOrInsert(this.#internal, collection, () => new Set<InternalWatcher>())
    watchers.add(watcher)
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0 && this.#internal.get(collection) === watchers) this.#internal.delete(collection)
    }
  }

  #addClient(collection: string, watcher: ClientWatcher): () => void {
    const watcherIndex = getOrInsert(this.#clients, collection, () => new WatcherIndex())
    // The watcher has read up to this revision, so it skips the changes that others have yet to get.
    const remove = watcherIndex.add(watcher, this.#revision)
    return () => {
      remove()
      if (watcherIndex.size === 0 && this.#clients.get(collection) === watcherIndex) this.#clients.delete(collection)
    }
  }

  endAll(): void {
    for (const collection of new Set([...this.#internal.keys(), ...this.#clients.keys()])) this.end(collection, () => true)
  }

  /** Ends the watchers of matching resources. Clients get no more events; of internal watchers only `end` is called. */
  end(collection: string, shouldEnd: (resource: Watcher['resource']) => boolean): void {
    const ended = this.#clients.get(collection)?.mute(shouldEnd) ?? []
    this.#watchersToEnd += ended.length
    void this.#endClients(ended)
    for (const { resource, end } of [...(this.#internal.get(collection) ?? [])]) if (shouldEnd(resource)) end?.()
  }

  close(): void {
    this.#unfollow()
    this.#pending.clear()
    for (const watcherIndex of [...this.#clients.values()]) for (const { end } of watcherIndex.mute(() => true)) end()
    for (const watchers of [...this.#internal.values()]) for (const { end } of [...watchers]) end?.()
    this.#internal.clear()
    this.#clients.clear()
  }

  async #endClients(watchers: readonly ClientWatcher[]): Promise<void> {
    for (const { end } of watchers) {
      this.#watchersToEnd--
      try {
        end()
      } catch (thrown) {
        this.#errors.push(thrown)
      }
      if (this.#budget.isSpent) await this.#budget.nextTurn()
    }
  }

  #changesByCollection(changes: readonly Change[], previous: readonly (StoredObject | undefined)[]): Map<string, WatchedChange[]> {
    const found = new Map<string, WatchedChange[]>()
    changes.forEach((change, i) => {
      const collection = collectionOf(change.key)
      if (this.#internal.has(collection) || this.#clients.has(collection))
        getOrInsert(found, collection, () => []).push(new WatchedChange(change, previous[i]))
    })
    return found
  }

  #queueChanges(collection: string, watchedChanges: WatchedChange[]): void {
    for (const watcher of [...(this.#internal.get(collection) ?? [])]) notifyInternal(watcher, watchedChanges, this.#errors)
    if (!this.#clients.has(collection)) return
    const waiting = this.#pending.get(collection)
    if (waiting === undefined) this.#pending.set(collection, watchedChanges)
    else for (const watchedChange of watchedChanges) waiting.push(watchedChange)
    for (const { size } of watchedChanges) this.#pendingBytes += size
  }

  /** Notifies clients of pending changes within the time budget. An error is thrown to the storage, which logs it, at the next change. */
  async #notifyClients(): Promise<void> {
    this.#isNotifying = true
    try {
      for (let next = this.#nextPending(); next !== undefined; next = this.#nextPending()) {
        const [collection, watchedChanges] = next
        this.#pending.delete(collection)
        for (const { size } of watchedChanges) this.#pendingBytes -= size
        this.#notifyingFrom = watchedChanges[0]?.revision
        const watcherIndex = this.#clients.get(collection)
        if (watcherIndex !== undefined) this.#pause(collection, await this.#notifyGroups(watcherIndex, watchedChanges))
      }
    } catch (thrown) {
      this.#errors.push(thrown)
    } finally {
      this.#notifyingFrom = undefined
      this.#isNotifying = false
    }
  }

  #nextPending(): readonly [string, readonly WatchedChange[]] | undefined {
    for (const entry of this.#pending) if (!this.#paused.has(entry[0]) || this.#pendingBytes > maxPendingBytes) return entry
    return undefined
  }

  #pause(collection: string, writes: number): void {
    const pauseMs = Math.min(writes * this.#processes * pauseMsPerWrite, maxPauseMs)
    if (pauseMs < minPauseMs) return
    this.#paused.add(collection)
    setTimeout(() => {
      this.#paused.delete(collection)
      if (!this.#isNotifying) void this.#notifyClients()
    }, pauseMs)
  }

  /** Returns the number of watchers, once for each batch. */
  async #notifyGroups(watcherIndex: WatcherIndex, watchedChanges: readonly WatchedChange[]): Promise<number> {
    let steps = 0
    const last = watchedChanges.at(-1)?.revision ?? 0
    for (const [group, groupChanges] of watcherIndex.groupsFor(watchedChanges)) {
      try {
        for (const batch of batchesOf(eventsFor(group, groupChanges))) {
          for (const [watcher, since] of group.watchers) {
            if (since < last) notifyClient(watcher, batch, since)
            if (++steps % watchersPerCheck === 0 && this.#budget.isSpent && this.#pendingBytes <= maxPendingBytes)
              await this.#budget.nextTurn()
          }
        }
      } catch (thrown) {
        for (const { fail } of [...group.watchers.keys()]) fail(thrown)
      }
    }
    return steps
  }
}

/** An error of one watcher must not affect the others. */
function notifyInternal(watcher: InternalWatcher, watchedChanges: readonly WatchedChange[], errors: unknown[]): void {
  const { range, matches, deliver, fail } = watcher
  try {
    for (const watchedChange of watchedChanges) {
      const event = isInRange(watchedChange.key, range) ? watchedChange.eventFor(matches) : undefined
      if (event !== undefined) deliver(event, watchedChange.before)
    }
  } catch (thrown) {
    if (fail === undefined) errors.push(thrown)
    else fail(thrown)
  }
}

function* eventsFor({ range, matches }: WatcherGroup, watchedChanges: readonly WatchedChange[]): Generator<WatchEvent> {
  for (const watchedChange of watchedChanges) {
    if (!isInRange(watchedChange.key, range)) continue
    const event = watchedChange.eventFor(matches)
    if (event !== undefined) yield event
  }
}

/** Skips events up to `since`, which the watcher has already seen. */
function notifyClient(watcher: ClientWatcher, batch: EventBatch, since: number): void {
  try {
    const { events } = batch
    if (since < (events[0] as WatchEvent).revision) watcher.take(batch)
    else {
      const later = events.filter(({ revision }) => revision > since)
      if (later.length > 0) watcher.take(new EventBatch(later))
    }
  } catch (thrown) {
    watcher.fail(thrown)
  }
}

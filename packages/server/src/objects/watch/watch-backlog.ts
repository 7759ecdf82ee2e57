// Events that wait for slow watchers, in queues and connections: one byte limit for all watchers; shared events count once.

import { type TurnBudget, turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { WatchEvent } from './watch-events.js'

/** An unsent buffer, which several watchers may share, and its size, computed lazily. */
export type UnsentBuffer = readonly [buffer: object, bytes: number | (() => number)]

export interface SlowWatcher {
  endTooSlow(): void
  unsent?(): Iterable<UnsentBuffer>
}

/** Cost of the stored value and of the encoded frame. */
const costOf = (event: WatchEvent): number => 2 * event.object.size + 256

/** Interval of measurements. A connection counts if it has sent nothing between two of them. */
const measureMs = 250

/** Larger events are shared by all watchers that replay or list them at the same time. */
const sharedFromBytes = 16 << 10
const maxSharedEvents = 1_000

export class WatchBacklog {
  readonly #maxBytes: number
  readonly #budget: TurnBudget
  readonly #slowWatchers = new Set<SlowWatcher>()
  readonly #stalled = new Map<SlowWatcher, number>()
  readonly #shared = new Map<string, WeakRef<WatchEvent>>()
  #measuring: NodeJS.Timeout | undefined
  #queuedBytes = 0
  #unsentBytes = 0
  /** Number of watches that are still sending existing objects or history. */
  replaying = 0

  constructor(maxBytes: number, budget = turnBudget) {
    this.#maxBytes = maxBytes
    this.#budget = budget
  }

  get bytes(): number {
    return this.#queuedBytes + this.#unsentBytes
  }

  get slowWatcherCount(): number {
    return this.#slowWatchers.size
  }

  get stalledCount(): number {
    return this.#stalled.size
  }

  /** Counts queued events. Above the limit, ends the watchers that have been slow for the longest time. */
  add(events: readonly WatchEvent[], watcher: SlowWatcher): void {
    this.#slowWatchers.add(watcher)
    for (const event of events) {
      event.waiting += 1
      if (event.waiting === 1) this.#queuedBytes += costOf(event)
    }
    for (const slowest of this.#slowWatchers) {
      if (this.bytes <= this.#maxBytes) return
      this.#end(slowest)
    }
  }

  release(events: readonly WatchEvent[]): void {
    for (const event of events) {
      event.waiting -= 1
      if (event.waiting === 0) this.#queuedBytes -= costOf(event)
    }
  }

  caughtUp(watcher: SlowWatcher): void {
    this.#slowWatchers.delete(watcher)
  }

  /** Records that the watcher's connection is blocked; called again whenever the connection has sent something. */
  stall(watcher: SlowWatcher): void {
    // Moves to the end of the Map.
    this.#stalled.delete(watcher)
    this.#stalled.set(watcher, 0)
    this.#measuring ??= setInterval(() => this.measure(), measureMs).unref()
  }

  unstall(watcher: SlowWatcher): void {
    this.#stalled.delete(watcher)
  }

  /** Returns the same event of another watcher, if it is large and still referenced; otherwise the given one. */
  share(event: WatchEvent): WatchEvent {
    if (event.object.size < sharedFromBytes) return event
    const key = `${event.type} ${event.revision} ${event.object.key}`
    const shared = this.#shared.get(key)?.deref()
    if (shared !== undefined) return shared
    if (this.#shared.size >= maxSharedEvents) for (const [old, ref] of this.#shared) if (ref.deref() === undefined) this.#shared.delete(old)
    if (this.#shared.size < maxSharedEvents) this.#shared.set(key, new WeakRef(event))
    return event
  }

  /** Counts the unsent bytes of stalled connections, and ends watchers above the limit. */
  measure(): void {
    const counted = new Set<object>()
    this.#unsentBytes = 0
    for (const [watcher, measurements] of this.#stalled) {
      this.#stalled.set(watcher, measurements + 1)
      if (measurements === 0) continue
      this.#unsentBytes += newBytes(watcher, counted)
    }
    void this.#endStalled()
    if (this.#stalled.size === 0) this.close()
  }

  close(): void {
    clearInterval(this.#measuring)
    this.#measuring = undefined
    this.#unsentBytes = 0
  }

  /** Ends stalled watchers, the longest stalled first, until the rest is below the limit. */
  async #endStalled(): Promise<void> {
    for (const watcher of [...this.#stalled.keys()]) {
      if (this.bytes <= this.#maxBytes) return
      // The watcher may have sent something or ended meanwhile.
      if ((this.#stalled.get(watcher) ?? 0) <= 1) continue
      this.#end(watcher)
      if (this.#budget.isSpent) await this.#budget.nextTurn()
    }
  }

  #end(watcher: SlowWatcher): void {
    // Buffers shared with other watchers are counted again by the next measurement.
    if ((this.#stalled.get(watcher) ?? 0) > 1) this.#unsentBytes = Math.max(0, this.#unsentBytes - newBytes(watcher, new Set()))
    this.caughtUp(watcher)
    this.unstall(watcher)
    watcher.endTooSlow()
  }
}

function newBytes(watcher: SlowWatcher, counted: Set<object>): number {
  let bytes = 0
  for (const [buffer, size] of watcher.unsent?.() ?? []) {
    if (counted.has(buffer)) continue
    counted.add(buffer)
    bytes += typeof size === 'number' ? size : size()
  }
  return bytes
}

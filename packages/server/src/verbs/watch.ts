// GET with `watch`: existing objects or history first, then every later change, in order and exactly once.

import { expired } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { maxConvertedObjects } from '@cluster-apiserver/api/api/definition/conversion-webhook.js'
import type { WatchOptions } from '@cluster-apiserver/api/api/options/list-options.js'
import { systemTimers } from '@cluster-apiserver/api/base/clock.js'
import type { StoredObject } from '../objects/entry/stored-object.js'
import { isExpiredRevision } from '../objects/list/list-page.js'
import { type Matcher, matcherOf } from '../objects/list/selection.js'
import type { SlowWatcher, UnsentBuffer } from '../objects/watch/watch-backlog.js'
import { batchesOf, EventBatch, WatchEvent, WatchedChange } from '../objects/watch/watch-events.js'
import { createSelectedOnDemand, type Engine } from './engine.js'
import { scheduleBookmarks } from './watch-bookmarks.js'

/** Writes events to the client. Methods return false if the connection is blocked; the sink calls `resume` when it accepts more. */
export interface WatchSink {
  events(batch: EventBatch): boolean
  bookmark(revision: number): boolean
  /** `too-slow`: the watcher fell too far behind. */
  end(reason: 'done' | 'too-slow'): void
  /** Ends the stream because the next event cannot be read. */
  fail(thrown: unknown): void
  /** Buffers that the client has not taken yet. */
  unsent?(): Iterable<UnsentBuffer>
}

const maxQueuedEvents = 10_000
const changesPerReplayPage = 100

export class Watch implements SlowWatcher {
  private readonly engine: Engine
  private readonly options: WatchOptions
  private readonly matches: Matcher | undefined
  private readonly call: Call
  private sink: WatchSink | undefined
  /** True until existing objects or history are sent. */
  private isReplaying = false
  /** Resumes the replay, which waits for a slow client. */
  private wake: (() => void) | undefined
  private queue: EventBatch[] = []
  private queued = 0
  private isBlocked = false
  /** Everything up to this revision was sent or was not selected. */
  private sentUpTo = 0
  private unsubscribe: (() => void) | undefined
  private cancelTimers: readonly (() => void)[] = []

  constructor(engine: Engine, call: Call, options: WatchOptions) {
    this.engine = engine
    this.call = call
    this.options = options
    this.matches = matcherOf(call.resource, options.selection)
  }

  private get collection(): { readonly resource: Resource; readonly namespace: string } {
    return { resource: this.call.resource, namespace: this.call.namespace }
  }

  /** Waits for the requested resourceVersion. Throws the error that the client gets instead of a stream. */
  async prepare(): Promise<void> {
    const { store } = this.engine
    await createSelectedOnDemand(this.engine, this.call, this.options.selection.fields)
    const { start } = this.options
    if (start.mode === 'most-recent') await store.readIndex(this.call)
    if (start.mode !== 'exact') return
    if (start.resourceVersion < store.compacted) throw expired('The resourceVersion for the provided watch is too old.')
    // A future resourceVersion: waits until it is reached, the request times out or the client disconnects.
    if (start.resourceVersion > store.revision) await store.reach(start.resourceVersion, this.call.caller.signal)
  }

  start(sink: WatchSink, timeoutMs: number): void {
    this.sink = sink
    const { start } = this.options
    // The timeout came before the requested resourceVersion: there is nothing to send.
    if (start.mode === 'exact' && this.engine.store.revision < start.resourceVersion) {
      sink.end('done')
      return
    }
    // Replay and subscription start in the same event-loop iteration, so that no event is lost between them.
    this.sentUpTo = start.mode === 'exact' ? start.resourceVersion : this.engine.store.revision
    const history = start.mode === 'exact' ? this.replay(start.resourceVersion, this.engine.store.revision) : this.existing()
    this.unsubscribe = this.engine.store.watch({
      ...this.collection,
      matches: this.matches,
      selection: this.options.selection,
      take: (batch) => this.take(batch),
      end: () => this.close('done'),
      fail: (thrown) => this.fail(thrown),
    })
    const { timers = systemTimers } = this.engine
    const end = timers.after(timeoutMs, () => this.close('done'))
    const bookmarks = this.options.allowBookmarks ? scheduleBookmarks(timers, timeoutMs, () => this.bookmark()) : []
    this.cancelTimers = [end, ...bookmarks]
    this.isReplaying = true
    void this.sendHistory(history)
  }

  readonly resume = (): void => {
    this.isBlocked = false
    this.engine.store.backlog.unstall(this)
    this.wake?.()
    if (!this.isReplaying) this.sendQueue()
  }

  /** The sink has sent something, but is still blocked. */
  onProgress(): void {
    if (this.unsubscribe !== undefined) this.engine.store.backlog.stall(this)
  }

  unsent(): Iterable<UnsentBuffer> {
    return this.sink?.unsent?.() ?? []
  }

  close(reason?: 'done' | 'too-slow'): void {
    if (this.unsubscribe === undefined) return
    this.unsubscribe()
    this.unsubscribe = undefined
    for (const cancel of this.cancelTimers) cancel()
    this.dequeue(this.queue.length)
    this.engine.store.backlog.unstall(this)
    this.wake?.()
    if (reason !== undefined) this.sink?.end(reason)
  }

  private fail(thrown: unknown): void {
    if (this.unsubscribe === undefined) return
    this.close()
    this.sink?.fail(thrown)
  }

  /** Called by the backlog when too many bytes wait for slow watchers. */
  endTooSlow(): void {
    this.close('too-slow')
  }

  private take(batch: EventBatch): void {
    if (!this.isBlocked && !this.isReplaying && this.queue.length === 0) {
      this.setBlocked(this.sink?.events(batch))
      return
    }
    // The client resumes from its last resourceVersion.
    if (this.queued + batch.events.length > maxQueuedEvents) {
      this.close('too-slow')
      return
    }
    this.queue.push(batch)
    this.queued += batch.events.length
    this.engine.store.backlog.add(batch.events, this)
  }

  private setBlocked(isAccepted: boolean | undefined): void {
    this.isBlocked = isAccepted === false
    if (this.isBlocked && this.unsubscribe !== undefined) this.engine.store.backlog.stall(this)
  }

  private dequeue(count: number): void {
    if (count === 0) return
    const { backlog } = this.engine.store
    for (const { events } of this.queue.splice(0, count)) {
      this.queued -= events.length
      backlog.release(events)
    }
    if (this.queue.length === 0) backlog.caughtUp(this)
  }

  /** Sends history, then the events queued meanwhile. Compacted history ends the watch; the client gets 410 when it resumes. */
  private async sendHistory(history: AsyncIterable<EventBatch>): Promise<void> {
    const { backlog, counters } = this.engine.store
    const counter = counters.of(this.call.resource.collection)
    backlog.replaying++
    try {
      for await (const batch of history) {
        if (this.unsubscribe === undefined) return
        counter.initEvents += batch.events.length
        this.setBlocked(this.sink?.events(batch))
        if (this.isBlocked) await this.waitForSink()
      }
      this.isReplaying = false
      this.sendQueue()
    } catch (thrown) {
      if (isExpiredRevision(thrown)) this.close('too-slow')
      else this.fail(thrown)
    } finally {
      backlog.replaying--
    }
  }

  private waitForSink(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = () => {
        this.wake = undefined
        resolve()
      }
    })
  }

  private sendQueue(): void {
    let sent = 0
    while (!this.isBlocked && sent < this.queue.length) {
      const { batch, count } = this.queuedFrom(sent)
      sent += count
      this.setBlocked(this.sink?.events(batch))
    }
    this.dequeue(sent)
  }

  /** Joins queued batches if a webhook converts, because each batch is one call. */
  private queuedFrom(index: number): { readonly batch: EventBatch; readonly count: number } {
    const first = this.queue[index] as EventBatch
    if (this.call.resource.conversion === undefined) return { batch: first, count: 1 }
    const events = [...first.events]
    let count = 1
    for (; index + count < this.queue.length; count++) {
      const next = this.queue[index + count] as EventBatch
      if (events.length + next.events.length > maxConvertedObjects) break
      events.push(...next.events)
    }
    return { batch: count === 1 ? first : new EventBatch(events), count }
  }

  private bookmark(): void {
    if (this.isBlocked || this.isReplaying || this.queue.length > 0) return
    const { notifiedUpTo } = this.engine.store
    if (notifiedUpTo !== undefined) this.setBlocked(this.sink?.bookmark(Math.max(notifiedUpTo, this.sentUpTo)))
  }

  private existing(): AsyncIterable<EventBatch> {
    const { backlog } = this.engine.store
    return additions(this.engine.store.readInBatches({ ...this.collection, selection: this.options.selection }), (object) =>
      backlog.share(new WatchEvent('ADDED', object)),
    )
  }

  /** `until`: the revision at which this watch subscribed. */
  private async *replay(after: number, until: number): AsyncGenerator<EventBatch> {
    const { store } = this.engine
    for (let position = after; position < until; ) {
      const page = store.history({ ...this.collection, after: position, limit: changesPerReplayPage })
      const events: WatchEvent[] = []
      for (const change of page.changes) {
        if (change.revision > until) break
        const event = new WatchedChange(change).eventFor(this.matches)
        if (event !== undefined) events.push(store.backlog.share(event))
      }
      yield* batchesOf(events)
      position = page.upTo
      if (store.budget.isSpent) await store.budget.nextTurn()
    }
  }
}

async function* additions(
  batches: AsyncIterable<readonly StoredObject[]>,
  added: (object: StoredObject) => WatchEvent,
): AsyncGenerator<EventBatch> {
  for await (const objects of batches) yield* batchesOf(objects.map(added))
}

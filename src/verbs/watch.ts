// GET with `watch`: what is there now if asked for, then every change, in order and once.

import { expired } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import type { Resource } from '../api/catalog.js'
import { mostConvertedObjects } from '../api/conversion.js'
import type { WatchOptions } from '../api/options/list-options.js'
import { timerMs } from '../base/clock.js'
import { Pieces } from '../base/pieces.js'
import { isGone } from '../objects/gone.js'
import type { AwaitedSteps } from '../objects/list-source.js'
import { type Matcher, matcherOf } from '../objects/selection.js'
import type { StoredObject } from '../objects/stored-object.js'
import type { Laggard, UnsentPart, WatchBacklog } from '../objects/watch-backlog.js'
import { batchesOf, EventBatch, type EventStep, Sighting, WatchEvent } from '../objects/watch-events.js'
import type { Engine } from './engine.js'
import { makeSelected } from './on-demand.js'

/** Takes events, several at a time; answers whether it can take more now. A sink that cannot is asked again when it calls `resume`. */
export interface WatchSink {
  events(batch: EventBatch): boolean
  bookmark(revision: number): boolean
  /** The stream ends here: in good order, or because this watcher fell too far behind. */
  end(reason: 'done' | 'too-slow'): void
  /** The stream ends here, because what comes next cannot be read. */
  fail(thrown: unknown): void
  /** What it took and could not send yet. */
  unsent?(): Iterable<UnsentPart>
}

const bookmarkIntervalMs = 60_000
const bookmarkBeforeEndMs = 2_000
/** Events. */
const maxQueued = 10_000
const replayPage = 100

export class Watch implements Laggard {
  private readonly engine: Engine
  private readonly options: WatchOptions
  private readonly matches: Matcher | undefined
  private readonly call: Call
  private sink: WatchSink | undefined
  private source: Iterator<EventBatch | Promise<void> | undefined> | undefined
  private pieces = new Pieces()
  private queue: EventBatch[] = []
  private queued = 0
  private isBlocked = false
  /** Others have their turn before the source is read on. */
  private isPausing = false
  /** Everything up to here has been sent or did not concern this watcher. */
  private sentUpTo = 0
  private stop: (() => void) | undefined
  private timers: NodeJS.Timeout[] = []

  constructor(engine: Engine, call: Call, options: WatchOptions) {
    this.engine = engine
    this.call = call
    this.options = options
    this.matches = matcherOf(call.resource, options.selection)
  }

  private get where(): { readonly resource: Resource; readonly namespace: string } {
    return { resource: this.call.resource, namespace: this.call.namespace }
  }

  /** Checks that the history asked for is kept, and prepares it; throws what the client shall see instead of a stream. */
  prepare(): void | Promise<void> {
    // Whoever waits for an object that is made on demand will see it come.
    const made = makeSelected(this.engine, this.call, this.options.selection.fields)
    return made === undefined ? this.prepareHistory() : made.then(() => this.prepareHistory())
  }

  private prepareHistory(): void | Promise<void> {
    const { start } = this.options
    if (start.mode === 'exact') {
      if (start.resourceVersion <= this.engine.store.revision) return this.checkHistory(start.resourceVersion)
      // A version from the future may come true while the client waits; only its own end ends that.
      return this.engine.store.reach(start.resourceVersion, this.call.caller.signal).then(() => undefined)
    }
    if (start.mode === 'any') return undefined
    const index = this.engine.store.readIndex()
    return index instanceof Promise ? this.call.waitFor(index).then(() => undefined) : undefined
  }

  start(sink: WatchSink, timeoutMs: number): void {
    this.sink = sink
    const { start } = this.options
    // Its time was up before that version came: whatever happens until then is older than what was asked for.
    if (start.mode === 'exact' && this.engine.store.revision < start.resourceVersion) {
      sink.end('done')
      return
    }
    // In one turn: what was, then what comes. Nothing can fall between.
    this.sentUpTo = start.mode === 'exact' ? start.resourceVersion : this.engine.store.revision
    this.pieces = new Pieces()
    this.source = batchesOf(start.mode === 'exact' ? this.replay(start.resourceVersion, this.engine.store.revision) : this.existing())
    this.stop = this.engine.store.watch({
      ...this.where,
      matches: this.matches,
      selection: this.options.selection,
      take: (batch) => this.take(batch),
      end: () => this.close('done'),
      fail: (thrown) => this.fail(thrown),
    })
    this.later(() => this.close('done'), timeoutMs)
    if (this.options.allowBookmarks) {
      this.timers.push(setInterval(() => this.bookmark(), bookmarkIntervalMs).unref())
      if (timeoutMs > bookmarkBeforeEndMs) this.later(() => this.bookmark(), timeoutMs - bookmarkBeforeEndMs)
    }
    this.pump()
  }

  /** The sink can take events again. */
  readonly resume = (): void => {
    this.isBlocked = false
    this.engine.store.backlog.move(this)
    // The piece goes on: a client that takes everything at once gives room in the same turn, again and again.
    this.pump()
  }

  /** The sink cannot take more events yet, though it has sent something. */
  moved(): void {
    if (this.stop !== undefined) this.engine.store.backlog.stall(this)
  }

  unsent(): Iterable<UnsentPart> {
    return this.sink?.unsent?.() ?? []
  }

  close(reason?: 'done' | 'too-slow'): void {
    if (this.stop === undefined) return
    this.stop()
    this.stop = undefined
    for (const timer of this.timers) clearTimeout(timer)
    this.forget(this.queue.length)
    this.engine.store.backlog.move(this)
    this.source = undefined
    if (reason !== undefined) this.sink?.end(reason)
  }

  private fail(thrown: unknown): void {
    if (this.stop === undefined) return
    this.close()
    this.sink?.fail(thrown)
  }

  /** Too much waits for slow watchers, and for this one longest. */
  letGo(): void {
    this.close('too-slow')
  }

  private later(act: () => void, afterMs: number): void {
    this.timers.push(setTimeout(act, timerMs(afterMs)).unref())
  }

  private take(batch: EventBatch): void {
    if (!this.isBlocked && this.source === undefined && this.queue.length === 0) {
      this.after(this.sink?.events(batch))
      return
    }
    // A slow consumer is let go, not waited for: it resumes from its last version.
    if (this.queued + batch.events.length > maxQueued) {
      this.close('too-slow')
      return
    }
    this.queue.push(batch)
    this.queued += batch.events.length
    this.engine.store.backlog.hold(batch.events, this)
  }

  /** Something was given to the sink, which says whether it can take more. */
  private after(hasRoom: boolean | undefined): void {
    this.isBlocked = hasRoom === false
    if (this.isBlocked && this.stop !== undefined) this.engine.store.backlog.stall(this)
  }

  /** The first batches of the queue were sent, or never will be. */
  private forget(count: number): void {
    if (count === 0) return
    const { backlog } = this.engine.store
    for (const { events } of this.queue.splice(0, count)) {
      this.queued -= events.length
      backlog.release(events)
    }
    if (this.queue.length === 0) backlog.caughtUp(this)
  }

  /** History first, then what came meanwhile. */
  private pump(): void {
    while (!this.isBlocked && this.source !== undefined) {
      if (this.isPausing) return
      if (this.pieces.isOver) {
        this.pauseFor(this.pieces.next())
        return
      }
      const next = this.nextOf(this.source)
      if (next.done) this.source = undefined
      else if (next.value instanceof Promise) this.pauseFor(next.value)
      else if (next.value !== undefined) {
        this.engine.store.tallies.of(this.call.resource.collection).initEvents += next.value.events.length
        this.after(this.sink?.events(next.value))
      }
    }
    let sent = 0
    while (!this.isBlocked && sent < this.queue.length) {
      const { batch, count } = this.queuedFrom(sent)
      sent += count
      this.after(this.sink?.events(batch))
    }
    this.forget(sent)
  }

  /** The source is read on after that. */
  private pauseFor(waiting: Promise<void>): void {
    this.isPausing = true
    waiting.then(
      () => {
        this.isPausing = false
        this.pump()
      },
      (thrown: unknown) => this.fail(thrown),
    )
  }

  /** Where somebody else converts, what waits is sent together: each batch is a call. */
  private queuedFrom(place: number): { readonly batch: EventBatch; readonly count: number } {
    const first = this.queue[place] as EventBatch
    if (this.call.resource.conversion === undefined) return { batch: first, count: 1 }
    const events = [...first.events]
    let count = 1
    for (; place + count < this.queue.length; count++) {
      const next = this.queue[place + count] as EventBatch
      if (events.length + next.events.length > mostConvertedObjects) break
      events.push(...next.events)
    }
    return { batch: count === 1 ? first : new EventBatch(events), count }
  }

  /**
   * A client may be so slow that history is forgotten before it was sent: it is let go, and told so when it comes again. Whatever else
   * cannot be read is the end of this watch alone: it happens in turns in which nobody else could take it.
   */
  private nextOf(source: NonNullable<Watch['source']>): IteratorResult<EventBatch | Promise<void> | undefined, unknown> {
    try {
      return source.next()
    } catch (thrown) {
      if (isGone(thrown)) this.close('too-slow')
      else this.fail(thrown)
      return { done: true, value: undefined }
    }
  }

  private bookmark(): void {
    if (this.isBlocked || this.source !== undefined || this.queue.length > 0) return
    const { toldUpTo } = this.engine.store
    if (toldUpTo !== undefined) this.after(this.sink?.bookmark(Math.max(toldUpTo, this.sentUpTo)))
  }

  private checkHistory(after: number): void {
    if (after < this.engine.store.compacted) throw expired('The resourceVersion for the provided watch is too old.')
  }

  /** What is there at this moment. */
  private existing(): Iterable<EventStep> {
    return additions(this.engine.store.lookAhead({ ...this.where, selection: this.options.selection }), this.engine.store.backlog)
  }

  /** What happened between the version asked for and `until`, the moment at which this watch began to follow. */
  private *replay(after: number, until: number): Generator<WatchEvent | undefined> {
    for (let position = after; position < until; ) {
      const page = this.engine.store.history({ ...this.where, after: position, limit: replayPage })
      for (const change of page.changes) {
        if (change.revision > until) return
        const event = new Sighting(change).eventFor(this.matches)
        if (event !== undefined) yield this.engine.store.backlog.share(event)
      }
      position = page.upTo
      yield undefined
    }
  }
}

function* additions(objects: AwaitedSteps<StoredObject>, backlog: WatchBacklog): Generator<EventStep> {
  for (const object of objects)
    yield object === undefined || object instanceof Promise ? object : backlog.share(new WatchEvent('ADDED', object))
}

// What waits for watchers that read too slowly, in queues and in their connections: bounded in bytes for all of them together. What many wait
// for counts once.

import { nowOrInPieces, Pieces } from '../base/pieces.js'
import type { WatchEvent } from './watch-events.js'

/** Something in memory that is not sent yet, and how large it is, which may take a while to find out; several watchers may share it. */
export type UnsentPart = readonly [part: object, bytes: number | (() => number)]

/** Somebody with events in store; `letGo` ends it and releases them. */
export interface Laggard {
  letGo(): void
  /** What was handed to its connection and has not left. */
  unsent?(): Iterable<UnsentPart>
}

/** The value as it is stored, and the frame that is made of it. */
const costOf = (event: WatchEvent): number => 2 * event.object.size + 256

/** Watchers whose connections have no room are looked at so often. Whoever took nothing between two looks counts. */
const lookMs = 250

/** Of events that are larger there is one for all who replay or list them at the same time. */
const sharedFromBytes = 16 << 10
const sweepShared = 1_000

export class WatchBacklog {
  readonly #maxBytes: number
  /** In the order in which they fell behind. */
  readonly #laggards = new Set<Laggard>()
  /** Those whose connections have no room, with how often they were seen so. */
  readonly #stuck = new Map<Laggard, number>()
  readonly #shared = new Map<string, WeakRef<WatchEvent>>()
  #looking: NodeJS.Timeout | undefined
  #queuedBytes = 0
  #unsentBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#queuedBytes + this.#unsentBytes
  }

  get laggards(): number {
    return this.#laggards.size
  }

  get stuck(): number {
    return this.#stuck.size
  }

  /** Events wait for somebody. When that is too much, those go first who have waited longest. */
  hold(events: readonly WatchEvent[], by: Laggard): void {
    this.#laggards.add(by)
    for (const event of events) {
      event.waiting += 1
      if (event.waiting === 1) this.#queuedBytes += costOf(event)
    }
    for (const laggard of this.#laggards) {
      if (this.bytes <= this.#maxBytes) return
      this.#end(laggard)
    }
  }

  release(events: readonly WatchEvent[]): void {
    for (const event of events) {
      event.waiting -= 1
      if (event.waiting === 0) this.#queuedBytes -= costOf(event)
    }
  }

  /** Nothing waits for it any more. */
  caughtUp(by: Laggard): void {
    this.#laggards.delete(by)
  }

  /** Its connection has no room, as of now: it has just taken something. */
  stall(by: Laggard): void {
    this.#stuck.delete(by) // it goes to the end of the line
    this.#stuck.set(by, 0)
    this.#looking ??= setInterval(() => this.look(), lookMs).unref()
  }

  /** Its connection has room, or it has gone. */
  move(by: Laggard): void {
    this.#stuck.delete(by)
  }

  /** An event that somebody made for itself, or the same one that somebody else made and still holds. */
  share(event: WatchEvent): WatchEvent {
    if (event.object.size < sharedFromBytes) return event
    const key = `${event.type} ${event.revision} ${event.object.key}`
    const known = this.#shared.get(key)?.deref()
    if (known !== undefined) return known
    if (this.#shared.size >= sweepShared) for (const [old, held] of this.#shared) if (held.deref() === undefined) this.#shared.delete(old)
    if (this.#shared.size < sweepShared) this.#shared.set(key, new WeakRef(event))
    return event
  }

  /** Counts what lies in connections that take nothing, and lets those go that are too much. */
  look(): void {
    const counted = new Set<object>()
    this.#unsentBytes = 0
    for (const [laggard, looks] of this.#stuck) {
      this.#stuck.set(laggard, looks + 1)
      if (looks === 0) continue
      this.#unsentBytes += newBytes(laggard, counted)
    }
    // To let hundreds go takes longer than a piece.
    void nowOrInPieces(this.#shed(), new Pieces())
    if (this.#stuck.size > 0) return
    this.close()
  }

  close(): void {
    clearInterval(this.#looking)
    this.#looking = undefined
    this.#unsentBytes = 0
  }

  /** Those that have taken nothing go one after the other, in the order in which they got stuck, until what is left is little enough. */
  *#shed(): Generator<void> {
    for (const laggard of [...this.#stuck.keys()]) {
      if (this.bytes <= this.#maxBytes) return
      // It may have taken something meanwhile, or may have gone.
      if ((this.#stuck.get(laggard) ?? 0) <= 1) continue
      this.#end(laggard)
      yield
    }
  }

  #end(laggard: Laggard): void {
    // What it shared with others is counted again at the next look.
    if ((this.#stuck.get(laggard) ?? 0) > 1) this.#unsentBytes = Math.max(0, this.#unsentBytes - newBytes(laggard, new Set()))
    this.caughtUp(laggard)
    this.move(laggard)
    laggard.letGo()
  }
}

/** Of what it has not sent: that which is not counted yet. */
function newBytes(laggard: Laggard, counted: Set<object>): number {
  let bytes = 0
  for (const [part, size] of laggard.unsent?.() ?? []) {
    if (counted.has(part)) continue
    counted.add(part)
    bytes += typeof size === 'number' ? size : size()
  }
  return bytes
}

// The one consumer of the store's changes: it keeps caches true and tells every watcher what became of the objects it selects. Changes that
// were committed together are told together, and watchers of the same range and selection share what they are told.
//
// The server's own loops are told at once. Clients are told in pieces where there are many; what is committed meanwhile is told to them together
// afterwards.

import type { Resource } from '../api/catalog.js'
import { getOrInsert } from '../base/get-or-insert.js'
import { nowOrInPieces, SharedPieces } from '../base/pieces.js'
import type { Promised } from '../base/promised.js'
import { isInRange } from '../storage/key-order.js'
import type { Change, KeyRange, Storage, Unfollow } from '../storage/storage.js'
import { type Audience, Audiences, type ClientWatcher } from './audiences.js'
import { collectionOf } from './keys.js'
import type { Matcher } from './selection.js'
import { batchesOf, EventBatch, type EventStep, Sighting, type WatchEvent } from './watch-events.js'

/** A part of the server, which is content with whatever can be told. */
export interface OwnWatcher {
  readonly range: KeyRange
  readonly matches: Matcher | undefined
  /** Called with what the watcher shall see, in order. */
  readonly deliver: (event: WatchEvent) => void
  readonly take?: undefined
  /** What it watches, in which version. */
  readonly resource?: Resource
  /** Called when the server will deliver nothing more, or cannot deliver all. */
  readonly end?: () => void
  /** Called when what it would see cannot be found out. Left out: that is told to the log. */
  readonly fail?: (thrown: unknown) => void
}

export type Watcher = OwnWatcher | ClientWatcher

/** Of changes that clients are not told of yet: beyond it they are told without a pause. */
const mostWaitingBytes = 32 << 20
/** To look at so many changes, or to tell so many watchers, is a step. */
const stepLength = 8

export class WatchHub {
  readonly #own = new Map<string, Set<OwnWatcher>>()
  readonly #clients = new Map<string, Audiences>()
  /** What clients are to be told next, by collection, in the order of their first changes. */
  readonly #waiting = new Map<string, Sighting[]>()
  readonly #pieces = new SharedPieces()
  readonly #unfollow: Unfollow
  readonly #faults: unknown[] = []
  #waitingBytes = 0
  #telling: Generator<undefined, void, void> | undefined
  /** The first revision that some clients may not know of. */
  #tellingFrom: number | undefined
  /** How many watchers were let go and do not know it yet. */
  #leaving = 0
  #revision = 0
  #size = 0

  constructor(storage: Storage, beforeDelivery: (change: Change) => void) {
    this.#unfollow = storage.follow((changes, hasGap) => {
      for (const change of changes) beforeDelivery(change)
      // Clients were promised every change. They go on from their last version, and are told there that history is gone; the server's own
      // loops look at what is, and are content with what differs.
      if (hasGap) this.endAll()
      for (const [collection, sightings] of this.#sightingsOf(changes)) this.#take(collection, sightings)
      this.#revision = changes.at(-1)?.revision ?? this.#revision
      this.#tell()
      const [fault] = this.#faults
      this.#faults.length = 0
      if (fault !== undefined) throw fault
    })
  }

  get size(): number {
    return this.#size
  }

  /** The revision up to which clients know everything that is not on their way; undefined where that is not known of all of them. */
  toldUpTo(revision: number): number | undefined {
    if (this.#leaving > 0) return undefined
    return this.#tellingFrom === undefined ? revision : this.#tellingFrom - 1
  }

  add(watcher: Watcher): () => void {
    const collection = collectionOf(watcher.range.start)
    const remove = watcher.take === undefined ? this.#addOwn(collection, watcher) : this.#addClient(collection, watcher)
    this.#size++
    let isThere = true
    return () => {
      if (!isThere) return
      isThere = false
      this.#size--
      remove()
    }
  }

  #addOwn(collection: string, watcher: OwnWatcher): () => void {
    const watchers = getOrInsert(this.#own, collection, () => new Set<OwnWatcher>())
    watchers.add(watcher)
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0 && this.#own.get(collection) === watchers) this.#own.delete(collection)
    }
  }

  #addClient(collection: string, watcher: ClientWatcher): () => void {
    const audiences = getOrInsert(this.#clients, collection, () => new Audiences())
    // What is being told at this moment the watcher knows already.
    const remove = audiences.add(watcher, this.#telling === undefined ? 0 : this.#revision)
    return () => {
      remove()
      if (audiences.size === 0 && this.#clients.get(collection) === audiences) this.#clients.delete(collection)
    }
  }

  /** Lets every watcher go; others may still come. */
  endAll(): void {
    for (const collection of new Set([...this.#own.keys(), ...this.#clients.keys()])) this.end(collection, () => true)
  }

  /** Lets those watchers of one collection go who watch what is over. They are told nothing more. */
  end(collection: string, isOver: (resource: Watcher['resource']) => boolean): void {
    const gone = this.#clients.get(collection)?.silence(isOver) ?? []
    this.#leaving += gone.length
    this.#noteFaults(nowOrInPieces(this.#letGo(gone), this.#pieces))
    for (const { resource, end } of [...(this.#own.get(collection) ?? [])]) if (isOver(resource)) end?.()
  }

  close(): void {
    this.#unfollow()
    this.#waiting.clear()
    for (const audiences of [...this.#clients.values()]) for (const { end } of audiences.silence(() => true)) end()
    for (const watchers of [...this.#own.values()]) for (const { end } of [...watchers]) end?.()
    this.#own.clear()
    this.#clients.clear()
  }

  *#letGo(watchers: readonly ClientWatcher[]): Generator<undefined, void, void> {
    for (const { end } of watchers) {
      this.#leaving--
      end()
      yield undefined
    }
  }

  /** The changes that somebody may want to see, by collection and in order. */
  #sightingsOf(changes: readonly Change[]): Map<string, Sighting[]> {
    const found = new Map<string, Sighting[]>()
    for (const change of changes) {
      const collection = collectionOf(change.key)
      if (this.#own.has(collection) || this.#clients.has(collection)) getOrInsert(found, collection, () => []).push(new Sighting(change))
    }
    return found
  }

  #take(collection: string, sightings: Sighting[]): void {
    for (const watcher of [...(this.#own.get(collection) ?? [])]) tellOwn(watcher, sightings, this.#faults)
    if (!this.#clients.has(collection)) return
    const waiting = this.#waiting.get(collection)
    if (waiting === undefined) this.#waiting.set(collection, sightings)
    else for (const sighting of sightings) waiting.push(sighting)
    for (const { size } of sightings) this.#waitingBytes += size
  }

  /** Tells clients what waits for them: in this turn as much as there is time for. */
  #tell(): void {
    const running = this.#telling
    if (running !== undefined) {
      if (this.#waitingBytes > mostWaitingBytes) for (const _ of running);
    } else if (this.#waiting.size > 0) {
      this.#telling = this.#tellAll()
      this.#noteFaults(nowOrInPieces(this.#telling, this.#pieces))
    }
  }

  /** What fails between two changes is told to the log with the next of them. */
  #noteFaults(work: Promised<void>): void {
    if (work instanceof Promise) work.catch((thrown: unknown) => this.#faults.push(thrown))
  }

  *#tellAll(): Generator<undefined, void, void> {
    try {
      for (const [collection, sightings] of this.#waiting) {
        this.#waiting.delete(collection)
        for (const { size } of sightings) this.#waitingBytes -= size
        this.#tellingFrom = sightings[0]?.revision
        const audiences = this.#clients.get(collection)
        if (audiences !== undefined) yield* tellClients(audiences, sightings)
      }
    } finally {
      this.#tellingFrom = undefined
      this.#telling = undefined
    }
  }
}

/** A fault in one selection or watcher is theirs alone: all others see everything. */
function tellOwn(watcher: OwnWatcher, sightings: readonly Sighting[], faults: unknown[]): void {
  const { range, matches, deliver, fail } = watcher
  try {
    for (const sighting of sightings) {
      const event = isInRange(sighting.key, range) ? sighting.eventFor(matches) : undefined
      if (event !== undefined) deliver(event)
    }
  } catch (thrown) {
    if (fail === undefined) faults.push(thrown)
    else fail(thrown)
  }
}

function* tellClients(audiences: Audiences, sightings: readonly Sighting[]): Generator<undefined, void, void> {
  let steps = 0
  const last = sightings.at(-1)?.revision ?? 0
  for (const found of audiences.whoMaySee(sightings)) {
    if (++steps % stepLength === 0) yield undefined
    if (found === undefined) continue
    const [audience, seen] = found
    try {
      for (const batch of batchesOf(eventsFor(audience, seen))) {
        if (batch instanceof EventBatch) {
          for (const [watcher, since] of audience.watchers) {
            if (since < last) tellClient(watcher, batch, since)
            if (++steps % stepLength === 0) yield undefined
          }
        } else yield undefined
      }
    } catch (thrown) {
      for (const { fail } of [...audience.watchers.keys()]) fail(thrown)
    }
  }
}

function* eventsFor({ range, matches }: Audience, sightings: readonly Sighting[]): Generator<EventStep> {
  let steps = 0
  for (const sighting of sightings) {
    if (++steps % stepLength === 0) yield undefined
    if (!isInRange(sighting.key, range)) continue
    const event = sighting.eventFor(matches)
    if (event !== undefined) yield event
  }
}

/** Who came after some of the changes knows them. */
function tellClient(watcher: ClientWatcher, batch: EventBatch, since: number): void {
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

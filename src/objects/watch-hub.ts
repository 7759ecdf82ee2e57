// The one consumer of the store's changes: it keeps caches true and tells every watcher what became of the objects it selects. Changes that
// were committed together are told together, and watchers of the same range and selection share what they are told.

import type { Resource } from '../api/catalog.js'
import { getOrInsert } from '../base/get-or-insert.js'
import { onceFor } from '../base/once-for.js'
import { isInRange } from '../storage/key-order.js'
import type { Change, KeyRange, Storage, Unfollow } from '../storage/storage.js'
import { collectionOf } from './keys.js'
import { type Matcher, type Selection, selectionKey } from './selection.js'
import { batchesOf, type EventBatch, Sighting, type WatchEvent } from './watch-events.js'

export interface Watcher {
  readonly range: KeyRange
  readonly matches: Matcher | undefined
  /** What `matches` was made of, where others may have the same. */
  readonly selection?: Selection
  /** What it watches, in which version. Its fields may be others when the kind has changed. */
  readonly resource?: Pick<Resource, 'group' | 'version' | 'name'>
  /** Called with what the watcher shall see, in order. */
  readonly deliver: (event: WatchEvent) => void
  /** Called instead, with several of them at a time. */
  readonly take?: (batch: EventBatch) => void
  /** Called when the server will deliver nothing more, or cannot deliver all. Left out: whatever can be told is welcome. */
  readonly end?: () => void
  /** Called when what it would see cannot be found out, and nothing more will be delivered. Left out: that is told to the log. */
  readonly fail?: (thrown: unknown) => void
}

/** Watchers who see the same. */
interface Audience {
  readonly range: KeyRange
  readonly matches: Matcher | undefined
  readonly watchers: Set<Watcher>
}

export class WatchHub {
  /** By collection, then by what is seen of it. */
  private readonly audiences = new Map<string, Map<unknown, Audience>>()
  private readonly unfollow: Unfollow

  constructor(storage: Storage, beforeDelivery: (change: Change) => void) {
    this.unfollow = storage.follow((changes, hasGap) => {
      for (const change of changes) beforeDelivery(change)
      // Clients were promised every change. They go on from their last version, and are told there that history is gone; the server's own
      // loops look at what is, and are content with what differs.
      if (hasGap) this.endAll()
      const faults: unknown[] = []
      for (const [collection, sightings] of this.sightingsOf(changes)) this.deliver(collection, sightings, faults)
      if (faults.length > 0) throw faults[0]
    })
  }

  get size(): number {
    let total = 0
    for (const audiences of this.audiences.values()) for (const { watchers } of audiences.values()) total += watchers.size
    return total
  }

  add(watcher: Watcher): () => void {
    const collection = collectionOf(watcher.range.start)
    const audiences = getOrInsert(this.audiences, collection, () => new Map<unknown, Audience>())
    const key = audienceKey(watcher)
    const { range, matches } = watcher
    const { watchers } = getOrInsert(audiences, key, () => ({ range, matches, watchers: new Set<Watcher>() }))
    watchers.add(watcher)
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0 && audiences.get(key)?.watchers === watchers) audiences.delete(key)
      if (audiences.size === 0 && this.audiences.get(collection) === audiences) this.audiences.delete(collection)
    }
  }

  /** Lets every watcher go; others may still come. */
  endAll(): void {
    for (const audiences of [...this.audiences.values()])
      for (const { watchers } of [...audiences.values()]) for (const watcher of [...watchers]) watcher.end?.()
  }

  /** Lets those watchers of one collection go who watch what is over. */
  end(collection: string, isOver: (resource: Watcher['resource']) => boolean): void {
    for (const { watchers } of [...(this.audiences.get(collection)?.values() ?? [])])
      for (const watcher of [...watchers]) if (isOver(watcher.resource)) watcher.end?.()
  }

  close(): void {
    this.endAll()
    this.unfollow()
    this.audiences.clear()
  }

  /** The changes that somebody may want to see, by collection and in order. */
  private sightingsOf(changes: readonly Change[]): Map<string, Sighting[]> {
    const found = new Map<string, Sighting[]>()
    for (const change of changes) {
      const collection = collectionOf(change.key)
      if (this.audiences.has(collection)) getOrInsert(found, collection, () => []).push(new Sighting(change))
    }
    return found
  }

  /** A fault in one selection or watcher is theirs alone: all others see everything. */
  private deliver(collection: string, sightings: readonly Sighting[], faults: unknown[]): void {
    const audiences = this.audiences.get(collection)
    if (audiences === undefined) return
    for (const audience of audiences.values()) {
      try {
        for (const batch of batchesOf(eventsFor(audience, sightings)))
          for (const watcher of audience.watchers) deliverTo(watcher, batch, faults)
      } catch (thrown) {
        for (const watcher of [...audience.watchers]) fail(watcher, thrown, faults)
      }
    }
  }
}

/** Who has a test of his own, made of nothing that could be compared, is alone. */
const audienceKey = (watcher: Watcher): unknown => {
  const { range, matches, selection, resource } = watcher
  if (matches !== undefined && selection === undefined) return watcher
  const selected = selection === undefined ? '' : selectionKey(selection)
  const whose = selection?.fields === undefined || resource === undefined ? 0 : numberOf(resource)
  return `${range.start}\n${range.end}\n${whose}\n${selected}`
}

let lastNumber = 0
const numberOf = onceFor<object, number>(() => ++lastNumber)

function* eventsFor({ range, matches }: Audience, sightings: readonly Sighting[]): Generator<WatchEvent> {
  for (const sighting of sightings) {
    if (!isInRange(sighting.key, range)) continue
    const event = sighting.eventFor(matches)
    if (event !== undefined) yield event
  }
}

function deliverTo(watcher: Watcher, batch: EventBatch, faults: unknown[]): void {
  try {
    if (watcher.take !== undefined) watcher.take(batch)
    else for (const event of batch.events) watcher.deliver(event)
  } catch (thrown) {
    fail(watcher, thrown, faults)
  }
}

function fail(watcher: Watcher, thrown: unknown, faults: unknown[]): void {
  if (watcher.fail === undefined) faults.push(thrown)
  else watcher.fail(thrown)
}

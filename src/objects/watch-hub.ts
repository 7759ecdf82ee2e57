// The one consumer of the store's changes: it keeps caches true and tells every watcher what became of the objects it selects.

import { getOrInsert } from '../base/get-or-insert.js'
import { comparisonOf } from '../base/text-order.js'
import type { WireForm } from '../codec/wire-form.js'
import type { Change, KeyRange, Storage, Unfollow } from '../storage/storage.js'
import { collectionOf } from './keys.js'
import type { Matcher } from './selection.js'
import { StoredObject } from './stored-object.js'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** What a watcher sees of a change. Events of one change are shared by all watchers, and so are their rendered bytes. */
export class WatchEvent {
  readonly type: EventType
  readonly object: StoredObject
  /** How many watchers it waits for: see watch-backlog. */
  waiting = 0
  private made: Map<object, Uint8Array> | undefined

  constructor(type: EventType, object: StoredObject) {
    this.type = type
    this.object = object
  }

  get revision(): number {
    return this.object.revision
  }

  /** Made once for all who want it in this form. */
  frame(form: WireForm): Uint8Array {
    return this.once(form, () => form.frame(this.type, this.object))
  }

  /** What one watcher made of this event, for all that want the same; `form` stands for what it is. */
  once(form: object, make: () => Uint8Array): Uint8Array {
    this.made ??= new Map()
    return getOrInsert(this.made, form, make)
  }
}

export interface Watcher {
  readonly range: KeyRange
  readonly matches: Matcher | undefined
  /** Called with what the watcher shall see, in order. */
  readonly deliver: (event: WatchEvent) => void
  /** Called when the server will deliver nothing more, or cannot deliver all. Left out: whatever can be told is welcome. */
  readonly end?: () => void
}

export class WatchHub {
  private readonly watchers = new Map<string, Set<Watcher>>()
  private readonly unfollow: Unfollow

  constructor(storage: Storage, beforeDelivery: (change: Change) => void) {
    this.unfollow = storage.follow((changes, hasGap) => {
      for (const change of changes) beforeDelivery(change)
      // Clients were promised every change. They go on from their last version, and are told there that history is gone; the server's own
      // loops look at what is, and are content with what differs.
      if (hasGap) this.endAll()
      for (const change of changes) this.deliver(change)
    })
  }

  get size(): number {
    let total = 0
    for (const group of this.watchers.values()) total += group.size
    return total
  }

  add(watcher: Watcher): () => void {
    const collection = collectionOf(watcher.range.start)
    const group = getOrInsert(this.watchers, collection, () => new Set<Watcher>())
    group.add(watcher)
    return () => {
      group.delete(watcher)
      if (group.size === 0 && this.watchers.get(collection) === group) this.watchers.delete(collection)
    }
  }

  /** Lets every watcher go; others may still come. */
  endAll(): void {
    for (const group of [...this.watchers.values()]) for (const watcher of [...group]) watcher.end?.()
  }

  close(): void {
    this.endAll()
    this.unfollow()
    this.watchers.clear()
  }

  private deliver(change: Change): void {
    const group = this.watchers.get(collectionOf(change.key))
    if (group === undefined) return
    const sighting = new Sighting(change)
    const compare = comparisonOf(change.key)
    for (const watcher of group) {
      if (compare(change.key, watcher.range.start) < 0 || compare(change.key, watcher.range.end) >= 0) continue
      const event = sighting.eventFor(watcher.matches)
      if (event !== undefined) watcher.deliver(event)
    }
  }
}

/** One change as any number of watchers see it: as an addition, a modification or a removal, each made at most once. */
export class Sighting {
  private readonly before: StoredObject | undefined
  private readonly after: StoredObject | undefined
  private readonly change: Change
  private readonly events = new Map<EventType, WatchEvent>()

  constructor(change: Change) {
    this.change = change
    this.before = change.previous === undefined ? undefined : new StoredObject(change.previous)
    this.after =
      change.value === undefined ? undefined : new StoredObject({ key: change.key, revision: change.revision, value: change.value })
  }

  eventFor(matches: Matcher | undefined): WatchEvent | undefined {
    const was = this.before !== undefined && (matches === undefined || matches(this.before))
    const is = this.after !== undefined && (matches === undefined || matches(this.after))
    if (is) return this.event(was ? 'MODIFIED' : 'ADDED')
    return was ? this.event('DELETED') : undefined
  }

  private event(type: EventType): WatchEvent {
    return getOrInsert(this.events, type, () => new WatchEvent(type, this.objectFor(type)))
  }

  /** What is gone is shown as it last was, with the version at which it went. */
  private objectFor(type: EventType): StoredObject {
    if (type !== 'DELETED') return this.after as StoredObject
    return new StoredObject({
      key: this.change.key,
      revision: this.change.revision,
      value: (this.change.previous as { value: Buffer }).value,
    })
  }
}

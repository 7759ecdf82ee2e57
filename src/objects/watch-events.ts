// What watchers see of changes: events, and batches of them that are written at once. Both are made once and shared by all who see the same,
// and so are their bytes.

import type { Resource } from '../api/catalog.js'
import { getOrInsert } from '../base/get-or-insert.js'
import type { ItemForm } from '../codec/item-form.js'
import type { WireForm } from '../codec/wire-form.js'
import type { Change } from '../storage/storage.js'
import { convertAhead } from './convert-ahead.js'
import { type LargeItems, minLargeBytes } from './large-items.js'
import type { Matcher } from './selection.js'
import { StoredObject } from './stored-object.js'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

export class WatchEvent {
  readonly type: EventType
  readonly object: StoredObject
  /** How many watchers it waits for: see watch-backlog. */
  waiting = 0
  #made: Map<object, Uint8Array> | undefined

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

  /** What one watcher made of this event, for all that want the same; `key` stands for what it is. */
  once(key: object, make: () => Uint8Array): Uint8Array {
    this.#made ??= new Map()
    return getOrInsert(this.#made, key, make)
  }

  isMade(key: object): boolean {
    return this.#made?.has(key) === true
  }

  /** The same bytes at another place: what was made before is not held twice. */
  moved(key: object, bytes: Uint8Array): void {
    this.#made?.set(key, bytes)
  }
}

interface Converting {
  readonly waiting: Promise<void>
  /** Those of the batch that are not converted by it. */
  readonly leftOut: ReadonlySet<StoredObject>
}

const noObjects: ReadonlySet<StoredObject> = new Set()

/** Events that follow one another, in the order of their revisions. */
export class EventBatch {
  readonly events: readonly WatchEvent[]
  #joined: Map<object, Uint8Array> | undefined
  #converting: Map<Resource, Converting> | undefined

  constructor(events: readonly WatchEvent[]) {
    this.events = events
  }

  /** Makes the events ready to be shown in a form, once for all who want it; undefined where nothing has to be waited for. */
  ready(form: ItemForm, large: Pick<LargeItems, 'ahead'>): Promise<void> | undefined {
    let waiting: Promise<void>[] | undefined
    /** Objects that need no conversion here: worker threads make their items, or the items are cached. */
    let others: Set<StoredObject> | undefined
    for (const event of this.events) {
      if (event.object.size < minLargeBytes) continue
      const isMade = event.isMade(form)
      const made = isMade ? undefined : large.ahead(event.object, form)
      if (made !== undefined) waiting = [...(waiting ?? []), made]
      if (isMade || made !== undefined) others = (others ?? new Set()).add(event.object)
    }
    const converting = form.resource.conversion === undefined ? undefined : this.#converted(form.resource, others ?? noObjects)
    if (waiting === undefined) return converting
    return Promise.all([...waiting, converting]).then(() => undefined)
  }

  /** Who wants another form of the same kind may need some that were left out before. */
  #converted(resource: Resource, others: ReadonlySet<StoredObject>): Promise<void> | undefined {
    const known = this.#converting?.get(resource)
    const wanted = (known === undefined ? this.events.map(({ object }) => object) : [...known.leftOut]).filter(
      (object) => !others.has(object),
    )
    const more = wanted.length === 0 ? undefined : convertAhead(wanted, resource)
    if (more === undefined) return known?.waiting
    const waiting = known === undefined ? more : Promise.all([known.waiting, more]).then(() => undefined)
    const leftOut = known === undefined ? others : new Set([...known.leftOut].filter((object) => others.has(object)))
    this.#converting ??= new Map()
    this.#converting.set(resource, { waiting, leftOut })
    return waiting
  }

  /** All frames in a row. */
  frames(form: WireForm): Uint8Array {
    const made = this.#joined?.get(form)
    if (made !== undefined) return made
    const joined = this.once(form, (event) => event.frame(form))
    if (this.events.length > 1) this.#move(form, joined)
    return joined
  }

  /** What one watcher made of the events, for all that want the same; `key` stands for what it is. */
  once(key: object, make: (event: WatchEvent) => Uint8Array): Uint8Array {
    const [only] = this.events
    if (this.events.length === 1 && only !== undefined) return make(only)
    this.#joined ??= new Map()
    return getOrInsert(this.#joined, key, () => Buffer.concat(this.events.map(make)))
  }

  /** Every event finds its frame where they are joined. */
  #move(form: WireForm, joined: Uint8Array): void {
    let at = 0
    for (const event of this.events) {
      const { length } = event.frame(form)
      event.moved(form, joined.subarray(at, at + length))
      at += length
    }
  }
}

/** A batch is written to every watcher at once, so it is not longer than what a connection has room for. One event may be. */
const mostBatchBytes = 48 << 10

export type EventStep = WatchEvent | Promise<void> | undefined

/** Events in batches, in the same order. */
export function batchesOf(events: Iterable<WatchEvent>): Generator<EventBatch>
/**
 * The same of events that come in steps: undefined stands between two of them, and others may have a turn there; a promise is to be waited for
 * before the next step.
 */
export function batchesOf(events: Iterable<EventStep>): Generator<EventBatch | Promise<void> | undefined>
export function* batchesOf(events: Iterable<EventStep>): Generator<EventBatch | Promise<void> | undefined> {
  let batch: WatchEvent[] = []
  let bytes = 0
  for (const event of events) {
    if (event === undefined || event instanceof Promise) {
      yield event
      continue
    }
    if (batch.length > 0 && bytes + event.object.size > mostBatchBytes) {
      yield new EventBatch(batch)
      batch = []
      bytes = 0
    }
    batch.push(event)
    bytes += event.object.size
  }
  if (batch.length > 0) yield new EventBatch(batch)
}

/** One change as any number of watchers see it: as an addition, a modification or a removal, each made at most once. */
export class Sighting {
  readonly key: string
  private readonly before: StoredObject | undefined
  private readonly after: StoredObject | undefined
  private readonly change: Change
  private readonly events = new Map<EventType, WatchEvent>()

  constructor(change: Change) {
    this.key = change.key
    this.change = change
    this.before = change.previous === undefined ? undefined : new StoredObject(change.previous)
    this.after =
      change.value === undefined ? undefined : new StoredObject({ key: change.key, revision: change.revision, value: change.value })
  }

  get revision(): number {
    return this.change.revision
  }

  /** In bytes. */
  get size(): number {
    return (this.before?.size ?? 0) + (this.after?.size ?? 0)
  }

  /** What it was, and what it is. */
  *sides(): Generator<StoredObject> {
    if (this.before !== undefined) yield this.before
    if (this.after !== undefined) yield this.after
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

// Watch events and batches of them. An event of a change is created once for all watchers, and encoded once per representation.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import type { ItemEncoding } from '@cluster-apiserver/api/codec/item-encoding.js'
import type { ObjectEncoding } from '@cluster-apiserver/api/codec/object-encoding.js'
import type { Change } from '../../storage/storage.js'
import { convertAhead } from '../entry/convert-ahead.js'
import { StoredObject } from '../entry/stored-object.js'
import { type LargeItems, minLargeBytes } from '../list/large-items.js'
import type { Matcher } from '../list/selection.js'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

export class WatchEvent {
  readonly type: EventType
  readonly object: StoredObject
  /** Number of slow watchers that have the event in their queue. */
  waiting = 0
  #encodings: Map<object, Uint8Array> | undefined

  constructor(type: EventType, object: StoredObject) {
    this.type = type
    this.object = object
  }

  get revision(): number {
    return this.object.revision
  }

  frame(encoding: ObjectEncoding): Uint8Array {
    return this.getOrEncode(encoding, () => encoding.frame(this.type, this.object))
  }

  /** Encodes the event once per `key`, which identifies the encoding. */
  getOrEncode(key: object, encode: () => Uint8Array): Uint8Array {
    this.#encodings ??= new Map()
    return getOrInsert(this.#encodings, key, encode)
  }

  isEncoded(key: object): boolean {
    return this.#encodings?.has(key) === true
  }

  /** Replaces the bytes by equal ones in a larger buffer, so that they are not in memory twice. */
  replace(key: object, bytes: Uint8Array): void {
    this.#encodings?.set(key, bytes)
  }
}

interface Converting {
  readonly waiting: Promise<void>
  /** Objects of the batch that this conversion does not include. */
  readonly leftOut: ReadonlySet<StoredObject>
}

const noObjects: ReadonlySet<StoredObject> = new Set()

/** Consecutive events in the order of their revisions. */
export class EventBatch {
  readonly events: readonly WatchEvent[]
  #joined: Map<object, Uint8Array> | undefined
  #converting: Map<Resource, Converting> | undefined

  constructor(events: readonly WatchEvent[]) {
    this.events = events
  }

  /** Starts conversions and encodings in worker threads, once for all watchers. Undefined: nothing to await. */
  prepare(encoding: ItemEncoding, large: Pick<LargeItems, 'prepare'>): Promise<void> | undefined {
    let waiting: Promise<void>[] | undefined
    /** Objects that need no conversion here: encoded in worker threads, or cached. */
    let excluded: Set<StoredObject> | undefined
    for (const event of this.events) {
      if (event.object.size < minLargeBytes) continue
      const isEncoded = event.isEncoded(encoding)
      const preparing = isEncoded ? undefined : large.prepare(event.object, encoding)
      if (preparing !== undefined) waiting = [...(waiting ?? []), preparing]
      if (isEncoded || preparing !== undefined) excluded = (excluded ?? new Set()).add(event.object)
    }
    const converting = encoding.resource.conversion === undefined ? undefined : this.#convert(encoding.resource, excluded ?? noObjects)
    if (waiting === undefined) return converting
    return Promise.all([...waiting, converting]).then(() => undefined)
  }

  /** Converts the objects that earlier calls for other representations left out. */
  #convert(resource: Resource, excluded: ReadonlySet<StoredObject>): Promise<void> | undefined {
    const earlier = this.#converting?.get(resource)
    const version = resource.conversion?.version ?? ''
    const wanted = (earlier === undefined ? this.events.map(({ object }) => object) : [...earlier.leftOut]).filter(
      (object) => !excluded.has(object) && !object.isAvailableIn(resource, version),
    )
    if (wanted.length === 0) return earlier?.waiting
    const conversion = convertAhead(wanted, resource)
    const waiting = earlier === undefined ? conversion : Promise.all([earlier.waiting, conversion]).then(() => undefined)
    const leftOut = earlier === undefined ? excluded : new Set([...earlier.leftOut].filter((object) => excluded.has(object)))
    this.#converting ??= new Map()
    this.#converting.set(resource, { waiting, leftOut })
    return waiting
  }

  frames(encoding: ObjectEncoding): Uint8Array {
    const cached = this.#joined?.get(encoding)
    if (cached !== undefined) return cached
    const joined = this.getOrEncode(encoding, (event) => event.frame(encoding))
    if (this.events.length > 1) this.#shareFrames(encoding, joined)
    return joined
  }

  /** Encodes and joins the events once per `key`. */
  getOrEncode(key: object, encode: (event: WatchEvent) => Uint8Array): Uint8Array {
    const [single] = this.events
    if (this.events.length === 1 && single !== undefined) return encode(single)
    this.#joined ??= new Map()
    return getOrInsert(this.#joined, key, () => Buffer.concat(this.events.map(encode)))
  }

  /** Points the frame of each event into the joined buffer. */
  #shareFrames(encoding: ObjectEncoding, joined: Uint8Array): void {
    let offset = 0
    for (const event of this.events) {
      const { length } = event.frame(encoding)
      event.replace(encoding, joined.subarray(offset, offset + length))
      offset += length
    }
  }
}

/** A batch is one write to a connection, so it must fit into its send buffer. A single event may be larger. */
const maxBatchBytes = 48 << 10

export function* batchesOf(events: Iterable<WatchEvent>): Generator<EventBatch> {
  let batch: WatchEvent[] = []
  let bytes = 0
  for (const event of events) {
    if (batch.length > 0 && bytes + event.object.size > maxBatchBytes) {
      yield new EventBatch(batch)
      batch = []
      bytes = 0
    }
    batch.push(event)
    bytes += event.object.size
  }
  if (batch.length > 0) yield new EventBatch(batch)
}

/** A change as watchers see it: ADDED, MODIFIED or DELETED, depending on their selection; each event is created at most once. */
export class WatchedChange {
  readonly key: string
  readonly before: StoredObject | undefined
  private readonly after: StoredObject | undefined
  private readonly change: Change
  private readonly events = new Map<EventType, WatchEvent>()

  /** `cached`: the object before the change, if it was cached. */
  constructor(change: Change, cached?: StoredObject) {
    const { previous } = change
    this.key = change.key
    this.change = change
    this.before = previous && (cached?.revision === previous.revision ? cached : new StoredObject(previous))
    this.after =
      change.value === undefined ? undefined : new StoredObject({ key: change.key, revision: change.revision, value: change.value })
  }

  get revision(): number {
    return this.change.revision
  }

  get size(): number {
    return (this.before?.size ?? 0) + (this.after?.size ?? 0)
  }

  *states(): Generator<StoredObject> {
    if (this.before !== undefined) yield this.before
    if (this.after !== undefined) yield this.after
  }

  eventFor(matches: Matcher | undefined): WatchEvent | undefined {
    const didMatch = this.before !== undefined && (matches === undefined || matches(this.before))
    const doesMatch = this.after !== undefined && (matches === undefined || matches(this.after))
    if (doesMatch) return this.event(didMatch ? 'MODIFIED' : 'ADDED')
    return didMatch ? this.event('DELETED') : undefined
  }

  private event(type: EventType): WatchEvent {
    return getOrInsert(this.events, type, () => new WatchEvent(type, this.objectFor(type)))
  }

  /** A deleted object has its last state and the resourceVersion of the deletion. */
  private objectFor(type: EventType): StoredObject {
    if (type !== 'DELETED') return this.after as StoredObject
    return new StoredObject({
      key: this.change.key,
      revision: this.change.revision,
      value: (this.change.previous as { value: Buffer }).value,
    })
  }
}

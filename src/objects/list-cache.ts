// Rendered list items, kept as segments of neighbouring objects within a bound on bytes, so that a list that is read again
// costs what it sends. A segment speaks for all keys from `start` to `end`; a change of any key among them drops it.

import type { Entry, KeyRange, Storage } from '../storage/storage.js'
import { collectionOf, keyAfter } from './keys.js'
import { renderedSize, renderInto, StoredObject } from './stored-object.js'

const segmentObjects = 64
const segmentMaxBytes = 512 * 1024
const open = Buffer.from('{')
const close = Buffer.from('},')

interface Segment {
  readonly collection: string
  readonly start: string
  readonly end: string
  readonly keys: readonly string[]
  /** Where item i begins; one more than keys. Every item ends with a comma. */
  readonly offsets: readonly number[]
  readonly bytes: Buffer
}

/** Items of a list, each followed by a comma. */
export interface ListSlice {
  readonly bytes: Buffer
  readonly count: number
  readonly lastKey: string
}

export class ListCache {
  private readonly storage: Storage
  private readonly maxBytes: number
  /** Per collection, sorted by start; they never overlap. */
  private readonly collections = new Map<string, Segment[]>()
  /** All segments, the least recently used first. */
  private readonly recent = new Set<Segment>()
  private heldBytes = 0

  constructor(storage: Storage, maxBytes: number) {
    this.storage = storage
    this.maxBytes = maxBytes
  }

  get bytes(): number {
    return this.heldBytes
  }

  /** The items of a range at the present revision, slice by slice, at most `limit` of them. */
  *slices(range: KeyRange, limit: number): Generator<ListSlice> {
    let cursor = range.start
    let left = limit
    while (left > 0 && cursor < range.end) {
      const segment = this.segmentAt(cursor, range.end)
      const slice = sliceOf(segment, { start: cursor, end: range.end }, left)
      cursor = segment.end
      if (slice === undefined) continue
      left -= slice.count
      yield slice
    }
  }

  /** A key has changed: what was rendered around it is no longer true. */
  drop(key: string): void {
    const segments = this.collections.get(collectionOf(key))
    if (segments === undefined) return
    const at = lastAtOrBefore(segments, key)
    const segment = segments[at]
    if (segment !== undefined && key < segment.end) this.evict(segment, segments, at)
  }

  clear(): void {
    this.collections.clear()
    this.recent.clear()
    this.heldBytes = 0
  }

  private segmentAt(cursor: string, end: string): Segment {
    const collection = collectionOf(cursor)
    const segments = this.collections.get(collection) ?? []
    const at = lastAtOrBefore(segments, cursor)
    const found = segments[at]
    if (found !== undefined && cursor < found.end) {
      this.recent.delete(found)
      this.recent.add(found)
      return found
    }
    const next = segments[at + 1]
    const segment = this.load(collection, { start: cursor, end: next !== undefined && next.start < end ? next.start : end })
    this.keep(segment, segments, at + 1)
    return segment
  }

  private load(collection: string, range: KeyRange): Segment {
    const page = this.storage.range({ ...range, limit: segmentObjects, maxBytes: segmentMaxBytes })
    const offsets = [0]
    for (const entry of page.entries) {
      const size = (offsets.at(-1) ?? 0) + itemSize(entry)
      offsets.push(size)
      if (size > segmentMaxBytes) break
    }
    const entries = page.entries.slice(0, offsets.length - 1)
    const keys = entries.map(({ key }) => key)
    const complete = !page.more && entries.length === page.entries.length
    const end = complete ? range.end : keyAfter(keys.at(-1) ?? range.start)
    return { collection, start: range.start, end, keys, offsets, bytes: renderItems(entries, offsets.at(-1) ?? 0) }
  }

  private keep(segment: Segment, segments: Segment[], at: number): void {
    const cost = costOf(segment)
    if (cost > this.maxBytes) return
    segments.splice(at, 0, segment)
    this.collections.set(segment.collection, segments)
    this.recent.add(segment)
    this.heldBytes += cost
    for (const oldest of this.recent) {
      if (this.heldBytes <= this.maxBytes) break
      const siblings = this.collections.get(oldest.collection) ?? []
      this.evict(oldest, siblings, lastAtOrBefore(siblings, oldest.start))
    }
  }

  private evict(segment: Segment, segments: Segment[], at: number): void {
    segments.splice(at, 1)
    this.recent.delete(segment)
    this.heldBytes -= costOf(segment)
  }
}

/** One object as a list item, with the comma that follows it. */
export const renderItem = (entry: Entry): Buffer => new StoredObject(entry).render(open, close)

const itemSize = (entry: Entry): number => renderedSize(entry, open.length + close.length)

function renderItems(entries: readonly Entry[], size: number): Buffer {
  const out = Buffer.allocUnsafeSlow(size)
  let at = 0
  for (const entry of entries) at = renderInto(out, at, { entry, prefix: open, suffix: close })
  return out
}

/** Several objects as list items, in one piece. */
export const renderTogether = (entries: readonly Entry[]): Buffer =>
  renderItems(
    entries,
    entries.reduce((sum, entry) => sum + itemSize(entry), 0),
  )

/** Keys and bookkeeping count too. */
const costOf = (segment: Segment): number => segment.bytes.length + segment.keys.length * 96 + 256

function sliceOf(segment: Segment, range: KeyRange, limit: number): ListSlice | undefined {
  const from = segment.start >= range.start ? 0 : lowerBound(segment.keys, range.start)
  const whole = segment.end <= range.end ? segment.keys.length : lowerBound(segment.keys, range.end)
  const to = Math.min(whole, from + limit)
  if (to <= from) return undefined
  return {
    bytes: segment.bytes.subarray(segment.offsets[from], segment.offsets[to]),
    count: to - from,
    lastKey: segment.keys[to - 1] as string,
  }
}

/** The index of the first key that is not less. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] as string) < key) low = middle + 1
    else high = middle
  }
  return low
}

/** The index of the last segment that starts at or before the key, or -1. */
function lastAtOrBefore(segments: readonly Segment[], key: string): number {
  let low = 0
  let high = segments.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((segments[middle] as Segment).start <= key) low = middle + 1
    else high = middle
  }
  return low - 1
}

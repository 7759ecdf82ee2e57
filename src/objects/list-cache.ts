// List items, kept as segments of neighbouring objects within a bound on bytes, so that a list that is read again costs what it sends. A
// segment speaks for all keys from `start` to `end`; a change of any key among them makes it untrue. Each form has its own segments. Where
// items are expensive to make, a segment that is no longer true stays as a source for the next, which takes from it the items that did not
// change.
//
// A list for which there is no room is made for its one reader, from where that is known: otherwise its end would push out its beginning, the next
// reader would find neither, and all of it would be old for V8 before it is garbage. Nor does it become segments: V8 makes those where old objects are,
// because most of them stay, and what is dead there keeps alive what it names until the whole heap is looked through.

import { getOrInsert } from '../base/get-or-insert.js'
import { compareText, comparisonOf, countBefore } from '../base/text-order.js'
import type { ItemForm } from '../codec/item-form.js'
import { collectionOfRange } from '../storage/collections.js'
import type { KeyRange, ScannedEntry, Storage } from '../storage/storage.js'
import { collectionOf, keyAfter } from './keys.js'
import type { LargeItems } from './large-items.js'
import type { ListSlice } from './page-slices.js'
import { isCurrent, mostAdded, openBrace, renderItemInto, StoredObject } from './stored-object.js'

const segmentObjects = 64
const segmentMaxBytes = 512 * 1024
/** Of what has to be decoded for a segment, which is made in one step: about a millisecond, and the objects are small. */
const segmentDecodedObjects = 32
const segmentMaxDecoded = 64 * 1024
const sliceMaxBytes = 128 * 1024
/** What one list may keep, of the bound. */
const mostForOneList = 3 / 4
/** After so much of it, or so much of the bound where that is less, the rest is judged by it: one large object at its beginning says nothing. */
const leastToJudge = 8 << 20
const mostToJudge = 1 / 8

const newScratch = (): Buffer => Buffer.allocUnsafeSlow(segmentObjects * 2048)

interface Segment {
  readonly collection: string
  readonly form: ItemForm
  readonly start: string
  readonly end: string
  readonly keys: readonly string[]
  /** Where item i begins, with the separator in front of it; one more than keys. */
  readonly offsets: readonly number[]
  readonly bytes: Buffer
  /** The revision of item i; not kept for stored JSON. */
  readonly revisions: readonly number[]
  /** A key among them has changed. */
  isStale: boolean
  /** The period in which it was last asked for: see release. */
  usedIn: number
}

/** Stored JSON is the same for all who see the same stored version of a kind. */
const cacheKeyOf = (form: ItemForm): object => (form.isStored ? form.resource.storedSchema : form)

export class ListCache {
  private readonly storage: Storage
  private readonly maxBytes: number
  /** Per collection and form, sorted by start; they never overlap. */
  private readonly collections = new Map<string, Map<object, Segment[]>>()
  /** All segments, the least recently used first. */
  private readonly recent = new Set<Segment>()
  private heldBytes = 0
  private period = 0
  private scratch = newScratch()
  private readonly large: Pick<LargeItems, 'isLarge'>

  constructor(storage: Storage, maxBytes: number, large: Pick<LargeItems, 'isLarge'> = { isLarge: () => false }) {
    this.storage = storage
    this.maxBytes = maxBytes
    this.large = large
  }

  get bytes(): number {
    return this.heldBytes
  }

  /** The items of a range at the present revision, slice by slice, at most `limit` of them; of a large one, which a worker thread makes, its key. */
  *slices(range: KeyRange, limit: number, form: ItemForm): Generator<ListSlice | string> {
    let cursor = range.start
    let left = limit
    let [passed, passedBytes] = [0, 0]
    const expected = this.expectedCount(range, limit)
    while (left > 0 && compareText(cursor, range.end) < 0) {
      const isJudged = passedBytes > Math.min(leastToJudge, this.maxBytes * mostToJudge)
      if (isJudged && Math.max(passedBytes, (passedBytes / Math.max(passed, 1)) * expected) > this.maxBytes * mostForOneList) {
        yield* this.passingSlices({ start: cursor, end: range.end }, left, form)
        return
      }
      const segment = this.segmentAt(cursor, range.end, form)
      if (typeof segment === 'string') {
        if (compareText(segment, range.end) >= 0) return
        cursor = keyAfter(segment)
        left -= 1
        yield segment
        continue
      }
      passed += segment.keys.length
      passedBytes += costOf(segment)
      for (let isLast = false; !isLast && left > 0; ) {
        const slice = sliceOf(segment, { start: cursor, end: range.end }, left)
        isLast = slice?.isLast ?? true
        cursor = slice === undefined || isLast ? segment.end : keyAfter(slice.lastKey)
        if (slice === undefined) continue
        left -= slice.count
        yield slice
      }
    }
  }

  /** How many items a list has at most, as far as that is known without counting them; otherwise 0. It may begin within a collection. */
  private expectedCount({ start, end }: KeyRange, limit: number): number {
    const whole = { start: `${end.slice(0, -1)}/`, end }
    const isCounted = collectionOfRange(whole) !== undefined && compareText(whole.start, start) <= 0
    const expected = isCounted ? Math.min(limit, this.storage.count(whole)) : limit
    return Number.isFinite(expected) ? expected : 0
  }

  /** One item with the separator in front of it, if it is at hand. */
  item(key: string, form: ItemForm): Buffer | undefined {
    const segments = this.segmentsOf(collectionOf(key), form)
    const segment = segments[lastAtOrBefore(segments, key)]
    if (segment === undefined || compareText(key, segment.end) >= 0 || segment.isStale) return undefined
    const at = countBefore(segment.keys, key)
    return segment.keys[at] === key ? segment.bytes.subarray(segment.offsets[at], segment.offsets[at + 1]) : undefined
  }

  /** A key has changed: what was rendered around it is no longer true. */
  drop(key: string): void {
    const forms = this.collections.get(collectionOf(key))
    if (forms === undefined) return
    for (const segments of forms.values()) {
      const at = lastAtOrBefore(segments, key)
      const segment = segments[at]
      if (segment === undefined || compareText(key, segment.end) >= 0) continue
      if (segment.form.isStored) this.evict(segment, segments, at)
      else segment.isStale = true
    }
  }

  /** Ends a period: what was not asked for in this one and the one before goes. */
  release(): void {
    for (const oldest of this.recent) {
      if (oldest.usedIn >= this.period - 1) break
      const siblings = this.segmentsOf(oldest.collection, oldest.form)
      this.evict(oldest, siblings, lastAtOrBefore(siblings, oldest.start))
    }
    this.period += 1
  }

  clear(): void {
    this.collections.clear()
    this.recent.clear()
    this.heldBytes = 0
  }

  /** Or the key of the first, where its item cannot be made here. */
  private segmentAt(cursor: string, end: string, form: ItemForm): Segment | string {
    const collection = collectionOf(cursor)
    const segments = this.segmentsOf(collection, form)
    const at = lastAtOrBefore(segments, cursor)
    const found = segments[at]
    if (found !== undefined && compareText(cursor, found.end) < 0) {
      if (found.isStale) {
        const renewed = this.renew(found, segments, at)
        // What came in front of the cursor may have moved the end of the segment there, too.
        return reaches(renewed, cursor) ? renewed : this.segmentAt(cursor, end, form)
      }
      this.recent.delete(found)
      this.recent.add(found)
      found.usedIn = this.period
      return found
    }
    const next = segments[at + 1]
    const range = { start: cursor, end: next !== undefined && compareText(next.start, end) < 0 ? next.start : end }
    const segment = this.load({ collection, form, range, before: undefined })
    if (typeof segment !== 'string') this.keep(segment, segments, at + 1)
    return segment
  }

  /** What is true now of the keys that a stale segment spoke for, or of the first of them. */
  private renew(stale: Segment, segments: Segment[], at: number): Segment | string {
    const { collection, form, start, end } = stale
    const segment = this.load({ collection, form, range: { start, end }, before: stale })
    this.evict(stale, segments, at)
    if (typeof segment !== 'string') this.keep(segment, segments, at)
    return segment
  }

  private segmentsOf(collection: string, form: ItemForm): Segment[] {
    return this.collections.get(collection)?.get(cacheKeyOf(form)) ?? []
  }

  /** The same as `slices` of what is not kept. */
  private *passingSlices(range: KeyRange, limit: number, form: ItemForm): Generator<ListSlice | string> {
    let { start } = range
    for (let left = limit; left > 0; ) {
      let [count, lastKey] = [0, start]
      const mostObjects = Math.min(left, form.isStored ? segmentObjects : segmentDecodedObjects)
      const gathering = { form, range: { start, end: range.end }, before: undefined, mostObjects, mostBytes: sliceMaxBytes }
      const { used, isComplete, largeKey } = this.gather(gathering, ({ key }) => {
        count += 1
        lastKey = key
      })
      if (count > 0) yield { bytes: this.gathered(used), count, lastKey }
      else if (largeKey !== undefined) yield largeKey
      if (isComplete) return
      left -= Math.max(count, 1)
      start = keyAfter(count > 0 ? lastKey : (largeKey ?? lastKey))
    }
  }

  private load({ collection, form, range, before }: Loading): Segment | string {
    const keys: string[] = []
    const offsets = [0]
    const revisions: number[] = []
    const mostObjects = form.isStored ? segmentObjects : segmentDecodedObjects
    const gathering = { form, range, before, mostObjects, mostBytes: segmentMaxBytes }
    const { used, isComplete, largeKey } = this.gather(gathering, ({ key, revision }, end) => {
      keys.push(key)
      offsets.push(end)
      if (!form.isStored) revisions.push(revision)
    })
    if (largeKey !== undefined && keys.length === 0) return largeKey
    const end = isComplete ? range.end : keyAfter(keys.at(-1) ?? range.start)
    const bytes = this.gathered(used)
    return { collection, form, start: range.start, end, keys, isStale: false, usedIn: this.period, revisions, offsets, bytes }
  }

  /** What is stored is looked at in place; the items are put together in memory that is used again and again. Tells of each, and where it ends. */
  private gather({ form, range, before, mostObjects, mostBytes }: Gathering, tell: (scanned: ScannedEntry, end: number) => void): Gathered {
    let used = 0
    let count = 0
    let decoded = 0
    let isComplete = true
    let largeKey: string | undefined
    this.storage.scan(range, (scanned) => {
      if (count === mostObjects || used > mostBytes || decoded > segmentMaxDecoded) {
        isComplete = false
        return false
      }
      const isCopied = form.isStored && isCurrent(scanned, form.resource)
      if (!isCopied && this.large.isLarge(form, scanned)) {
        largeKey = scanned.key
        isComplete = false
        return false
      }
      if (!isCopied) decoded += scanned.end - scanned.start
      used = isCopied ? this.copyItem(used, form, scanned) : this.append(used, form, itemOf(scanned, form, before))
      count += 1
      tell(scanned, used)
      return true
    })
    return { used, isComplete, largeKey }
  }

  private gathered(used: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(used)
    this.scratch.copy(bytes, 0, 0, used)
    if (this.scratch.length > 2 * segmentMaxBytes) this.scratch = newScratch()
    return bytes
  }

  private copyItem(used: number, { separator, storedHead = openBrace }: ItemForm, scanned: ScannedEntry): number {
    this.makeRoom(used, separator.length + storedHead.length + scanned.end - scanned.start + mostAdded)
    return renderItemInto(this.scratch, putInto(this.scratch, putInto(this.scratch, used, separator), storedHead), scanned)
  }

  private append(used: number, { separator }: ItemForm, item: Uint8Array): number {
    this.makeRoom(used, separator.length + item.length)
    this.scratch.set(item, putInto(this.scratch, used, separator))
    return used + separator.length + item.length
  }

  private makeRoom(used: number, more: number): void {
    if (used + more <= this.scratch.length) return
    const larger = Buffer.allocUnsafeSlow(2 * (used + more))
    this.scratch.copy(larger, 0, 0, used)
    this.scratch = larger
  }

  private keep(segment: Segment, segments: Segment[], at: number): void {
    const cost = costOf(segment)
    if (cost > this.maxBytes) return
    segments.splice(at, 0, segment)
    getOrInsert(this.collections, segment.collection, () => new Map<object, Segment[]>()).set(cacheKeyOf(segment.form), segments)
    this.recent.add(segment)
    this.heldBytes += cost
    for (const oldest of this.recent) {
      if (this.heldBytes <= this.maxBytes) break
      const siblings = this.segmentsOf(oldest.collection, oldest.form)
      this.evict(oldest, siblings, lastAtOrBefore(siblings, oldest.start))
    }
  }

  private evict(segment: Segment, segments: Segment[], at: number): void {
    segments.splice(at, 1)
    this.recent.delete(segment)
    this.heldBytes -= costOf(segment)
    if (segments.length === 0) this.forget(segment)
  }

  /** Kinds and their forms come and go without an end. */
  private forget({ collection, form }: Segment): void {
    const forms = this.collections.get(collection)
    forms?.delete(cacheKeyOf(form))
    if (forms?.size === 0) this.collections.delete(collection)
  }
}

/** Whether the key, or one that the segment speaks for, stands at a place or behind it. */
const reaches = (found: Segment | string, cursor: string): boolean =>
  typeof found === 'string' ? compareText(found, cursor) >= 0 : compareText(cursor, found.end) < 0

/** A few bytes, for which a call of the platform would cost more. */
function putInto(out: Uint8Array, place: number, bytes: Uint8Array): number {
  for (let i = 0; i < bytes.length; i++) out[place + i] = bytes[i] as number
  return place + bytes.length
}

interface Loading {
  readonly collection: string
  readonly form: ItemForm
  readonly range: KeyRange
  /** What was true before, and may still be of most of it. */
  readonly before: Segment | undefined
}

interface Gathering extends Omit<Loading, 'collection'> {
  readonly mostObjects: number
  readonly mostBytes: number
}

interface Gathered {
  /** How much of the memory. */
  readonly used: number
  /** Nothing of the range is behind it. */
  readonly isComplete: boolean
  /** Of the item behind it, if it cannot be made here. */
  readonly largeKey: string | undefined
}

/** The item of an entry, taken from an older segment if it is there in the same version. */
function itemOf({ key, revision, bytes, start, end }: ScannedEntry, form: ItemForm, before: Segment | undefined): Uint8Array {
  const at = before === undefined ? -1 : countBefore(before.keys, key)
  if (before !== undefined && before.keys[at] === key && before.revisions[at] === revision)
    return before.bytes.subarray((before.offsets[at] as number) + form.separator.length, before.offsets[at + 1])
  // Nothing but the item outlives the scan, so the bytes need no copy.
  const value = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
  return new StoredObject({ key, revision, value }).makeItem(form)
}

/** Keys and bookkeeping count too. */
const costOf = (segment: Segment): number => segment.bytes.length + segment.keys.length * 96 + segment.revisions.length * 8 + 256

interface SegmentSlice extends ListSlice {
  /** Nothing of the segment that is in the range is behind it. */
  readonly isLast: boolean
}

/** As much of a segment as is in the range, and not more than is worth a piece of an answer. */
function sliceOf(segment: Segment, range: KeyRange, limit: number): SegmentSlice | undefined {
  const from = compareText(segment.start, range.start) >= 0 ? 0 : countBefore(segment.keys, range.start)
  const whole = compareText(segment.end, range.end) <= 0 ? segment.keys.length : countBefore(segment.keys, range.end)
  const wanted = Math.min(whole, from + limit)
  if (wanted <= from) return undefined
  const { offsets, keys, bytes } = segment
  const begin = offsets[from] as number
  let to = wanted
  if ((offsets[to] as number) - begin > sliceMaxBytes) for (to = from + 1; (offsets[to + 1] as number) - begin <= sliceMaxBytes; ) to++
  return { bytes: bytes.subarray(begin, offsets[to]), count: to - from, lastKey: keys[to - 1] as string, isLast: to === wanted }
}

/** The index of the last segment that starts at or before the key, or -1. */
function lastAtOrBefore(segments: readonly Segment[], key: string): number {
  const compare = comparisonOf(key)
  let low = 0
  let high = segments.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare((segments[middle] as Segment).start, key) <= 0) low = middle + 1
    else high = middle
  }
  return low - 1
}

// Watch cache of lists: encoded items in segments of adjacent keys, per representation, bounded by bytes. A change of a key in its range
// makes a segment stale. Segments of stored JSON are then dropped; others, which are expensive to encode, lend their unchanged items.

import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { comparatorFor, compareText, countLeading, lowerBound } from '@cluster-apiserver/api/base/text-order.js'
import type { ItemEncoding } from '@cluster-apiserver/api/codec/item-encoding.js'
import { collectionOfRange } from '../../storage/collections.js'
import type { KeyRange, ScannedEntry, Storage } from '../../storage/storage.js'
import { isCurrent, maxItemOverheadBytes, openBrace, renderItemInto, StoredObject } from '../entry/stored-object.js'
import type { LargeItems } from '../list/large-items.js'
import { collectionOf, keyAfter } from '../object-keys.js'

const maxSegmentObjects = 64
const maxSegmentBytes = 512 * 1024
/** Limits for a segment whose objects must be decoded: about a millisecond. */
const maxDecodedObjects = 32
const maxDecodedBytes = 64 * 1024
const maxChunkBytes = 128 * 1024
/** Share of the cache that one list may use. A larger list is not cached: its end would evict its beginning. */
const maxListShare = 3 / 4
/** The size of a list is estimated from its first bytes: this many, or this share of the cache if that is less. */
const maxSampleBytes = 8 << 20
const maxSampleShare = 1 / 8

const newScratch = (): Buffer => Buffer.allocUnsafeSlow(maxSegmentObjects * 2048)

export interface ItemChunk {
  readonly bytes: Uint8Array
  readonly count: number
  readonly lastKey: string
}

interface Segment {
  readonly collection: string
  readonly encoding: ItemEncoding
  readonly start: string
  readonly end: string
  readonly keys: readonly string[]
  /** Start of item i with its separator; has one entry more than keys. */
  readonly offsets: readonly number[]
  readonly bytes: Buffer
  /** Revision of item i; empty for stored JSON. */
  readonly revisions: readonly number[]
  isStale: boolean
  lastUsedPeriod: number
}

const cacheKeyOf = (encoding: ItemEncoding): object => (encoding.isStored ? encoding.resource.storedSchema : encoding)

export class ListCache {
  private readonly storage: Storage
  private readonly maxBytes: number
  private readonly collections = new Map<string, Map<object, Segment[]>>()
  private readonly segmentsByUse = new Set<Segment>()
  private cachedBytes = 0
  private period = 0
  private scratch = newScratch()
  private readonly largeItems: Pick<LargeItems, 'isLarge'>

  constructor(storage: Storage, maxBytes: number, largeItems: Pick<LargeItems, 'isLarge'> = { isLarge: () => false }) {
    this.storage = storage
    this.maxBytes = maxBytes
    this.largeItems = largeItems
  }

  get bytes(): number {
    return this.cachedBytes
  }

  /** Up to `limit` items at the newest revision, in chunks. Yields the key of a large object, which a worker thread encodes. */
  *chunks(range: KeyRange, limit: number, encoding: ItemEncoding): Generator<ItemChunk | string> {
    let cursor = range.start
    let remaining = limit
    let [readCount, readBytes] = [0, 0]
    const expected = this.expectedCount(range, limit)
    while (remaining > 0 && compareText(cursor, range.end) < 0) {
      const isSampled = readBytes > Math.min(maxSampleBytes, this.maxBytes * maxSampleShare)
      if (isSampled && Math.max(readBytes, (readBytes / Math.max(readCount, 1)) * expected) > this.maxBytes * maxListShare) {
        yield* this.uncachedChunks({ start: cursor, end: range.end }, remaining, encoding)
        return
      }
      const segment = this.segmentAt(cursor, range.end, encoding)
      if (typeof segment === 'string') {
        if (compareText(segment, range.end) >= 0) return
        cursor = keyAfter(segment)
        remaining -= 1
        yield segment
        continue
      }
      readCount += segment.keys.length
      readBytes += costOf(segment)
      for (let isLast = false; !isLast && remaining > 0; ) {
        const chunk = chunkOfSegment(segment, { start: cursor, end: range.end }, remaining)
        isLast = chunk?.isLast ?? true
        cursor = chunk === undefined || isLast ? segment.end : keyAfter(chunk.lastKey)
        if (chunk === undefined) continue
        remaining -= chunk.count
        yield chunk
      }
    }
  }

  /** Upper bound of the number of items if it is known without a scan; otherwise 0. */
  private expectedCount({ start, end }: KeyRange, limit: number): number {
    const fullRange = { start: `${end.slice(0, -1)}/`, end }
    const isCounted = collectionOfRange(fullRange) !== undefined && compareText(fullRange.start, start) <= 0
    const expected = isCounted ? Math.min(limit, this.storage.count(fullRange)) : limit
    return Number.isFinite(expected) ? expected : 0
  }

  item(key: string, encoding: ItemEncoding): Buffer | undefined {
    const segments = this.segmentsOf(collectionOf(key), encoding)
    const segment = segments[findSegmentIndex(segments, key)]
    if (segment === undefined || compareText(key, segment.end) >= 0 || segment.isStale) return undefined
    const index = lowerBound(segment.keys, key)
    return segment.keys[index] === key ? segment.bytes.subarray(segment.offsets[index], segment.offsets[index + 1]) : undefined
  }

  drop(key: string): void {
    const encodings = this.collections.get(collectionOf(key))
    if (encodings === undefined) return
    for (const segments of encodings.values()) {
      const index = findSegmentIndex(segments, key)
      const segment = segments[index]
      if (segment === undefined || compareText(key, segment.end) >= 0) continue
      if (segment.encoding.isStored) this.evict(segment, segments, index)
      else segment.isStale = true
    }
  }

  /** Evicts segments that were not read in this period and the one before. */
  endPeriod(): void {
    for (const oldest of this.segmentsByUse) {
      if (oldest.lastUsedPeriod >= this.period - 1) break
      const siblings = this.segmentsOf(oldest.collection, oldest.encoding)
      this.evict(oldest, siblings, findSegmentIndex(siblings, oldest.start))
    }
    this.period += 1
  }

  clear(): void {
    this.collections.clear()
    this.segmentsByUse.clear()
    this.cachedBytes = 0
  }

  private segmentAt(cursor: string, end: string, encoding: ItemEncoding): Segment | string {
    const collection = collectionOf(cursor)
    const segments = this.segmentsOf(collection, encoding)
    const index = findSegmentIndex(segments, cursor)
    const found = segments[index]
    if (found !== undefined && compareText(cursor, found.end) < 0) {
      if (found.isStale) {
        const renewed = this.renew(found, segments, index)
        return covers(renewed, cursor) ? renewed : this.segmentAt(cursor, end, encoding)
      }
      this.segmentsByUse.delete(found)
      this.segmentsByUse.add(found)
      found.lastUsedPeriod = this.period
      return found
    }
    const next = segments[index + 1]
    const range = { start: cursor, end: next !== undefined && compareText(next.start, end) < 0 ? next.start : end }
    const segment = this.load({ collection, encoding, range, stale: undefined })
    if (typeof segment !== 'string') this.insert(segment, segments, index + 1)
    return segment
  }

  private renew(stale: Segment, segments: Segment[], index: number): Segment | string {
    const { collection, encoding, start, end } = stale
    const segment = this.load({ collection, encoding, range: { start, end }, stale })
    this.evict(stale, segments, index)
    if (typeof segment !== 'string') this.insert(segment, segments, index)
    return segment
  }

  private segmentsOf(collection: string, encoding: ItemEncoding): Segment[] {
    return this.collections.get(collection)?.get(cacheKeyOf(encoding)) ?? []
  }

  private *uncachedChunks(range: KeyRange, limit: number, encoding: ItemEncoding): Generator<ItemChunk | string> {
    let { start } = range
    for (let remaining = limit; remaining > 0; ) {
      let [count, lastKey] = [0, start]
      const maxObjects = Math.min(remaining, encoding.isStored ? maxSegmentObjects : maxDecodedObjects)
      const query = { encoding, range: { start, end: range.end }, stale: undefined, maxObjects, maxBytes: maxChunkBytes }
      const { usedBytes, isComplete, largeKey } = this.encodeRange(query, ({ key }) => {
        count += 1
        lastKey = key
      })
      if (count > 0) yield { bytes: this.copyFromScratch(usedBytes), count, lastKey }
      else if (largeKey !== undefined) yield largeKey
      if (isComplete) return
      remaining -= Math.max(count, 1)
      start = keyAfter(count > 0 ? lastKey : (largeKey ?? lastKey))
    }
  }

  private load({ collection, encoding, range, stale }: SegmentQuery): Segment | string {
    const keys: string[] = []
    const offsets = [0]
    const revisions: number[] = []
    const maxObjects = encoding.isStored ? maxSegmentObjects : maxDecodedObjects
    const query = { encoding, range, stale, maxObjects, maxBytes: maxSegmentBytes }
    const { usedBytes, isComplete, largeKey } = this.encodeRange(query, ({ key, revision }, end) => {
      keys.push(key)
      offsets.push(end)
      if (!encoding.isStored) revisions.push(revision)
    })
    if (largeKey !== undefined && keys.length === 0) return largeKey
    const end = isComplete ? range.end : keyAfter(keys.at(-1) ?? range.start)
    const bytes = this.copyFromScratch(usedBytes)
    return { collection, encoding, start: range.start, end, keys, isStale: false, lastUsedPeriod: this.period, revisions, offsets, bytes }
  }

  /** Encodes the items of a range into the scratch buffer. Calls `onItem` with each entry and the end of its item. */
  private encodeRange(
    { encoding, range, stale, maxObjects, maxBytes }: EncodeQuery,
    onItem: (scanned: ScannedEntry, end: number) => void,
  ): EncodedRange {
    let usedBytes = 0
    let count = 0
    let decodedBytes = 0
    let isComplete = true
    let largeKey: string | undefined
    this.storage.scan(range, (scanned) => {
      if (count === maxObjects || usedBytes > maxBytes || decodedBytes > maxDecodedBytes) {
        isComplete = false
        return false
      }
      const isCopied = encoding.isStored && isCurrent(scanned, encoding.resource)
      if (!isCopied && this.largeItems.isLarge(encoding, scanned)) {
        largeKey = scanned.key
        isComplete = false
        return false
      }
      if (!isCopied) decodedBytes += scanned.end - scanned.start
      usedBytes = isCopied
        ? this.copyItem(usedBytes, encoding, scanned)
        : this.append(usedBytes, encoding, itemOf(scanned, encoding, stale))
      count += 1
      onItem(scanned, usedBytes)
      return true
    })
    return { usedBytes, isComplete, largeKey }
  }

  private copyFromScratch(usedBytes: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(usedBytes)
    this.scratch.copy(bytes, 0, 0, usedBytes)
    if (this.scratch.length > 2 * maxSegmentBytes) this.scratch = newScratch()
    return bytes
  }

  private copyItem(usedBytes: number, { separator, storedHead = openBrace }: ItemEncoding, scanned: ScannedEntry): number {
    this.growScratch(usedBytes, separator.length + storedHead.length + scanned.end - scanned.start + maxItemOverheadBytes)
    return renderItemInto(this.scratch, putInto(this.scratch, putInto(this.scratch, usedBytes, separator), storedHead), scanned)
  }

  private append(usedBytes: number, { separator }: ItemEncoding, item: Uint8Array): number {
    this.growScratch(usedBytes, separator.length + item.length)
    this.scratch.set(item, putInto(this.scratch, usedBytes, separator))
    return usedBytes + separator.length + item.length
  }

  private growScratch(usedBytes: number, addedBytes: number): void {
    if (usedBytes + addedBytes <= this.scratch.length) return
    const larger = Buffer.allocUnsafeSlow(2 * (usedBytes + addedBytes))
    this.scratch.copy(larger, 0, 0, usedBytes)
    this.scratch = larger
  }

  private insert(segment: Segment, segments: Segment[], index: number): void {
    const cost = costOf(segment)
    if (cost > this.maxBytes) return
    segments.splice(index, 0, segment)
    getOrInsert(this.collections, segment.collection, () => new Map<object, Segment[]>()).set(cacheKeyOf(segment.encoding), segments)
    this.segmentsByUse.add(segment)
    this.cachedBytes += cost
    for (const oldest of this.segmentsByUse) {
      if (this.cachedBytes <= this.maxBytes) break
      const siblings = this.segmentsOf(oldest.collection, oldest.encoding)
      this.evict(oldest, siblings, findSegmentIndex(siblings, oldest.start))
    }
  }

  private evict(segment: Segment, segments: Segment[], index: number): void {
    segments.splice(index, 1)
    this.segmentsByUse.delete(segment)
    this.cachedBytes -= costOf(segment)
    if (segments.length === 0) this.forget(segment)
  }

  private forget({ collection, encoding }: Segment): void {
    const encodings = this.collections.get(collection)
    encodings?.delete(cacheKeyOf(encoding))
    if (encodings?.size === 0) this.collections.delete(collection)
  }
}

const covers = (found: Segment | string, cursor: string): boolean =>
  typeof found === 'string' ? compareText(found, cursor) >= 0 : compareText(cursor, found.end) < 0

function putInto(out: Uint8Array, offset: number, bytes: Uint8Array): number {
  for (let i = 0; i < bytes.length; i++) out[offset + i] = bytes[i] as number
  return offset + bytes.length
}

interface SegmentQuery {
  readonly collection: string
  readonly encoding: ItemEncoding
  readonly range: KeyRange
  readonly stale: Segment | undefined
}

interface EncodeQuery extends Omit<SegmentQuery, 'collection'> {
  readonly maxObjects: number
  readonly maxBytes: number
}

interface EncodedRange {
  readonly usedBytes: number
  readonly isComplete: boolean
  readonly largeKey: string | undefined
}

/** The item of an entry, copied from the stale segment if its revision is the same. */
function itemOf({ key, revision, bytes, start, end }: ScannedEntry, encoding: ItemEncoding, stale: Segment | undefined): Uint8Array {
  const index = stale === undefined ? -1 : lowerBound(stale.keys, key)
  if (stale !== undefined && stale.keys[index] === key && stale.revisions[index] === revision)
    return stale.bytes.subarray((stale.offsets[index] as number) + encoding.separator.length, stale.offsets[index + 1])
  // No copy of the bytes: only the item outlives the scan.
  const value = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
  return new StoredObject({ key, revision, value }).encodeItem(encoding)
}

const costOf = (segment: Segment): number => segment.bytes.length + segment.keys.length * 96 + segment.revisions.length * 8 + 256

interface SegmentChunk extends ItemChunk {
  readonly isLast: boolean
}

/** The part of a segment within the range, at most `maxChunkBytes` long. */
function chunkOfSegment(segment: Segment, range: KeyRange, limit: number): SegmentChunk | undefined {
  const from = compareText(segment.start, range.start) >= 0 ? 0 : lowerBound(segment.keys, range.start)
  const countInRange = compareText(segment.end, range.end) <= 0 ? segment.keys.length : lowerBound(segment.keys, range.end)
  const wanted = Math.min(countInRange, from + limit)
  if (wanted <= from) return undefined
  const { offsets, keys, bytes } = segment
  const begin = offsets[from] as number
  let to = wanted
  if ((offsets[to] as number) - begin > maxChunkBytes) for (to = from + 1; (offsets[to + 1] as number) - begin <= maxChunkBytes; ) to++
  return { bytes: bytes.subarray(begin, offsets[to]), count: to - from, lastKey: keys[to - 1] as string, isLast: to === wanted }
}

/** The last segment that starts at the key or before it. */
function findSegmentIndex(segments: readonly Segment[], key: string): number {
  const compare = comparatorFor(key)
  return countLeading(segments, ({ start }) => compare(start, key) <= 0) - 1
}

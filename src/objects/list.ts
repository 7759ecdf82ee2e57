// A page of a collection at one revision: whole ranges come as rendered slices from the cache, selections as single objects.

import type { Resource } from '../api/catalog.js'
import type { ItemForm } from '../codec/item-form.js'
import { isEmptyRange, isInRange } from '../storage/key-order.js'
import type { KeyRange, Storage } from '../storage/storage.js'
import type { ItemCache } from './item-cache.js'
import { keyAfter, keyOf, rangeOf } from './keys.js'
import type { LabelIndex } from './label-index.js'
import { type ListCache, renderTogether } from './list-cache.js'
import { isAnsweredByIndex, type Matcher, matcherOf, positiveRequirements, type Selection } from './selection.js'
import { StoredObject } from './stored-object.js'

export interface ListQuery {
  readonly resource: Resource
  /** Empty: all namespaces. */
  readonly namespace: string
  readonly selection: Selection
  /** 0: no limit. */
  readonly limit: number
  /** Begin at this key, as an earlier page said. */
  readonly startKey?: string
  /** The state at this revision; left out: now. */
  readonly at?: number
  /** How many objects the range holds from `startKey` on, if an earlier page knew. */
  readonly expectedCount?: number
  /** In which form slices are wanted; left out: stored JSON. */
  readonly form?: ItemForm | undefined
}

export interface ObjectPage {
  readonly revision: number
  /** Where the next page begins, when there may be more. */
  readonly next: { readonly startKey: string; readonly remaining: number | undefined } | undefined
  /** Items in slices; in JSON every item is followed by a comma. Read it once, and at once or with pauses. */
  slices(): Iterable<Uint8Array>
  objects(): Iterable<StoredObject>
}

interface Reads {
  readonly storage: Storage
  readonly cache: ListCache
  readonly labels: LabelIndex
  readonly kept: ItemCache
}

const readAhead = 256
const readAheadBytes = 1 << 20
/** How much of a page is kept while its end is looked for. */
const mostKeptBytes = 4 << 20

/** The state that was asked for is no longer kept. */
export class StateGoneError extends Error {
  override readonly name = 'StateGoneError'
}

export function readPage(reads: Reads, query: ListQuery): ObjectPage {
  if (query.at !== undefined && query.at < reads.storage.compacted)
    throw new StateGoneError(`the state at revision ${query.at} is no longer kept`)
  const matches = matcherOf(query.resource, query.selection)
  const whole = rangeOf(query.resource, query.namespace)
  const range = query.startKey === undefined ? whole : { start: query.startKey, end: whole.end }
  const revision = query.at ?? reads.storage.revision
  if (matches !== undefined) return selectedPage(reads, { ...query, matches, range, revision })
  const total = query.limit === 0 ? 0 : (query.expectedCount ?? reads.storage.count(range, query.at))
  if (query.limit === 0 || total <= query.limit) return wholePage(reads, { range, revision, form: query.form })
  return limitedPage(reads, { range, revision, form: query.form, limit: query.limit, total })
}

interface RangeAtRevision {
  readonly range: KeyRange
  readonly revision: number
  readonly form?: ItemForm | undefined
}

/** Everything in the range, read while it is sent. */
function wholePage(reads: Reads, at: RangeAtRevision): ObjectPage {
  return {
    revision: at.revision,
    next: undefined,
    slices: () => streamSlices(reads, at),
    objects: () => streamObjects(reads, at),
  }
}

/**
 * The first `limit` objects. They are looked up before the answer begins, because its head says where the next page starts; of a large page
 * only the beginning is kept, and the rest is read again while it is sent.
 */
function limitedPage(reads: Reads, at: RangeAtRevision & { readonly limit: number; readonly total: number }): ObjectPage {
  const begun: Uint8Array[] = []
  let bytes = 0
  let lastKey = at.range.start
  let restStart = at.range.start
  for (const slice of firstSlices(reads, at)) {
    lastKey = slice.lastKey
    if (bytes >= mostKeptBytes) continue
    begun.push(slice.bytes)
    bytes += slice.bytes.length
    restStart = keyAfter(lastKey)
  }
  const page = { ...at, range: { start: at.range.start, end: keyAfter(lastKey) } }
  const rest = { ...at, range: { start: restStart, end: page.range.end } }
  return {
    revision: at.revision,
    next: { startKey: page.range.end, remaining: at.total - at.limit },
    slices: () => (isEmptyRange(rest.range) ? begun : chain(begun, streamSlices(reads, rest))),
    objects: () => streamObjects(reads, page),
  }
}

function* chain<T>(first: Iterable<T>, second: Iterable<T>): Generator<T> {
  yield* first
  yield* second
}

/** The slices of the first `limit` objects of a range, now or then. */
function* firstSlices(
  reads: Reads,
  at: RangeAtRevision & { readonly limit: number },
): Generator<{ readonly bytes: Uint8Array; readonly lastKey: string }> {
  if (at.revision === reads.storage.revision) {
    yield* reads.cache.slices(at.range, at.limit, at.form)
    return
  }
  let left = at.limit
  for (const object of streamObjects(reads, at)) {
    yield { bytes: sliceOf(object, at.form), lastKey: object.key }
    left -= 1
    if (left === 0) return
  }
}

/** Slices from the cache while the revision stands; from the store's past once it has moved on. */
function* streamSlices(reads: Reads, at: RangeAtRevision): Generator<Uint8Array> {
  let start = at.range.start
  if (reads.storage.revision === at.revision) {
    for (const slice of reads.cache.slices(at.range, Number.POSITIVE_INFINITY, at.form)) {
      start = keyAfter(slice.lastKey)
      yield slice.bytes
      if (reads.storage.revision !== at.revision) break
    }
    if (reads.storage.revision === at.revision) return
  }
  for (const object of streamObjects(reads, { range: { start, end: at.range.end }, revision: at.revision })) yield sliceOf(object, at.form)
}

const sliceOf = (object: StoredObject, form: ItemForm | undefined): Uint8Array =>
  form === undefined ? renderTogether([object.entry]) : object.item(form)

function* streamObjects({ storage, kept }: Reads, at: RangeAtRevision): Generator<StoredObject> {
  let start = at.range.start
  for (;;) {
    const past = storage.revision === at.revision ? {} : { at: at.revision }
    const page = storage.range({ start, end: at.range.end, limit: readAhead, maxBytes: readAheadBytes, ...past })
    for (const entry of page.entries) yield new StoredObject(entry, kept)
    const last = page.entries.at(-1)
    if (!page.more || last === undefined) return
    start = keyAfter(last.key)
  }
}

interface SelectedQuery extends ListQuery, RangeAtRevision {
  readonly matches: Matcher
}

/** The objects that a selector picks. Where there is a limit, the next page begins after the last object that was taken. */
function selectedPage(reads: Reads, query: SelectedQuery): ObjectPage {
  const known = knownKeys(reads, query)
  if (known !== undefined && (query.limit === 0 || known.length < query.limit)) return knownPage(reads, query, known)
  if (query.limit === 0) return pageOf(query, undefined, () => selected(reads, query))
  const begun: StoredObject[] = []
  let next: ObjectPage['next']
  let count = 0
  let bytes = 0
  let end = query.range.start
  let restStart = query.range.start
  for (const object of selected(reads, query)) {
    count += 1
    end = keyAfter(object.key)
    if (bytes < mostKeptBytes) {
      begun.push(object)
      bytes += object.size
      restStart = end
    }
    if (count < query.limit) continue
    const rest = { start: end, end: query.range.end }
    const more = reads.storage.range({ ...rest, limit: 1, ...pastOf(reads.storage, query.revision) }).entries.length > 0
    next = more ? { startKey: end, remaining: undefined } : undefined
    break
  }
  const rest = { start: restStart, end }
  return pageOf(query, next, () => (isEmptyRange(rest) ? begun : chain(begun, selected(reads, { ...query, range: rest }))))
}

const pageOf = (query: SelectedQuery, next: ObjectPage['next'], objects: () => Iterable<StoredObject>): ObjectPage => ({
  revision: query.revision,
  next,
  slices: () => (query.form === undefined ? renderedChunks(objects()) : itemsOf(objects(), query.form)),
  objects,
})

/** The keys of the objects that are selected, where the index of labels alone tells. */
function knownKeys(reads: Reads, query: SelectedQuery): readonly string[] | undefined {
  if (!isAnsweredByIndex(query.selection) || reads.storage.revision !== query.revision) return undefined
  const keys = candidateKeys(reads, query)
  return keys === undefined || isWithin(keys, query.range) ? keys : keys.filter((key) => isInRange(key, query.range))
}

/** Whether ordered keys lie in a range, all of them. */
const isWithin = (keys: readonly string[], range: KeyRange): boolean =>
  keys.length === 0 || (isInRange(keys[0] as string, range) && isInRange(keys.at(-1) as string, range))

/** All objects of some keys; those whose bytes lie rendered in the cache are not read. */
function knownPage(reads: Reads, query: SelectedQuery, keys: readonly string[]): ObjectPage {
  return {
    revision: query.revision,
    next: undefined,
    slices: () => joinedChunks(knownItems(reads, query, keys)),
    objects: () => selected(reads, query),
  }
}

/** Rendered while the revision stands; from the store's past once it has moved on. */
function* knownItems(reads: Reads, query: SelectedQuery, keys: readonly string[]): Generator<Uint8Array> {
  let { start } = query.range
  for (const key of keys) {
    if (reads.storage.revision !== query.revision) break
    start = keyAfter(key)
    yield renderedItem(reads, key, query.form)
  }
  if (reads.storage.revision === query.revision) return
  for (const object of selected(reads, { ...query, range: { start, end: query.range.end } })) yield sliceOf(object, query.form)
}

function renderedItem(reads: Reads, key: string, form: ItemForm | undefined): Uint8Array {
  const rendered = reads.cache.item(key, form)
  if (rendered !== undefined) return rendered
  const object = objectAt(reads, key)
  return object === undefined ? nothing : sliceOf(object, form)
}

const nothing = Buffer.alloc(0)

function objectAt({ storage, kept }: Reads, key: string): StoredObject | undefined {
  const entry = storage.read(key)
  return entry === undefined ? undefined : new StoredObject(entry, kept)
}

const chunkObjects = 256
const chunkBytes = 512 * 1024

/** Several at a time, as many as are worth a piece of an answer. */
function* chunksOf<T>(items: Iterable<T>, sizeOf: (item: T) => number): Generator<readonly T[]> {
  let chunk: T[] = []
  let bytes = 0
  for (const item of items) {
    chunk.push(item)
    bytes += sizeOf(item)
    if (chunk.length < chunkObjects && bytes < chunkBytes) continue
    yield chunk
    chunk = []
    bytes = 0
  }
  if (chunk.length > 0) yield chunk
}

function* renderedChunks(objects: Iterable<StoredObject>): Generator<Buffer> {
  for (const chunk of chunksOf(objects, ({ size }) => size)) yield renderTogether(chunk.map(({ entry }) => entry))
}

function* joinedChunks(items: Iterable<Uint8Array>): Generator<Buffer> {
  for (const chunk of chunksOf(items, ({ length }) => length)) yield Buffer.concat(chunk)
}

function* itemsOf(objects: Iterable<StoredObject>, form: ItemForm): Generator<Uint8Array> {
  for (const object of objects) yield object.item(form)
}

const pastOf = (storage: Storage, revision: number): { readonly at?: number } => (storage.revision === revision ? {} : { at: revision })

/** What the selector picks, in order: looked up by as few keys as can be told beforehand, as long as the revision stands. */
function* selected(reads: Reads, query: SelectedQuery): Generator<StoredObject> {
  const isNow = (): boolean => reads.storage.revision === query.revision
  const keys = isNow() ? candidateKeys(reads, query) : undefined
  let { start } = query.range
  if (keys !== undefined) {
    const isCertain = isAnsweredByIndex(query.selection)
    for (const key of keys) {
      if (!isInRange(key, query.range)) continue
      if (!isNow()) break
      start = keyAfter(key)
      const object = objectAt(reads, key)
      if (object !== undefined && (isCertain || query.matches(object))) yield object
    }
    if (isNow()) return
  }
  for (const object of streamObjects(reads, { range: { start, end: query.range.end }, revision: query.revision }))
    if (query.matches(object)) yield object
}

function candidateKeys(reads: Reads, query: SelectedQuery): readonly string[] | undefined {
  const name = query.selection.fields?.exactValue('metadata.name')
  if (name !== undefined && (query.namespace !== '' || !query.resource.namespaced)) return [keyOf(query.resource, query.namespace, name)]
  let best: readonly string[] | undefined
  for (const requirement of positiveRequirements(query.selection)) {
    const keys = reads.labels.keys(query.resource.collection, requirement)
    if (keys !== undefined && (best === undefined || keys.length < best.length)) best = keys
  }
  return best
}

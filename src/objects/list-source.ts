// Where the objects and items of a page come from: the cache while the revision of the page is that of the store, its past once it has moved on.

import type { Resource } from '../api/catalog.js'
import { mostConvertedBytes, mostConvertedObjects } from '../api/conversion.js'
import { nowOrInPieces, Pieces } from '../base/pieces.js'
import { type Promised, whenThere } from '../base/promised.js'
import type { ItemForm } from '../codec/item-form.js'
import { isInRange } from '../storage/key-order.js'
import type { KeyRange, Storage } from '../storage/storage.js'
import { convertAhead } from './convert-ahead.js'
import type { ItemCache } from './item-cache.js'
import { collectionOf, keyAfter, keyOf, rangeOf } from './keys.js'
import type { LabelIndex } from './label-index.js'
import type { LargeItems } from './large-items.js'
import type { LastChanges } from './last-changes.js'
import type { ListCache } from './list-cache.js'
import { type KeyList, keyListOf } from './ordered-keys.js'
import type { ListSlice } from './page-slices.js'
import { isAnsweredByIndex, type Matcher, matcherOf, positiveRequirements, type Selection } from './selection.js'
import type { CollectionTally, StoreTallies } from './store-tallies.js'
import { StoredObject } from './stored-object.js'

export interface Reads {
  readonly storage: Storage
  readonly cache: ListCache
  readonly labels: LabelIndex
  readonly kept: ItemCache
  readonly large: LargeItems
  readonly tallies: StoreTallies
  readonly lastChanges: LastChanges
}

export interface RangeAtRevision {
  readonly range: KeyRange
  readonly revision: number
}

export interface Selected extends RangeAtRevision {
  readonly resource: Resource
  readonly namespace: string
  readonly selection: Selection
  /** Undefined: everything. */
  readonly matches: Matcher | undefined
}

interface Wanted {
  readonly form: ItemForm
  readonly limit: number
}

/** What is found, and undefined after each step in which nothing was: then others may have a turn. */
export type Steps<T> = Generator<T | undefined, void, void>

/** The same; a promise is to be waited for before the next step. */
export type AwaitedSteps<T> = Generator<T | Promise<void> | undefined, void, void>

/** How many objects are looked at in a step. */
const objectsPerStep = 32

/** Whether what is there now is what was there then. */
export const isNow = ({ lastChanges }: Reads, { range, revision }: RangeAtRevision): boolean => lastChanges.isAsAt(revision, range.start)

const tallyOf = ({ tallies }: Reads, { range }: RangeAtRevision): CollectionTally => tallies.of(collectionOf(range.start))

/** What is listed without being looked at one by one counts as if it was. */
function countListed(tally: CollectionTally, count: number): void {
  tally.fetched += count
  tally.evaluated += count
  tally.returned += count
}

/** Everything in a range. */
export function* rangeSlices(reads: Reads, at: RangeAtRevision, { form, limit }: Wanted): Steps<Promised<ListSlice>> {
  let { start } = at.range
  let left = limit
  const tally = tallyOf(reads, at)
  if (isNow(reads, at)) {
    for (const slice of reads.cache.slices(at.range, limit, form)) {
      const key = typeof slice === 'string' ? slice : slice.lastKey
      const count = typeof slice === 'string' ? 1 : slice.count
      start = keyAfter(key)
      left -= count
      countListed(tally, count)
      if (typeof slice !== 'string') yield slice
      else {
        const object = objectAt(reads, slice)
        if (object !== undefined) yield sliceOfItem(keyedItem(reads, object, form))
      }
      if (!isNow(reads, at)) break
    }
    if (isNow(reads, at)) return
  }
  if (left > 0) yield* objectSlices(reads, at, streamObjects(reads, { ...at, range: { start, end: at.range.end } }), { form, limit: left })
}

const sliceOfItem = (item: Promised<KeyedItem>): Promised<ListSlice> =>
  whenThere(item, ({ key, pieces }) => ({ bytes: Buffer.concat(pieces), count: 1, lastKey: key }))

export const selectedSlices = (reads: Reads, at: Selected, wanted: Wanted): Steps<Promised<ListSlice>> =>
  objectSlices(reads, at, selected(reads, at), wanted)

/** The objects of some keys, which are all that are selected; those that lie in the cache are not read. */
export function* knownSlices(
  reads: Reads,
  at: Selected,
  { keys, form }: { readonly keys: KeyList; readonly form: ItemForm },
): Steps<Promised<ListSlice>> {
  yield* chunks(knownItems(reads, at, { keys, form }))
}

function* knownItems(
  reads: Reads,
  at: Selected,
  { keys, form }: { readonly keys: KeyList; readonly form: ItemForm },
): Steps<Promised<KeyedItem>> {
  let { start } = at.range
  const tally = tallyOf(reads, at)
  for (const key of keys.from(start)) {
    if (!isNow(reads, at)) break
    if (!isInRange(key, at.range)) break
    start = keyAfter(key)
    countListed(tally, 1)
    const kept = reads.cache.item(key, form)
    if (kept !== undefined) yield { key, pieces: [kept] }
    else {
      const object = objectAt(reads, key)
      if (object !== undefined) yield keyedItem(reads, object, form)
    }
  }
  if (isNow(reads, at)) return
  for (const object of selected(reads, { ...at, range: { start, end: at.range.end } })) yield object && keyedItem(reads, object, form)
}

function* objectSlices(
  reads: Reads,
  at: RangeAtRevision,
  objects: Iterable<StoredObject | undefined>,
  wanted: Wanted,
): Steps<Promised<ListSlice>> {
  const tally = tallyOf(reads, at)
  for (const slice of chunks(firstItems(reads, objects, wanted))) {
    if (slice !== undefined) tally.returned += slice instanceof Promise ? 1 : slice.count
    yield slice
  }
}

function* firstItems(reads: Reads, objects: Iterable<StoredObject | undefined>, { form, limit }: Wanted): Steps<Promised<KeyedItem>> {
  let left = limit
  for (const object of objects) {
    yield object && keyedItem(reads, object, form)
    if (object === undefined) continue
    left -= 1
    if (left === 0) return
  }
}

/** The same in forms for which objects have to be converted first: as many at a time as the converter takes. */
export function* convertedSlices(reads: Reads, at: Selected, { form, limit }: Wanted): Steps<Promised<ListSlice | undefined>> {
  let chunk: StoredObject[] = []
  let bytes = 0
  let left = limit
  const tally = tallyOf(reads, at)
  for (const object of objectsOf(reads, at)) {
    if (object === undefined || object instanceof Promise) {
      yield object?.then(() => undefined)
      continue
    }
    chunk.push(object)
    tally.returned += 1
    bytes += object.size
    left -= 1
    if (left > 0 && chunk.length < mostConvertedObjects && bytes < mostConvertedBytes) continue
    yield convertedSlice(reads, chunk, form)
    if (left === 0) return
    chunk = []
    bytes = 0
  }
  if (chunk.length > 0) yield convertedSlice(reads, chunk, form)
}

/** Items of large objects are made in worker threads, all others here in time slices. */
export function convertedSlice({ large }: Pick<Reads, 'large'>, objects: readonly StoredObject[], form: ItemForm): Promised<ListSlice> {
  const waiting: Promise<void>[] = []
  const light: StoredObject[] = []
  // What is at hand now may be forgotten while others are converted, and could not be made again without that.
  const kept = objects.map((object) => object.keptItem(form))
  for (const [i, object] of objects.entries()) {
    if (kept[i] !== undefined) continue
    const made = large.ahead(object, form)
    if (made === undefined) light.push(object)
    else waiting.push(made)
  }
  const converting = convertAhead(light, form.resource)
  if (converting !== undefined) waiting.push(converting)
  return nowOrInPieces(joinItems(objects, kept, { form, waiting }), new Pieces())
}

function* joinItems(
  objects: readonly StoredObject[],
  kept: readonly (Uint8Array | undefined)[],
  { form, waiting }: { readonly form: ItemForm; readonly waiting: readonly Promise<void>[] },
): Generator<Promise<unknown> | undefined, ListSlice, void> {
  if (waiting.length > 0) yield Promise.all(waiting)
  const pieces: Uint8Array[] = []
  for (const [i, object] of objects.entries()) {
    pieces.push(form.separator, kept[i] ?? object.item(form))
    yield
  }
  return { bytes: Buffer.concat(pieces), count: objects.length, lastKey: objects.at(-1)?.key ?? '' }
}

/** An item with the separator in front of it. */
interface KeyedItem {
  readonly key: string
  readonly pieces: readonly Uint8Array[]
}

/** A promise if a worker thread makes the item. */
function keyedItem({ large }: Reads, object: StoredObject, form: ItemForm): Promised<KeyedItem> {
  const { key } = object
  const waiting = large.ahead(object, form)
  if (waiting === undefined) return { key, pieces: [form.separator, object.item(form)] }
  return waiting.then(() => ({ key, pieces: [form.separator, object.item(form)] }))
}

const chunkObjects = 256
const chunkBytes = 128 * 1024

/** Several together, as many as are worth a piece of an answer. */
function* chunks(items: Iterable<Promised<KeyedItem> | undefined>): Steps<Promised<ListSlice>> {
  let pieces: Uint8Array[] = []
  let count = 0
  let bytes = 0
  let lastKey = ''
  for (const item of items) {
    if (item === undefined) {
      yield undefined
      continue
    }
    if (item instanceof Promise) {
      // What is waited for goes by itself, behind those that are there.
      if (count > 0) yield { bytes: Buffer.concat(pieces, bytes), count, lastKey }
      pieces = []
      count = 0
      bytes = 0
      yield sliceOfItem(item)
      continue
    }
    for (const piece of item.pieces) {
      pieces.push(piece)
      bytes += piece.length
    }
    count += 1
    lastKey = item.key
    if (count < chunkObjects && bytes < chunkBytes) {
      if (count % objectsPerStep === 0) yield undefined
      continue
    }
    yield { bytes: Buffer.concat(pieces, bytes), count, lastKey }
    pieces = []
    count = 0
    bytes = 0
  }
  if (count > 0) yield { bytes: Buffer.concat(pieces, bytes), count, lastKey }
}

const readAhead = 256
const readAheadBytes = 1 << 20

export function* streamObjects(reads: Reads, at: RangeAtRevision): Steps<StoredObject> {
  const { storage, kept } = reads
  const tally = tallyOf(reads, at)
  let { start } = at.range
  for (;;) {
    if (!isNow(reads, at)) yield* storage.recall({ start, end: at.range.end }, at.revision)
    const past = isNow(reads, at) ? {} : { at: at.revision }
    const page = storage.range({ start, end: at.range.end, limit: readAhead, maxBytes: readAheadBytes, ...past })
    tally.fetched += page.entries.length
    tally.evaluated += page.entries.length
    for (const entry of page.entries) yield new StoredObject(entry, kept)
    const last = page.entries.at(-1)
    const next = page.next ?? (last && keyAfter(last.key))
    if (!page.more || next === undefined) return
    start = next
    yield undefined
  }
}

/** What the selector picks, in order: looked up by as few keys as can be told beforehand, as long as the revision stands. */
export function* selected(reads: Reads, at: Selected): Steps<StoredObject> {
  const matches = at.matches ?? (() => true)
  const tally = tallyOf(reads, at)
  let passed = 0
  const keys = isNow(reads, at) ? candidateKeys(reads, at) : undefined
  let { start } = at.range
  if (keys !== undefined) {
    const isCertain = isAnsweredByIndex(at.selection)
    for (const key of keys.from(start)) {
      if (!isNow(reads, at)) break
      if (!isInRange(key, at.range)) break
      start = keyAfter(key)
      const object = objectAt(reads, key)
      tally.fetched += 1
      tally.evaluated += 1
      if (object !== undefined && (isCertain || matches(object))) yield object
      else if (++passed % objectsPerStep === 0) yield undefined
    }
    if (isNow(reads, at)) return
  }
  for (const object of streamObjects(reads, { ...at, range: { start, end: at.range.end } })) {
    if (object === undefined || matches(object)) yield object
    else if (++passed % objectsPerStep === 0) yield undefined
  }
}

export const objectsOf = (reads: Reads, at: Selected): AwaitedSteps<StoredObject> =>
  at.matches === undefined ? streamObjects(reads, at) : isConvertedToMatch(at) ? selectedAhead(reads, at) : selected(reads, at)

/** Whether somebody else may have to be asked for the fields that are selected by: those of entries of another version, indexed by other fields. */
const isConvertedToMatch = ({ resource, selection }: Selected): boolean =>
  resource.conversion !== undefined && resource.indexedFields !== undefined && selection.fields !== undefined

function* selectedAhead(reads: Reads, at: Selected): AwaitedSteps<StoredObject> {
  const { resource, selection, matches = () => true } = at
  const byLabels = selected(reads, { ...at, matches: matcherOf(resource, { ...selection, fields: undefined }) })
  let chunk: StoredObject[] = []
  let bytes = 0
  for (;;) {
    const { value: object, done } = byLabels.next()
    if (object !== undefined) {
      chunk.push(object)
      bytes += object.size
    }
    if (!done && chunk.length < mostConvertedObjects && bytes < mostConvertedBytes) {
      if (object === undefined) yield undefined
      continue
    }
    const unknown = chunk.filter((candidate) => !candidate.isIndexedAs(resource))
    const waiting = convertAhead(unknown, resource, resource.storedApiVersion)
    if (waiting !== undefined) yield waiting
    for (const candidate of chunk) if (matches(candidate)) yield candidate
    if (done) return
    chunk = []
    bytes = 0
    yield undefined
  }
}

/** A whole namespace with so few objects is looked through in less time than an index of all of them is built. */
const fewObjects = 1000

/** Builds the index of labels that a selection is answered by, if it is worth it and is not there. */
export function* indexing(
  reads: Reads,
  { resource, namespace, selection }: Pick<Selected, 'resource' | 'namespace' | 'selection'>,
): Steps<never> {
  if (reads.labels.isBuilt(resource.collection) || positiveRequirements(selection).length === 0) return
  if (exactKey({ resource, namespace, selection }) !== undefined) return
  if (namespace !== '' && reads.storage.count(rangeOf(resource, namespace)) <= fewObjects) return
  yield* reads.labels.building(resource.collection)
}

/** The one key that can be selected. */
function exactKey({ resource, namespace, selection }: Pick<Selected, 'resource' | 'namespace' | 'selection'>): string | undefined {
  const name = selection.fields?.exactValue('metadata.name')
  return name !== undefined && (namespace !== '' || !resource.namespaced) ? keyOf(resource, namespace, name) : undefined
}

export function candidateKeys(reads: Reads, at: Selected): KeyList | undefined {
  const { resource, selection } = at
  const exact = exactKey(at)
  if (exact !== undefined) return keyListOf([exact])
  let best: KeyList | undefined
  for (const requirement of positiveRequirements(selection)) {
    const keys = reads.labels.keys(resource.collection, requirement)
    if (keys !== undefined && (best === undefined || keys.size < best.size)) best = keys
  }
  return best
}

function objectAt({ storage, kept }: Reads, key: string): StoredObject | undefined {
  const entry = storage.read(key)
  return entry === undefined ? undefined : new StoredObject(entry, kept)
}

// Where the objects and items of a page come from: the cache while the revision of the page is that of the store, its past once it has moved on.

import type { Resource } from '../api/catalog.js'
import { mostConvertedBytes, mostConvertedObjects } from '../api/conversion.js'
import type { Promised } from '../base/promised.js'
import type { ItemForm } from '../codec/item-form.js'
import { isInRange } from '../storage/key-order.js'
import type { KeyRange, Storage } from '../storage/storage.js'
import { convertAhead } from './convert-ahead.js'
import type { ItemCache } from './item-cache.js'
import { keyAfter, keyOf } from './keys.js'
import type { LabelIndex } from './label-index.js'
import type { ListCache } from './list-cache.js'
import type { ListSlice } from './page-slices.js'
import { isAnsweredByIndex, type Matcher, positiveRequirements, type Selection } from './selection.js'
import { StoredObject } from './stored-object.js'

export interface Reads {
  readonly storage: Storage
  readonly cache: ListCache
  readonly labels: LabelIndex
  readonly kept: ItemCache
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

export const isNow = ({ storage }: Reads, { revision }: RangeAtRevision): boolean => storage.revision === revision

/** Everything in a range. */
export function* rangeSlices(reads: Reads, at: RangeAtRevision, { form, limit }: Wanted): Generator<ListSlice> {
  let { start } = at.range
  let left = limit
  if (isNow(reads, at)) {
    for (const slice of reads.cache.slices(at.range, limit, form)) {
      start = keyAfter(slice.lastKey)
      left -= slice.count
      yield slice
      if (!isNow(reads, at)) break
    }
    if (isNow(reads, at)) return
  }
  if (left > 0) yield* objectSlices(streamObjects(reads, { ...at, range: { start, end: at.range.end } }), { form, limit: left })
}

export const selectedSlices = (reads: Reads, at: Selected, wanted: Wanted): Generator<ListSlice> =>
  objectSlices(selected(reads, at), wanted)

/** The objects of some keys, which are all that are selected; those that lie in the cache are not read. */
export function* knownSlices(
  reads: Reads,
  at: Selected,
  { keys, form }: { readonly keys: readonly string[]; readonly form: ItemForm },
): Generator<ListSlice> {
  yield* chunks(knownItems(reads, at, { keys, form }))
}

function* knownItems(
  reads: Reads,
  at: Selected,
  { keys, form }: { readonly keys: readonly string[]; readonly form: ItemForm },
): Generator<KeyedItem> {
  let { start } = at.range
  for (const key of keys) {
    if (!isInRange(key, at.range)) continue
    if (!isNow(reads, at)) break
    start = keyAfter(key)
    const kept = reads.cache.item(key, form)
    if (kept !== undefined) yield { key, pieces: [kept] }
    else {
      const object = objectAt(reads, key)
      if (object !== undefined) yield keyedItem(object, form)
    }
  }
  if (isNow(reads, at)) return
  for (const object of selected(reads, { ...at, range: { start, end: at.range.end } })) yield keyedItem(object, form)
}

function* objectSlices(objects: Iterable<StoredObject>, { form, limit }: Wanted): Generator<ListSlice> {
  yield* chunks(firstItems(objects, { form, limit }))
}

function* firstItems(objects: Iterable<StoredObject>, { form, limit }: Wanted): Generator<KeyedItem> {
  let left = limit
  for (const object of objects) {
    yield keyedItem(object, form)
    left -= 1
    if (left === 0) return
  }
}

/** The same in forms for which objects have to be converted first: as many at a time as the converter takes. */
export function* convertedSlices(reads: Reads, at: Selected, { form, limit }: Wanted): Generator<Promised<ListSlice>> {
  let chunk: StoredObject[] = []
  let bytes = 0
  let left = limit
  for (const object of at.matches === undefined ? streamObjects(reads, at) : selected(reads, at)) {
    chunk.push(object)
    bytes += object.size
    left -= 1
    if (left > 0 && chunk.length < mostConvertedObjects && bytes < mostConvertedBytes) continue
    yield convertedSlice(chunk, form)
    if (left === 0) return
    chunk = []
    bytes = 0
  }
  if (chunk.length > 0) yield convertedSlice(chunk, form)
}

function convertedSlice(objects: readonly StoredObject[], form: ItemForm): Promised<ListSlice> {
  const kept = objects.map((object) => object.keptItem(form))
  const join = (): ListSlice => {
    const pieces = objects.flatMap((object, i) => [form.separator, kept[i] ?? object.item(form)])
    return { bytes: Buffer.concat(pieces), count: objects.length, lastKey: objects.at(-1)?.key ?? '' }
  }
  const waiting = convertAhead(
    objects.filter((_, i) => kept[i] === undefined),
    form.resource,
  )
  return waiting === undefined ? join() : waiting.then(join)
}

/** An item with the separator in front of it. */
interface KeyedItem {
  readonly key: string
  readonly pieces: readonly Uint8Array[]
}

const keyedItem = (object: StoredObject, form: ItemForm): KeyedItem => ({ key: object.key, pieces: [form.separator, object.item(form)] })

const chunkObjects = 256
const chunkBytes = 512 * 1024

/** Several together, as many as are worth a piece of an answer. */
function* chunks(items: Iterable<KeyedItem>): Generator<ListSlice> {
  let pieces: Uint8Array[] = []
  let count = 0
  let bytes = 0
  let lastKey = ''
  for (const item of items) {
    for (const piece of item.pieces) {
      pieces.push(piece)
      bytes += piece.length
    }
    count += 1
    lastKey = item.key
    if (count < chunkObjects && bytes < chunkBytes) continue
    yield { bytes: Buffer.concat(pieces, bytes), count, lastKey }
    pieces = []
    count = 0
    bytes = 0
  }
  if (count > 0) yield { bytes: Buffer.concat(pieces, bytes), count, lastKey }
}

const readAhead = 256
const readAheadBytes = 1 << 20

export function* streamObjects({ storage, kept }: Reads, at: RangeAtRevision): Generator<StoredObject> {
  let { start } = at.range
  for (;;) {
    const past = storage.revision === at.revision ? {} : { at: at.revision }
    const page = storage.range({ start, end: at.range.end, limit: readAhead, maxBytes: readAheadBytes, ...past })
    for (const entry of page.entries) yield new StoredObject(entry, kept)
    const last = page.entries.at(-1)
    if (!page.more || last === undefined) return
    start = keyAfter(last.key)
  }
}

/** What the selector picks, in order: looked up by as few keys as can be told beforehand, as long as the revision stands. */
export function* selected(reads: Reads, at: Selected): Generator<StoredObject> {
  const matches = at.matches ?? (() => true)
  const keys = isNow(reads, at) ? candidateKeys(reads, at) : undefined
  let { start } = at.range
  if (keys !== undefined) {
    const isCertain = isAnsweredByIndex(at.selection)
    for (const key of keys) {
      if (!isInRange(key, at.range)) continue
      if (!isNow(reads, at)) break
      start = keyAfter(key)
      const object = objectAt(reads, key)
      if (object !== undefined && (isCertain || matches(object))) yield object
    }
    if (isNow(reads, at)) return
  }
  for (const object of streamObjects(reads, { ...at, range: { start, end: at.range.end } })) if (matches(object)) yield object
}

export function candidateKeys(reads: Reads, { resource, namespace, selection }: Selected): readonly string[] | undefined {
  const name = selection.fields?.exactValue('metadata.name')
  if (name !== undefined && (namespace !== '' || !resource.namespaced)) return [keyOf(resource, namespace, name)]
  let best: readonly string[] | undefined
  for (const requirement of positiveRequirements(selection)) {
    const keys = reads.labels.keys(resource.collection, requirement)
    if (keys !== undefined && (best === undefined || keys.length < best.length)) best = keys
  }
  return best
}

function objectAt({ storage, kept }: Reads, key: string): StoredObject | undefined {
  const entry = storage.read(key)
  return entry === undefined ? undefined : new StoredObject(entry, kept)
}

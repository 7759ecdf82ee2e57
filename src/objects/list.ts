// A page of a collection at one revision: whole ranges come as rendered slices from the cache, selections as single objects.

import type { Resource } from '../api/catalog.js'
import type { ItemForm } from '../codec/item-form.js'
import type { KeyRange, Storage } from '../storage/storage.js'
import type { KeptItems } from './kept-items.js'
import { keyAfter, keyOf, rangeOf } from './keys.js'
import type { LabelIndex } from './label-index.js'
import { type ListCache, renderItem, renderTogether } from './list-cache.js'
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
  readonly kept: KeptItems
}

const readAhead = 256

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

/** The first `limit` objects, collected before the answer begins, because its head says where the next page starts. */
function limitedPage(reads: Reads, at: RangeAtRevision & { readonly limit: number; readonly total: number }): ObjectPage {
  const isNow = at.revision === reads.storage.revision
  const slices: Uint8Array[] = []
  let lastKey = at.range.start
  if (isNow) {
    for (const slice of reads.cache.slices(at.range, at.limit, at.form)) {
      slices.push(slice.bytes)
      lastKey = slice.lastKey
    }
  } else {
    for (const entry of reads.storage.range({ ...at.range, limit: at.limit, at: at.revision }).entries) {
      slices.push(sliceOf(new StoredObject(entry, reads.kept), at.form))
      lastKey = entry.key
    }
  }
  const pageRange = { start: at.range.start, end: keyAfter(lastKey) }
  return {
    revision: at.revision,
    next: { startKey: keyAfter(lastKey), remaining: at.total - at.limit },
    slices: () => slices,
    objects: () => streamObjects(reads, { range: pageRange, revision: at.revision }),
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
  form === undefined ? renderItem(object.entry) : object.item(form)

function* streamObjects({ storage, kept }: Reads, at: RangeAtRevision): Generator<StoredObject> {
  let start = at.range.start
  for (;;) {
    const past = storage.revision === at.revision ? {} : { at: at.revision }
    const page = storage.range({ start, end: at.range.end, limit: readAhead, ...past })
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
  const found: StoredObject[] = []
  let next: ObjectPage['next']
  for (const object of candidates(reads, query)) {
    if (known === undefined && !query.matches(object)) continue
    found.push(object)
    if (query.limit > 0 && found.length === query.limit) {
      const rest = { start: keyAfter(object.key), end: query.range.end }
      const more = reads.storage.range({ ...rest, limit: 1, ...pastOf(reads.storage, query.revision) }).entries.length > 0
      next = more ? { startKey: rest.start, remaining: undefined } : undefined
      break
    }
  }
  return {
    revision: query.revision,
    next,
    slices: () => (query.form === undefined ? renderChunks(found) : itemsOf(found, query.form)),
    objects: () => found,
  }
}

/** The keys of the objects that are selected, where the index of labels alone tells. */
function knownKeys(reads: Reads, query: SelectedQuery): readonly string[] | undefined {
  if (!isAnsweredByIndex(query.selection) || reads.storage.revision !== query.revision) return undefined
  const keys = candidateKeys(reads, query)
  const { start, end } = query.range
  return keys === undefined || isWithin(keys, query.range) ? keys : keys.filter((key) => key >= start && key < end)
}

const isWithin = (keys: readonly string[], { start, end }: KeyRange): boolean => (keys[0] ?? start) >= start && (keys.at(-1) ?? start) < end

/** All objects of some keys; those whose bytes lie rendered in the cache are not read. */
function knownPage(reads: Reads, query: SelectedQuery, keys: readonly string[]): ObjectPage {
  const isNow = (): boolean => reads.storage.revision === query.revision
  const past = (): StoredObject[] => Array.from(streamObjects(reads, query)).filter(query.matches)
  return {
    revision: query.revision,
    next: undefined,
    slices: () =>
      chunksOf<string | StoredObject>(isNow() ? keys : past()).map((chunk) =>
        Buffer.concat(chunk.map((item) => renderedItem(reads, item, query.form))),
      ),
    objects: () => (isNow() ? keys.flatMap((key) => objectsAt(reads, key)) : past()),
  }
}

function renderedItem(reads: Reads, item: string | StoredObject, form: ItemForm | undefined): Uint8Array {
  if (typeof item !== 'string') return sliceOf(item, form)
  const rendered = reads.cache.item(item, form)
  if (rendered !== undefined) return rendered
  const [object] = objectsAt(reads, item)
  return object === undefined ? nothing : sliceOf(object, form)
}

const nothing = Buffer.alloc(0)

function objectsAt({ storage, kept }: Reads, key: string): StoredObject[] {
  const entry = storage.read(key)
  return entry === undefined ? [] : [new StoredObject(entry, kept)]
}

const renderChunks = (found: readonly StoredObject[]): readonly Buffer[] =>
  chunksOf(found).map((chunk) => renderTogether(chunk.map(({ entry }) => entry)))

function* itemsOf(found: readonly StoredObject[], form: ItemForm): Generator<Uint8Array> {
  for (const object of found) yield object.item(form)
}

const chunkObjects = 256

function chunksOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / chunkObjects) }, (_, i) => items.slice(i * chunkObjects, (i + 1) * chunkObjects))
}

const pastOf = (storage: Storage, revision: number): { readonly at?: number } => (storage.revision === revision ? {} : { at: revision })

/** As few objects as can be told beforehand, in order. */
function* candidates(reads: Reads, query: SelectedQuery): Generator<StoredObject> {
  const keys = reads.storage.revision === query.revision ? candidateKeys(reads, query) : undefined
  if (keys === undefined) {
    yield* streamObjects(reads, query)
    return
  }
  for (const key of keys) {
    if (key < query.range.start || key >= query.range.end) continue
    const entry = reads.storage.read(key)
    if (entry !== undefined) yield new StoredObject(entry, reads.kept)
  }
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

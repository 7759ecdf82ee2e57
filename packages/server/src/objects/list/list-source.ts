// Reads the objects of a page in batches and encodes them in chunks: from the list cache until the collection changes, then from history.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { maxConvertedBytes, maxConvertedObjects } from '@cluster-apiserver/api/api/definition/conversion-webhook.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { ItemEncoding } from '@cluster-apiserver/api/codec/item-encoding.js'
import { isInRange } from '../../storage/collections.js'
import type { KeyRange, Storage } from '../../storage/storage.js'
import { convertAhead } from '../entry/convert-ahead.js'
import { StoredObject } from '../entry/stored-object.js'
import { collectionOf, keyAfter, keyOf, rangeOf } from '../object-keys.js'
import type { CollectionCounter, StoreCounters } from '../store-metrics.js'
import type { ItemCache } from '../watch-cache/item-cache.js'
import type { LabelIndex } from '../watch-cache/label-index.js'
import type { LastChanges } from '../watch-cache/last-changes.js'
import type { ItemChunk, ListCache } from '../watch-cache/list-cache.js'
import { type KeyList, keyListOf } from '../watch-cache/ordered-keys.js'
import type { LargeItems } from './large-items.js'
import { isDecidedByIndex, type Matcher, matcherOf, positiveRequirements, type Selection } from './selection.js'

export interface ReadContext {
  readonly storage: Storage
  readonly listCache: ListCache
  readonly labelIndex: LabelIndex
  readonly itemCache: ItemCache
  readonly largeItems: LargeItems
  readonly counters: StoreCounters
  readonly lastChanges: LastChanges
  readonly budget: TurnBudget
}

interface RangeAtRevision {
  readonly range: KeyRange
  readonly revision: number
}

export interface SelectedRange extends RangeAtRevision {
  readonly resource: Resource
  readonly namespace: string
  readonly selection: Selection
  readonly matches: Matcher | undefined
  /** Called between steps; throws if the client has disconnected. */
  readonly check?: (() => void) | undefined
}

interface ChunkOptions {
  readonly encoding: ItemEncoding
  readonly limit: number
}

export const isPresentState = ({ lastChanges }: ReadContext, { range, revision }: RangeAtRevision): boolean =>
  lastChanges.isUnchangedSince(revision, range.start)

const counterOf = ({ counters }: ReadContext, { range }: RangeAtRevision): CollectionCounter => counters.of(collectionOf(range.start))

/** The items of a range from the list cache; after a change of the collection, from history. */
export async function* cachedChunks(
  context: ReadContext,
  selected: SelectedRange,
  { encoding, limit }: ChunkOptions,
): AsyncGenerator<ItemChunk, void, void> {
  let { start } = selected.range
  let remaining = limit
  if (isPresentState(context, selected)) {
    const counters = counterOf(context, selected)
    for (const cached of context.listCache.chunks(selected.range, limit, encoding)) {
      const chunk = typeof cached === 'string' ? await encodeChunk(context, readObject(context, cached), encoding) : cached
      start = keyAfter(typeof cached === 'string' ? cached : cached.lastKey)
      remaining -= chunk.count
      for (const counter of ['fetched', 'evaluated', 'returned'] as const) counters[counter] += chunk.count
      yield chunk
      if (!isPresentState(context, selected)) break
    }
    if (isPresentState(context, selected)) return
  }
  if (remaining > 0)
    yield* encodedChunks(context, { ...selected, range: { start, end: selected.range.end } }, { encoding, limit: remaining })
}

const maxChunkObjects = 256
const maxChunkBytes = 128 << 10

export async function* encodedChunks(
  context: ReadContext,
  selected: SelectedRange,
  { encoding, limit }: ChunkOptions,
): AsyncGenerator<ItemChunk, void, void> {
  const counters = counterOf(context, selected)
  let remaining = limit
  for await (const batch of selectedBatches(context, selected)) {
    const objects = batch.length > remaining ? batch.slice(0, remaining) : batch
    remaining -= objects.length
    counters.returned += objects.length
    // Not split if a webhook converts: a batch is one call.
    for (const chunk of encoding.resource.conversion === undefined ? splitIntoChunks(objects) : [objects])
      yield encodeChunk(context, chunk, encoding)
    if (remaining === 0) return
  }
}

function* splitIntoChunks(objects: readonly StoredObject[]): Generator<readonly StoredObject[]> {
  let from = 0
  let bytes = 0
  for (const [i, { size }] of objects.entries()) {
    bytes += size
    if (i + 1 - from < maxChunkObjects && bytes < maxChunkBytes) continue
    yield objects.slice(from, i + 1)
    from = i + 1
    bytes = 0
  }
  if (from < objects.length) yield objects.slice(from)
}

/** Encodes objects as items with separators. Large ones are encoded in worker threads; a webhook may convert them. */
export async function encodeChunk(
  { largeItems, budget }: Pick<ReadContext, 'largeItems' | 'budget'>,
  objects: readonly StoredObject[],
  encoding: ItemEncoding,
): Promise<ItemChunk> {
  const isConverted = encoding.resource.conversion !== undefined
  // Read first: a cached item may be evicted while others are converted, and its object is not converted.
  const cached = isConverted ? objects.map((object) => object.cachedItem(encoding)) : []
  const waiting: Promise<void>[] = []
  const unconverted: StoredObject[] = []
  for (const [i, object] of objects.entries()) {
    const preparing = cached[i] === undefined ? largeItems.prepare(object, encoding) : undefined
    if (preparing !== undefined) waiting.push(preparing)
    else if (isConverted && cached[i] === undefined) unconverted.push(object)
  }
  if (unconverted.length > 0) waiting.push(convertAhead(unconverted, encoding.resource))
  if (waiting.length > 0) await Promise.all(waiting)
  const parts: Uint8Array[] = []
  let bytes = 0
  for (const [i, object] of objects.entries()) {
    const item = cached[i] ?? object.item(encoding)
    parts.push(encoding.separator, item)
    bytes += encoding.separator.length + item.length
    if (!encoding.isStored && budget.isSpent) await budget.nextTurn()
  }
  return { bytes: Buffer.concat(parts, bytes), count: objects.length, lastKey: objects.at(-1)?.key ?? '' }
}

/** The selected objects in key order. A webhook converts objects whose selected fields need another version. */
export async function* selectedBatches(context: ReadContext, selected: SelectedRange): AsyncGenerator<readonly StoredObject[], void, void> {
  const { resource, selection, matches } = selected
  const isConverted = resource.conversion !== undefined && resource.indexedFields !== undefined && selection.fields !== undefined
  const source = isConverted ? { ...selected, matches: matcherOf(resource, { ...selection, fields: undefined }) ?? matchAll } : selected
  for (const batch of objectBatches(context, source)) {
    if (isConverted) {
      const unindexed = batch.filter((object) => !object.isIndexedAs(resource))
      await convertAhead(unindexed, resource, resource.storedApiVersion)
    }
    const found = isConverted && matches !== undefined ? batch.filter(matches) : batch
    if (found.length > 0) yield found
    if (context.budget.isSpent) await context.budget.nextTurn()
    selected.check?.()
  }
}

const matchAll: Matcher = () => true

const maxBatchObjects = 256
const maxBatchBytes = 1 << 20

/** The selected objects in key order at one revision, one batch per read of the store; a batch may be empty. */
export function* objectBatches(context: ReadContext, selected: SelectedRange): Generator<readonly StoredObject[], void, void> {
  const { resource, matches } = selected
  const counters = counterOf(context, selected)
  const batchLimits =
    resource.conversion === undefined
      ? { limit: maxBatchObjects, maxBytes: maxBatchBytes }
      : { limit: maxConvertedObjects, maxBytes: maxConvertedBytes }
  let { start } = selected.range
  const keys = matches !== undefined && isPresentState(context, selected) ? candidateKeys(context, selected) : undefined
  if (keys !== undefined) {
    const isDecided = isDecidedByIndex(selected.selection)
    let batch: StoredObject[] = []
    let [readCount, bytes] = [0, 0]
    let isChanged = false
    for (const key of keys.from(start)) {
      if (!isInRange(key, selected.range)) break
      start = keyAfter(key)
      readCount += 1
      counters.fetched += 1
      counters.evaluated += 1
      for (const object of readObject(context, key)) {
        bytes += object.size
        if (isDecided || matches === undefined || matches(object)) batch.push(object)
      }
      if (readCount < batchLimits.limit && bytes < batchLimits.maxBytes) continue
      yield batch
      batch = []
      readCount = 0
      bytes = 0
      isChanged = !isPresentState(context, selected)
      if (isChanged) break
    }
    if (batch.length > 0) yield batch
    if (!isChanged) return
  }
  for (let next: string | undefined = start; next !== undefined; ) {
    const range = { start: next, end: selected.range.end }
    if (!isPresentState(context, selected)) for (const _ of context.storage.prepareRangeAt(range, selected.revision)) yield []
    const page = context.storage.range({
      ...range,
      ...batchLimits,
      ...(isPresentState(context, selected) ? {} : { at: selected.revision }),
    })
    counters.fetched += page.entries.length
    counters.evaluated += page.entries.length
    const objects = page.entries.map((entry) => new StoredObject(entry, context.itemCache))
    const last = page.entries.at(-1)
    next = page.more ? (page.next ?? (last && keyAfter(last.key))) : undefined
    yield matches === undefined ? objects : objects.filter(matches)
  }
}

/** A smaller namespace is scanned faster than the label index of its collection is built. */
const maxScannedObjects = 1000

type IndexQuery = Pick<SelectedRange, 'resource' | 'namespace' | 'selection' | 'check'>

/** Builds the label index if the selection can use it and it is missing. */
export async function buildIndex(context: ReadContext, query: IndexQuery): Promise<void> {
  const { resource, namespace, selection, check } = query
  if (context.labelIndex.isBuilt(resource.collection) || positiveRequirements(selection).length === 0) return
  if (exactKey(query) !== undefined) return
  if (namespace !== '' && context.storage.count(rangeOf(resource, namespace)) <= maxScannedObjects) return
  await context.labelIndex.build(resource.collection, context.budget, check)
}

function exactKey({ resource, namespace, selection }: IndexQuery): string | undefined {
  const name = selection.fields?.exactValue('metadata.name')
  return name !== undefined && (namespace !== '' || !resource.namespaced) ? keyOf(resource, namespace, name) : undefined
}

/** A superset of the selected keys, by exact name or from the label index. Undefined: all keys must be scanned. */
function candidateKeys(context: ReadContext, selected: SelectedRange): KeyList | undefined {
  const exact = exactKey(selected)
  if (exact !== undefined) return keyListOf([exact])
  let best: KeyList | undefined
  for (const requirement of positiveRequirements(selected.selection)) {
    const keys = context.labelIndex.keys(selected.resource.collection, requirement)
    if (keys !== undefined && (best === undefined || keys.size < best.size)) best = keys
  }
  return best
}

function readObject({ storage, itemCache }: ReadContext, key: string): readonly StoredObject[] {
  const entry = storage.read(key)
  return entry === undefined ? [] : [new StoredObject(entry, itemCache)]
}

// A page of a collection at one revision: encoded items for clients, or objects for the server's own code.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { type EncodedItems, type ItemEncoding, noSeparator } from '@cluster-apiserver/api/codec/item-encoding.js'
import { CompactedError } from '../../storage/storage.js'
import type { StoredObject } from '../entry/stored-object.js'
import { keyAfter, rangeOf } from '../object-keys.js'
import type { ItemChunk } from '../watch-cache/list-cache.js'
import {
  buildIndex,
  cachedChunks,
  encodedChunks,
  isPresentState,
  objectBatches,
  type ReadContext,
  type SelectedRange,
  selectedBatches,
} from './list-source.js'
import { matcherOf, type Selection } from './selection.js'

export interface ObjectQuery {
  readonly resource: Resource
  readonly namespace: string
  readonly selection: Selection
  /** First key of the page; default: start of the collection. */
  readonly startKey?: string
  /** Default: the newest revision. */
  readonly at?: number
}

export interface ListQuery extends ObjectQuery {
  readonly limit: number
  /** Number of objects from `startKey` on, if an earlier page counted them. */
  readonly expectedCount?: number
  /** Representation of `items`; absent if only `batches` is used. */
  readonly encoding?: ItemEncoding | undefined
  readonly check?: (() => void) | undefined
}

export interface ListPage {
  readonly revision: number
  /** Start of the next page; undefined for the last one. */
  readonly next: { readonly startKey: string; readonly remaining: number | undefined } | undefined
  readonly items: EncodedItems
  batches(): AsyncIterable<readonly StoredObject[]>
}

class ExpiredRevisionError extends Error {
  override readonly name = 'ExpiredRevisionError'
}

/** True if the revision was compacted, which may also happen in the middle of a response. */
export const isExpiredRevision = (thrown: unknown): boolean => thrown instanceof CompactedError || thrown instanceof ExpiredRevisionError

function selectRange(context: ReadContext, query: ObjectQuery & Pick<ListQuery, 'check'>): SelectedRange {
  const { resource, namespace, selection, startKey, at, check } = query
  if (at !== undefined && at < context.storage.compacted) throw new ExpiredRevisionError(`the state at revision ${at} is no longer kept`)
  const collectionRange = rangeOf(resource, namespace)
  return {
    resource,
    namespace,
    selection,
    check,
    matches: matcherOf(resource, selection),
    range: startKey === undefined ? collectionRange : { start: startKey, end: collectionRange.end },
    revision: at ?? context.storage.revision,
  }
}

export function* readAllObjects(context: ReadContext, query: ObjectQuery): Generator<StoredObject> {
  for (const batch of objectBatches(context, selectRange(context, query))) yield* batch
}

export function* readObjectsInSteps(context: ReadContext, query: ObjectQuery): Generator<StoredObject | undefined> {
  for (const batch of objectBatches(context, selectRange(context, query))) {
    yield* batch
    yield undefined
  }
}

/** Yields to the event loop between batches, and converts objects whose selected fields need a webhook. */
export const readObjectsInBatches = (context: ReadContext, query: ObjectQuery): AsyncIterable<readonly StoredObject[]> =>
  selectedBatches(context, selectRange(context, query))

export async function openListPage(context: ReadContext, query: ListQuery): Promise<ListPage> {
  if (query.at === undefined) await buildIndex(context, query)
  const selected = selectRange(context, query)
  const page = pageOf(context, selected, query)
  const { limit } = query
  const total = limit === 0 || selected.matches !== undefined ? undefined : (query.expectedCount ?? (await countOf(context, selected)))
  if (limit === 0 || (total !== undefined && total <= limit)) return page
  // The list metadata, with the continue token, precede the items: so find the end of the page before the response starts.
  const { count, lastKey } = query.encoding === undefined ? await endOfObjects(page, limit) : await endOfItems(page.items)
  const end = lastKey === undefined ? selected.range.start : keyAfter(lastKey)
  const limitedPage = { ...page, batches: () => selectedBatches(context, { ...selected, range: { start: selected.range.start, end } }) }
  if (total !== undefined) return { ...limitedPage, next: { startKey: end, remaining: total - limit } }
  if (count < limit) return limitedPage
  const rest = context.storage.range({
    start: end,
    end: selected.range.end,
    limit: 1,
    ...(isPresentState(context, selected) ? {} : { at: selected.revision }),
  })
  return rest.entries.length > 0 || rest.more ? { ...limitedPage, next: { startKey: end, remaining: undefined } } : limitedPage
}

function pageOf(context: ReadContext, selected: SelectedRange, { encoding, limit }: ListQuery): ListPage & { readonly items: PageItems } {
  const items = new PageItems(context, selected, { encoding, limit: limit === 0 ? Number.POSITIVE_INFINITY : limit })
  return { revision: selected.revision, next: undefined, items, batches: () => selectedBatches(context, selected) }
}

async function countOf(context: ReadContext, selected: SelectedRange): Promise<number> {
  if (isPresentState(context, selected)) return context.storage.count(selected.range)
  for (const _ of context.storage.prepareRangeAt(selected.range, selected.revision)) await context.budget.yieldIfSpent()
  return context.storage.count(selected.range, selected.revision)
}

interface PageEnd {
  readonly count: number
  readonly lastKey: string | undefined
}

async function endOfItems(items: PageItems): Promise<PageEnd> {
  await items.measure(Number.POSITIVE_INFINITY)
  return items
}

async function endOfObjects(page: ListPage, limit: number): Promise<PageEnd> {
  let count = 0
  let lastKey: string | undefined
  for await (const batch of page.batches()) {
    const taken = batch.slice(0, limit - count)
    count += taken.length
    lastKey = taken.at(-1)?.key
    if (count === limit) break
  }
  return { count, lastKey }
}

/** Bytes of a page that stay in memory while its end is searched; the rest is read again. */
const maxBufferedBytes = 4 << 20

/** The encoded items of a page. `measure` finds their size and end before they are sent, and keeps the first chunks. */
class PageItems implements EncodedItems {
  readonly #open: (start: string, taken: number) => AsyncGenerator<ItemChunk, void, void>
  readonly #context: ReadContext
  readonly #selected: SelectedRange
  readonly #separatorBytes: number
  readonly #keptChunks: Uint8Array[] = []
  #source: AsyncGenerator<ItemChunk, void, void> | undefined
  /** Start of the chunks after the kept ones, and number of objects before it. */
  #rest: { readonly start: string; readonly taken: number }
  #isFirst = true
  #bytes: number | undefined
  #lastKey: string | undefined
  #count = 0

  constructor(
    context: ReadContext,
    selected: SelectedRange,
    { encoding, limit }: { readonly encoding: ItemEncoding | undefined; readonly limit: number },
  ) {
    this.#context = context
    this.#selected = selected
    this.#rest = { start: selected.range.start, taken: 0 }
    this.#separatorBytes = encoding?.separator.length ?? 0
    this.#open = (start, taken) => {
      if (encoding === undefined) throw new Error('a list was read without a representation')
      const rest = { ...selected, range: { start, end: selected.range.end } }
      const isFromCache = selected.matches === undefined && encoding.resource.conversion === undefined
      return (isFromCache ? cachedChunks : encodedChunks)(context, rest, { encoding, limit: limit - taken })
    }
  }

  get lastKey(): string | undefined {
    return this.#lastKey
  }

  get count(): number {
    return this.#count
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void> {
    for (let bytes = this.#keptChunks.shift(); bytes !== undefined; bytes = this.#keptChunks.shift()) yield bytes
    for (let chunk = await this.#read(); chunk !== undefined; chunk = await this.#read()) yield this.#bytesOf(chunk)
  }

  async measure(maxBytes: number): Promise<number | undefined> {
    if (this.#bytes !== undefined) return this.#bytes <= maxBytes ? this.#bytes : undefined
    let bytes = this.#keptChunks.reduce((sum, { length }) => sum + length, 0)
    let isKept = true
    let dropped = 0
    while (bytes <= maxBytes) {
      const chunk = await this.#read()
      if (chunk === undefined) {
        this.#bytes = bytes
        this.#count = this.#rest.taken + dropped
        break
      }
      const chunkBytes = this.#bytesOf(chunk)
      isKept &&= bytes < maxBufferedBytes
      bytes += chunkBytes.length
      this.#lastKey = chunk.lastKey
      if (isKept) {
        this.#keptChunks.push(chunkBytes)
        this.#rest = { start: keyAfter(chunk.lastKey), taken: this.#rest.taken + chunk.count }
      } else dropped += chunk.count
    }
    if (!isKept) this.#source = undefined
    return this.#bytes
  }

  async #read(): Promise<ItemChunk | undefined> {
    const { budget } = this.#context
    if (budget.isSpent) await budget.nextTurn()
    this.#selected.check?.()
    this.#source ??= this.#open(this.#rest.start, this.#rest.taken)
    const { value } = await this.#source.next()
    return value ?? undefined
  }

  /** Removes the separator before the first item. */
  #bytesOf({ bytes }: ItemChunk): Uint8Array {
    if (!this.#isFirst) return bytes
    this.#isFirst = false
    return bytes.subarray(this.#separatorBytes)
  }
}

export const encodeItems = (objects: readonly ApiObject[], encoding: ItemEncoding | undefined): EncodedItems =>
  encoding === undefined
    ? chunksOfItems([], noSeparator)
    : chunksOfItems(
        objects.map((object) => encoding.item(object)),
        encoding.separator,
      )

function chunksOfItems(items: readonly Uint8Array[], separator: Uint8Array): EncodedItems {
  const parts = items.flatMap((item, i) => (i === 0 ? [item] : [separator, item]))
  const bytes = parts.reduce((sum, { length }) => sum + length, 0)
  return {
    measure: async (maxBytes) => (bytes <= maxBytes ? bytes : undefined),
    async *[Symbol.asyncIterator]() {
      yield* parts
    },
  }
}

/** Longer lists stay in key order, because sorting needs all objects in memory. */
const maxSortedObjects = 5000

/** Sorts the items of kinds whose tables are not in key order, such as FlowSchemas. */
export async function sortListPage(page: ListPage, { resource, encoding }: ListQuery): Promise<ListPage> {
  if (encoding?.order === undefined) return page
  const objects: StoredObject[] = []
  for await (const batch of page.batches()) {
    objects.push(...batch)
    if (objects.length > maxSortedObjects) return page
  }
  objects.sort((a, b) => encoding.order?.(a.decode(resource), b.decode(resource)) ?? 0)
  const items = objects.map((object) => object.item(encoding))
  return { ...page, items: chunksOfItems(items, encoding.separator) }
}

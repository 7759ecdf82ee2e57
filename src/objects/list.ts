// A page of a collection at one revision: whole ranges come in segments from the cache, selections object by object.

import type { Resource } from '../api/catalog.js'
import type { Pieces } from '../base/pieces.js'
import type { ItemForm, ItemSlices } from '../codec/item-form.js'
import type { KeyRange } from '../storage/storage.js'
import { keyAfter, rangeOf } from './keys.js'
import {
  type AwaitedSteps,
  candidateKeys,
  convertedSlices,
  indexing,
  isNow,
  knownSlices,
  objectsOf,
  type Reads,
  rangeSlices,
  type Selected,
  type Steps,
  selectedSlices,
} from './list-source.js'
import type { KeyList } from './ordered-keys.js'
import { type OpenSlices, PageSlices } from './page-slices.js'
import { isAnsweredByIndex, matcherOf, type Selection } from './selection.js'
import type { StoredObject } from './stored-object.js'

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
  /** In which form items are wanted; left out: not at all. */
  readonly form?: ItemForm | undefined
  /** How the reading is cut, so that others have their turns; left out: not at all. */
  readonly pieces?: Pieces | undefined
}

export interface ObjectPage {
  readonly revision: number
  /** Where the next page begins, when there may be more. */
  readonly next: { readonly startKey: string; readonly remaining: number | undefined } | undefined
  /** In the form of the query. Read it once, and at once or with pauses. */
  readonly items: ItemSlices
  objects(): Iterable<StoredObject>
  /** The same, with undefined where others may have a turn, and what has to be waited for before the next. */
  steps(): AwaitedSteps<StoredObject>
}

/** The state that was asked for is no longer kept. */
export class StateGoneError extends Error {
  override readonly name = 'StateGoneError'
}

interface Page extends Selected {
  readonly form: ItemForm | undefined
  readonly limit: number
  readonly pieces: Pieces | undefined
}

/** Finds out what has to be known before a page can be shown. What it shows is the state after the index of labels is there, if it needs one. */
export function* readPage(reads: Reads, query: ListQuery): Generator<unknown, ObjectPage, void> {
  if (query.at === undefined) yield* indexing(reads, query)
  if (query.at !== undefined && query.at < reads.storage.compacted)
    throw new StateGoneError(`the state at revision ${query.at} is no longer kept`)
  const whole = rangeOf(query.resource, query.namespace)
  const page: Page = {
    resource: query.resource,
    namespace: query.namespace,
    selection: query.selection,
    matches: matcherOf(query.resource, query.selection),
    range: query.startKey === undefined ? whole : { start: query.startKey, end: whole.end },
    revision: query.at ?? reads.storage.revision,
    form: query.form,
    limit: query.limit,
    pieces: query.pieces,
  }
  if (page.matches !== undefined) return yield* selectedPage(reads, page)
  const total = query.limit === 0 ? 0 : (query.expectedCount ?? (yield* counting(reads, page)))
  if (query.limit === 0 || total <= query.limit) return wholePage(reads, page)
  const { items, range } = yield* firstOf(reads, page, rangeItems(reads, page))
  return { ...pageOf(reads, { ...page, range }, items), next: { startKey: range.end, remaining: total - query.limit } }
}

function* counting(reads: Reads, page: Page): Generator<undefined, number, void> {
  if (isNow(reads, page)) return reads.storage.count(page.range)
  yield* reads.storage.recall(page.range, page.revision)
  return reads.storage.count(page.range, page.revision)
}

/** The objects of now. */
export function stepsOf(
  reads: Reads,
  { resource, namespace, selection }: Pick<ListQuery, 'resource' | 'namespace' | 'selection'>,
): AwaitedSteps<StoredObject> {
  const at = { resource, namespace, selection, matches: matcherOf(resource, selection), range: rangeOf(resource, namespace) }
  return objectsOf(reads, { ...at, revision: reads.storage.revision })
}

/** Everything in the range, read while it is sent. */
const wholePage = (reads: Reads, page: Page): ObjectPage => pageOf(reads, page, rangeItems(reads, page))

const pageOf = (reads: Reads, page: Page, items: PageSlices | undefined): ObjectPage => ({
  revision: page.revision,
  next: undefined,
  items: items ?? formless,
  objects: () => found(objectsOf(reads, page)),
  steps: () => objectsOf(reads, page),
})

/** Where nothing has to be waited for. */
export function* ready(steps: AwaitedSteps<StoredObject>): Steps<StoredObject> {
  for (const object of steps) {
    if (object instanceof Promise) throw new Error('objects have to be converted before it is known which are selected')
    yield object
  }
}

function* found(steps: AwaitedSteps<StoredObject>): Generator<StoredObject> {
  for (const object of ready(steps)) if (object !== undefined) yield object
}

const refuse = (): never => {
  throw new Error('a list was read without a form')
}

/** Of a page whose objects alone are wanted. */
const formless: ItemSlices = { next: refuse, measure: refuse }

type SourceOf = (range: KeyRange, limit: number, form: ItemForm) => ReturnType<OpenSlices>

function itemsOf(reads: Reads, page: Page, source: SourceOf): PageSlices | undefined {
  const { range, form, limit, pieces } = page
  if (form === undefined) return undefined
  const slices: SourceOf = isConverted(form)
    ? (rest, left) => convertedSlices(reads, { ...page, range: rest }, { form, limit: left })
    : source
  const left = (taken: number): number => (limit === 0 ? Number.POSITIVE_INFINITY : limit - taken)
  return new PageSlices({
    open: (start, taken) => slices({ start, end: range.end }, left(taken), form),
    start: range.start,
    separator: form.separator,
    pieces,
  })
}

/** Whether somebody else has to be asked for what objects look like. */
const isConverted = ({ resource }: ItemForm): boolean => resource.conversion !== undefined

const rangeItems = (reads: Reads, page: Page): PageSlices | undefined =>
  itemsOf(reads, page, (range, limit, form) => rangeSlices(reads, { ...page, range }, { form, limit }))

interface First {
  readonly items: PageSlices | undefined
  readonly range: KeyRange
  readonly count: number
}

/** The first of a page and where they end. They are looked up before the answer begins, because its head says where the next page starts. */
function* firstOf(reads: Reads, page: Page, items: PageSlices | undefined): Generator<unknown, First, void> {
  const { start } = page.range
  // Where that takes a conversion, objects are looked at instead.
  if (items !== undefined && page.form !== undefined && !isConverted(page.form)) {
    yield* items.measuring(Number.POSITIVE_INFINITY)
    const { lastKey, count } = items
    return { items, count, range: { start, end: lastKey === undefined ? start : keyAfter(lastKey) } }
  }
  let end = start
  let count = 0
  for (const object of objectsOf(reads, page)) {
    if (object === undefined || object instanceof Promise) {
      yield object
      continue
    }
    end = keyAfter(object.key)
    count += 1
    if (count === page.limit) break
  }
  return { items, count, range: { start, end } }
}

/** The objects that a selector picks. Where there is a limit, the next page begins after the last object that was taken. */
function* selectedPage(reads: Reads, page: Page): Generator<unknown, ObjectPage, void> {
  const known = knownKeys(reads, page)
  if (known !== undefined && (page.limit === 0 || known.size < page.limit))
    return pageOf(
      reads,
      page,
      itemsOf(reads, page, (range, _limit, form) => knownSlices(reads, { ...page, range }, { keys: known, form })),
    )
  const all = itemsOf(reads, page, (range, limit, form) => selectedSlices(reads, { ...page, range }, { form, limit }))
  if (page.limit === 0) return pageOf(reads, page, all)
  const { items, range, count } = yield* firstOf(reads, page, all)
  const first = pageOf(reads, { ...page, range }, items)
  const rest = { start: range.end, end: page.range.end, limit: 1, ...(isNow(reads, page) ? {} : { at: page.revision }) }
  const { entries, more } = count === page.limit ? reads.storage.range(rest) : { entries: [], more: false }
  const hasMore = entries.length > 0 || more
  return hasMore ? { ...first, next: { startKey: range.end, remaining: undefined } } : first
}

/** The keys of the objects that are selected, where the index of labels alone tells. */
const knownKeys = (reads: Reads, page: Page): KeyList | undefined =>
  isAnsweredByIndex(page.selection) && isNow(reads, page) ? candidateKeys(reads, page) : undefined

// Reads of older revisions: the newest state with every later change undone.
// A view of revision 7 has, for each key changed after 7, the id of the first such change: the value before it is the value at 7.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { isInRange, topCollectionOfRange } from './collections.js'
import { createSortedMap, type SortedMap } from './memtable.js'
import { type Change, CompactedError, type Entry, type KeyRange, type RangePage, type RangeQuery } from './storage.js'

export type ChangeKind = 'created' | 'updated' | 'deleted'

/** Identifies a change. */
export interface ChangeId {
  readonly revision: number
  readonly position: number
  readonly key: string
  readonly kind: ChangeKind
}

export function kindOf({ value, previous }: Pick<Change, 'value' | 'previous'>): ChangeKind {
  if (!value) return 'deleted'
  return previous ? 'updated' : 'created'
}

export interface HistorySource {
  readonly revision: number
  readonly compacted: number
  changeIdsAfter(revision: number): Iterable<ChangeId>
  previousOf(id: ChangeId): Entry | undefined
  entries(range: KeyRange): Iterable<Entry>
  countNow(range: KeyRange): number
}

interface HistoryViews {
  prepareRangeAt(range: KeyRange, at: number): Generator<undefined, void, void>
  range(query: RangeQuery & { readonly at: number }): RangePage
  count(range: KeyRange, at: number): number
}

/** State of a key in a view. */
interface Undone {
  /** First change of the key after the revision of the view. */
  readonly first: ChangeId
  readonly existsNow: boolean
}

interface View {
  readonly at: number
  /** Only keys of this collection are in the view; undefined: all. */
  readonly collection: string | undefined
  readonly undone: SortedMap<Undone>
  /** Revision up to which changes are in the view. */
  upTo: number
}

/** Number of cached views: the pages of one list read the same revision. */
const maxViews = 8
const maxCachedKeys = 200_000
/** Changes per step: about a millisecond. */
const changesPerStep = 1000
/** Absent entries that a page skips before it ends early. */
const maxSkippedKeys = 1000

export function createHistoryViews(source: HistorySource): HistoryViews {
  let views: readonly View[] = []

  const find = (range: KeyRange, at: number): View => {
    checkRevision(source, at)
    const collection = topCollectionOfRange(range)
    const cached = views.find((view) => view.at === at && view.collection === collection)
    return cached ?? { at, collection, undone: createSortedMap<Undone>(), upTo: at }
  }

  const cacheView = (view: View): void => {
    views = withinBounds([view, ...views.filter((other) => other !== view && other.at >= source.compacted)])
  }

  const viewFor = (range: KeyRange, at: number): View => {
    const view = find(range, at)
    catchUp(view, source, Number.POSITIVE_INFINITY)
    cacheView(view)
    return view
  }

  return {
    *prepareRangeAt(range, at) {
      if (at === source.revision) return
      for (;;) {
        // Find the view again after each step: it may have been evicted, or its history compacted.
        const view = find(range, at)
        const isDone = catchUp(view, source, changesPerStep)
        cacheView(view)
        if (isDone) return
        yield undefined
      }
    },
    range: (query) => collectPage(entriesAtView(source, viewFor(query, query.at), query), query),
    count(range, at) {
      let count = source.countNow(range)
      for (const { value } of viewFor(range, at).undone.entries(range)) {
        count += Number(value.first.kind !== 'created') - Number(value.existsNow)
      }
      return count
    },
  }
}

function checkRevision({ compacted, revision }: Pick<HistorySource, 'compacted' | 'revision'>, at: number): void {
  if (at < compacted) throw new CompactedError(compacted)
  if (at > revision) throw new RangeError(`revision ${at} is not there yet: the storage is at ${revision}`)
}

/** Reads `maxChanges` more changes, and the rest of their last commit, into the view; true if there are no more. */
function catchUp(view: View, source: HistorySource, maxChanges: number): boolean {
  if (view.upTo === source.revision) return true
  let readCount = 0
  let last = view.upTo
  const range = view.collection === undefined ? undefined : { start: `${view.collection}/`, end: `${view.collection}0` }
  for (const id of source.changeIdsAfter(view.upTo)) {
    if (readCount >= maxChanges && id.revision > last) {
      view.upTo = last
      return false
    }
    readCount += 1
    last = id.revision
    if (range && !isInRange(id.key, range)) continue
    const first = view.undone.get(id.key)?.first ?? id
    view.undone.set(id.key, { first, existsNow: id.kind !== 'deleted' })
  }
  view.upTo = source.revision
  return true
}

/** The most recently used views within the bounds; the first always stays. */
function withinBounds(views: readonly View[]): readonly View[] {
  let keys = 0
  return views.slice(0, maxViews).filter((view, index) => {
    keys += view.undone.size
    return index === 0 || keys <= maxCachedKeys
  })
}

/** The entries at the view's revision. A string is a key up to which there are no more entries. */
function* entriesAtView(source: HistorySource, view: View, range: KeyRange): Generator<Entry | string, void, undefined> {
  let skipped = 0
  const undone = view.undone.entries(range)
  let next = undone.next()
  for (const entry of source.entries(range)) {
    while (!next.done && compareText(next.value.key, entry.key) < 0) {
      const before = entryBefore(source, next.value.value)
      if (before) yield before
      else if (++skipped % maxSkippedKeys === 0) yield next.value.key
      next = undone.next()
    }
    if (!next.done && next.value.key === entry.key) {
      if (next.value.value.first.kind === 'created' && ++skipped % maxSkippedKeys === 0) yield entry.key
      continue
    }
    yield entry
  }
  for (; !next.done; next = undone.next()) {
    const before = entryBefore(source, next.value.value)
    if (before) yield before
    else if (++skipped % maxSkippedKeys === 0) yield next.value.key
  }
}

const entryBefore = (source: HistorySource, { first }: Undone): Entry | undefined =>
  first.kind === 'created' ? undefined : source.previousOf(first)

/** A page of entries, cut at the limit of entries or bytes. A string in the source is a key up to which there are no more entries. */
export function collectPage(source: Iterable<Entry | string>, { limit, maxBytes = Number.POSITIVE_INFINITY }: RangeQuery): RangePage {
  const entries: Entry[] = []
  let bytes = 0
  for (const entry of source) {
    if (typeof entry === 'string') return { entries, more: true, next: `${entry}\0` }
    if (entries.length >= limit || bytes >= maxBytes) return { entries, more: true }
    entries.push(entry)
    bytes += entry.value.length
  }
  return { entries, more: false }
}

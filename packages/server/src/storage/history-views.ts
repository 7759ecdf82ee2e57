// Older states of the storage: the newest state, with every change after the wanted revision undone.
//
// A view of revision 7 holds, for each key changed after 7, the first such change: what the key held before it is what it held at 7.
//   history: 8 creates b · 9 updates a · 10 deletes a        now: b
//   view of 7: a → change 9 (its previous value is a's value at 7), b → change 8 (a creation: b was absent at 7)
// Views hold names only, never values; a few are kept, because the pages of one list ask for the same revision again and again.

import { compareText } from '../base/text-order.js'
import { topCollectionOfRange } from './collections.js'
import { isInRange } from './key-order.js'
import { collectPage } from './range-page.js'
import { createSortedMap, type SortedMap } from './sorted-map.js'
import { type Change, CompactedError, type Entry, type KeyRange, type RangePage, type RangeQuery } from './storage.js'

export type ChangeKind = 'created' | 'updated' | 'deleted'

/** Enough of a change to find the rest of it. */
export interface ChangeName {
  readonly revision: number
  /** Which of the changes of its commit. */
  readonly position: number
  readonly key: string
  readonly kind: ChangeKind
}

export function kindOf({ value, previous }: Pick<Change, 'value' | 'previous'>): ChangeKind {
  if (!value) return 'deleted'
  return previous ? 'updated' : 'created'
}

/** What the views need from an engine. */
export interface HistorySource {
  readonly revision: number
  readonly compacted: number
  /** The names of the changes after `revision`, oldest first. */
  namesAfter(revision: number): Iterable<ChangeName>
  /** What the key held before the change. */
  previousOf(name: ChangeName): Entry | undefined
  /** The newest entries of the range, in order. */
  entries(range: KeyRange): Iterable<Entry>
  countNow(range: KeyRange): number
}

export interface HistoryViews {
  /** Makes the view that reads of this range and revision need, step by step. */
  recall(range: KeyRange, at: number): Generator<undefined, void, void>
  range(query: RangeQuery & { readonly at: number }): RangePage
  count(range: KeyRange, at: number): number
}

interface Undone {
  readonly first: ChangeName
  readonly existsNow: boolean
}

interface View {
  readonly at: number
  /** Only keys of this collection are in the view; undefined: all. */
  readonly collection: string | undefined
  readonly undone: SortedMap<Undone>
  upTo: number
}

const mostViews = 8
const mostKeysKept = 200_000
/** Changes that are looked at between two yields: about a millisecond. */
const namesPerStep = 1000
/** Entries that are passed over before a page ends early. */
const mostPassed = 1000
/** Whoever makes a view and has not gone on for so long has given it up. */
const abandonedMs = 500

export function createHistoryViews(source: HistorySource): HistoryViews {
  let views: readonly View[] = []
  /** The one that is made step by step: of several at a time nobody would know how much memory they take. */
  let making: { readonly view: View; lastMs: number } | undefined

  const find = (range: KeyRange, at: number): View => {
    checkRevision(source, at)
    const collection = topCollectionOfRange(range)
    const isWanted = (view: View): boolean => view.at === at && view.collection === collection
    if (making !== undefined && isWanted(making.view)) return making.view
    return views.find(isWanted) ?? { at, collection, undone: createSortedMap<Undone>(), upTo: at }
  }

  const keep = (view: View): void => {
    views = withinBounds([view, ...views.filter((other) => other !== view && other.at >= source.compacted)])
  }

  const viewFor = (range: KeyRange, at: number): View => {
    const view = find(range, at)
    catchUp(view, source, Number.POSITIVE_INFINITY)
    keep(view)
    return view
  }

  return {
    *recall(range, at) {
      if (at === source.revision) return
      for (;;) {
        const view = find(range, at)
        const isFree = making === undefined || making.view === view || performance.now() - making.lastMs > abandonedMs
        if (isFree) {
          if (catchUp(view, source, namesPerStep)) {
            making = making?.view === view ? undefined : making
            keep(view)
            return
          }
          making = { view, lastMs: performance.now() }
        }
        yield undefined
      }
    },
    range: (query) => collectPage(merged(source, viewFor(query, query.at), query), query),
    count(range, at) {
      let count = source.countNow(range)
      for (const { value } of viewFor(range, at).undone.entries(range)) {
        count += Number(value.first.kind !== 'created') - Number(value.existsNow)
      }
      return count
    },
  }
}

export function checkRevision({ compacted, revision }: Pick<HistorySource, 'compacted' | 'revision'>, at: number): void {
  if (at < compacted) throw new CompactedError(compacted)
  if (at > revision) throw new RangeError(`revision ${at} is not there yet: the storage is at ${revision}`)
}

/** Looks at so many changes, and a little more rather than split a commit; whether that were all. */
function catchUp(view: View, source: HistorySource, most: number): boolean {
  if (view.upTo === source.revision) return true
  let looked = 0
  let last = view.upTo
  const range = view.collection === undefined ? undefined : { start: `${view.collection}/`, end: `${view.collection}0` }
  for (const name of source.namesAfter(view.upTo)) {
    if (looked >= most && name.revision > last) {
      view.upTo = last
      return false
    }
    looked += 1
    last = name.revision
    if (range && !isInRange(name.key, range)) continue
    const first = view.undone.get(name.key)?.first ?? name
    view.undone.set(name.key, { first, existsNow: name.kind !== 'deleted' })
  }
  view.upTo = source.revision
  return true
}

/** The most recently used views, as many as may be kept; the one in use always. */
function withinBounds(views: readonly View[]): readonly View[] {
  let keys = 0
  return views.slice(0, mostViews).filter((view, index) => {
    keys += view.undone.size
    return index === 0 || keys <= mostKeysKept
  })
}

/** The entries of the range at the view's revision: unchanged ones from the newest state, the others from before their first change. */
function* merged(source: HistorySource, view: View, range: KeyRange): Generator<Entry | string, void, undefined> {
  let passed = 0
  const undone = view.undone.entries(range)
  let next = undone.next()
  for (const entry of source.entries(range)) {
    while (!next.done && compareText(next.value.key, entry.key) < 0) {
      const before = beforeAll(source, next.value.value)
      if (before) yield before
      else if (++passed % mostPassed === 0) yield next.value.key
      next = undone.next()
    }
    if (!next.done && next.value.key === entry.key) {
      // It was there, and is shown as it was; or it was not, and many may not have been.
      if (next.value.value.first.kind === 'created' && ++passed % mostPassed === 0) yield entry.key
      continue
    }
    yield entry
  }
  for (; !next.done; next = undone.next()) {
    const before = beforeAll(source, next.value.value)
    if (before) yield before
    else if (++passed % mostPassed === 0) yield next.value.key
  }
}

/** What the key held before its first change. */
const beforeAll = (source: HistorySource, { first }: Undone): Entry | undefined =>
  first.kind === 'created' ? undefined : source.previousOf(first)

// Which collections a key belongs to, so that an engine can count them as it writes and answer `count` without scanning.
//
// `configmaps/shop/a` belongs to `configmaps` and to `configmaps/shop`; `nodes/n1` to `nodes`; a key without '/' to none.
// The range of a whole collection is [name + '/', name + '0'), because '0' is the character after '/'.

import type { KeyRange } from './storage.js'

/** How many keys each collection has, kept up to date change by change. */
export interface CollectionCounts {
  of(collection: string): number
  /** A key was created (1) or deleted (-1). */
  add(key: string, delta: 1 | -1): void
  /** The collections whose count has changed since it was saved, with their counts. */
  unsaved(): ReadonlyMap<string, number>
  saved(counts: ReadonlyMap<string, number>): void
}

export function createCollectionCounts(initial: Iterable<readonly [string, number]> = []): CollectionCounts {
  const counts = new Map(initial)
  const changed = new Set<string>()
  const addTo = (collection: string, delta: number): void => {
    const count = (counts.get(collection) ?? 0) + delta
    if (count === 0) counts.delete(collection)
    else counts.set(collection, count)
    changed.add(collection)
  }
  return {
    of: (collection) => counts.get(collection) ?? 0,
    add(key, delta) {
      const first = key.indexOf('/')
      if (first < 0) return
      addTo(key.slice(0, first), delta)
      const second = key.indexOf('/', first + 1)
      if (second >= 0) addTo(key.slice(0, second), delta)
    },
    unsaved: () => new Map(Array.from(changed, (collection) => [collection, counts.get(collection) ?? 0])),
    saved(saved) {
      for (const [collection, count] of saved) if (count === (counts.get(collection) ?? 0)) changed.delete(collection)
    },
  }
}

/** The collection that the range holds exactly, if it is one of those that are counted. */
export function collectionOfRange({ start, end }: KeyRange): string | undefined {
  if (!start.endsWith('/') || !end.endsWith('0') || end.length !== start.length) return undefined
  const name = start.slice(0, -1)
  if (name !== end.slice(0, -1)) return undefined
  const first = name.indexOf('/')
  return first < 0 || name.indexOf('/', first + 1) < 0 ? name : undefined
}

/** The first part of a key that all keys of the range share, or undefined when the range spans several. */
export function topCollectionOfRange({ start, end }: KeyRange): string | undefined {
  const slash = start.indexOf('/')
  if (slash < 0) return undefined
  const name = start.slice(0, slash)
  const rest = end.startsWith(name) ? end.slice(slash) : ''
  return rest.startsWith('/') || rest === '0' ? name : undefined
}

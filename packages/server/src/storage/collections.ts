// Collections and ranges of storage keys: key counts per collection, range checks, key limits.
// The range of a whole collection is [name + '/', name + '0'), because '0' is the character after '/'.

import { comparatorFor, compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { KeyRange } from './storage.js'

/** Key counts of collections (`pods`) and of their namespaces (`pods/default`). */
export interface CollectionCounts {
  countOf(collection: string): number
  /** A key was created (1) or deleted (-1). */
  add(key: string, delta: 1 | -1): void
  /** Counts that have changed since their last save. */
  unsaved(): ReadonlyMap<string, number>
  markSaved(counts: ReadonlyMap<string, number>): void
  copy(): CollectionCounts
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
    countOf: (collection) => counts.get(collection) ?? 0,
    add(key, delta) {
      const first = key.indexOf('/')
      if (first < 0) return
      addTo(key.slice(0, first), delta)
      const second = key.indexOf('/', first + 1)
      if (second >= 0) addTo(key.slice(0, second), delta)
    },
    unsaved: () => new Map(Array.from(changed, (collection) => [collection, counts.get(collection) ?? 0])),
    markSaved(saved) {
      for (const [collection, count] of saved) if (count === (counts.get(collection) ?? 0)) changed.delete(collection)
    },
    copy: () => createCollectionCounts(counts),
  }
}

export function collectionOfRange({ start, end }: KeyRange): string | undefined {
  if (!start.endsWith('/') || !end.endsWith('0') || end.length !== start.length) return undefined
  const name = start.slice(0, -1)
  if (name !== end.slice(0, -1)) return undefined
  const first = name.indexOf('/')
  return first < 0 || name.indexOf('/', first + 1) < 0 ? name : undefined
}

/** The collection of all keys in the range; undefined if the range spans several. */
export function topCollectionOfRange({ start, end }: KeyRange): string | undefined {
  const slash = start.indexOf('/')
  if (slash < 0) return undefined
  const name = start.slice(0, slash)
  const rest = end.startsWith(name) ? end.slice(slash) : ''
  return rest.startsWith('/') || rest === '0' ? name : undefined
}

/** LMDB's own limit is 1978 bytes with pages of 4 KiB; the history puts a few bytes before the key. */
export const maxKeyBytes = 1900

export function isInRange(key: string, range: KeyRange): boolean {
  const compare = comparatorFor(key)
  return compare(key, range.start) >= 0 && compare(key, range.end) < 0
}

export const isEmptyRange = ({ start, end }: KeyRange): boolean => compareText(start, end) >= 0

/** Throws if an engine could not return the key as it was written. */
export function checkKey(key: string): void {
  if (key === '') throw new RangeError('a storage key must not be empty')
  if (isTooLong(key)) throw new RangeError(`a storage key must not be longer than ${maxKeyBytes} bytes`)
  if (!key.isWellFormed()) throw new RangeError('a storage key must be well-formed Unicode')
}

export function isTooLong(key: string): boolean {
  return key.length * 3 > maxKeyBytes && Buffer.byteLength(key) > maxKeyBytes
}

/** Truncates a bound to `maxKeyBytes`; no stored key lies between the two. */
export function clipBound(bound: string): string {
  return isTooLong(bound)
    ? Buffer.from(bound)
        .toString('utf8', 0, maxKeyBytes)
        .replace(/\ufffd+$/, '')
    : bound
}

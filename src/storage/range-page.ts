// A page of entries, cut where it has as many as were asked for, or as many bytes.

import type { Entry, RangePage, RangeQuery } from './storage.js'

/** A text in the source stands for much that was passed over: up to this key nothing more is in the page. */
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

/** A page of changes ends when its values, the new ones and those they replaced, are this long together. */
export const mostChangeBytes = 4 << 20

// What selectors look at, as it stands in the header of an entry: labels, and behind them the fields of the kind.

import { indexVersionFor } from '../api/index-version.js'
import type { Entry } from '../storage/storage.js'
import { bytesOf, indexPlace, indexVersionOf } from './entry-header.js'

export interface SelectorIndex {
  readonly labels: { readonly [key: string]: string } | undefined
  readonly fields: { readonly [path: string]: string } | undefined
}

const emptyIndex: SelectorIndex = { labels: undefined, fields: undefined }
const noFields = indexVersionFor([])

/** The index of an entry, and which fields it has. */
export function parseIndex({ value }: Pick<Entry, 'value'>): { readonly index: SelectorIndex; readonly version: number } {
  const place = indexPlace(bytesOf({ value }))
  const version = indexVersionOf(bytesOf({ value }))
  if (place.start === place.end) return { index: emptyIndex, version: version ?? noFields }
  const { l, f } = JSON.parse(value.toString('utf8', place.start, place.end)) as {
    l?: Record<string, string>
    f?: Record<string, string>
  }
  return { index: { labels: l, fields: f }, version: version ?? indexVersionFor(Object.keys(f ?? {})) }
}

/** Bytes of an index: to parse more takes a good part of a millisecond. */
const mostAtOnce = 16 << 10
/** Labels have no objects in them, and in a text quotes are escaped. */
const fieldsStart = Buffer.from('"f":{')

/** The fields of a long index, if they are of this version. Undefined: the index is to be parsed. */
export function fieldsAlone({ value }: Pick<Entry, 'value'>, version: number): SelectorIndex['fields'] {
  const { start, end } = indexPlace(bytesOf({ value }))
  if (end - start <= mostAtOnce || indexVersionOf(bytesOf({ value })) !== version) return undefined
  const at = value.subarray(start, end).lastIndexOf(fieldsStart)
  if (at < 0) return undefined
  return JSON.parse(value.toString('utf8', start + at + fieldsStart.length - 1, end - 1)) as Record<string, string>
}

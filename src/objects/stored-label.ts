// One label of a stored object, found in the index beside its bytes: the whole index of thousands of labels takes as long as the object to parse.

import { bytesOf, indexPlace } from './entry-header.js'
import { mostReadAtOnce } from './fields-in-steps.js'
import type { StoredObject } from './stored-object.js'

const fields = '"f":{'

/** Undefined where the object has no such label. */
export function labelOf(stored: StoredObject, name: string): string | undefined {
  if (stored.size <= mostReadAtOnce) return stored.labels()?.[name]
  const { value } = stored.entry
  const { start, end } = indexPlace(bytesOf(stored.entry))
  const index = value.subarray(start, end)
  // Quotes in texts are escaped, and the values of labels are no objects: both words are names.
  const word = `${JSON.stringify(name)}:"`
  const at = index.indexOf(word)
  const fieldsAt = at < 0 ? -1 : index.indexOf(fields)
  if (at < 0 || (fieldsAt >= 0 && fieldsAt < at)) return undefined
  const begin = at + Buffer.byteLength(word)
  const text = index.toString('utf8', begin, index.indexOf('"', begin))
  return text.includes('\\') ? stored.labels()?.[name] : text
}

/** Those of some names that it has. */
export function labelsAmong(stored: StoredObject, names: readonly string[]): { readonly [name: string]: string } {
  const found: Record<string, string> = {}
  for (const name of names) {
    const value = labelOf(stored, name)
    if (value !== undefined) found[name] = value
  }
  return found
}

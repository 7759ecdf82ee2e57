// A stored object without what anybody may hang on it, labels and annotations, and without the owners of its fields: what loops look at. Of what is
// large nothing else is parsed.

import type { ApiObject } from '../api/object.js'
import { parseJson } from '../codec/json.js'
import { type Slices, sliceRecord } from '../codec/json-slices.js'
import { readValue } from '../schema/read.js'
import { bodyStartOf, bytesOf, spliceOf } from './entry-header.js'
import { mostReadAtOnce } from './fields-in-steps.js'
import { isCurrent, openBrace, type StoredKind, type StoredObject } from './stored-object.js'

const hung: ReadonlySet<string> = new Set(['labels', 'annotations', 'managedFields'])
const closeBrace = Uint8Array.of(0x7d)

/** In the version that is stored now, in short steps. One that was written in another version, or is small, is decoded whole. */
export function* leanObject(stored: StoredObject, resource: StoredKind): Generator<undefined, ApiObject, void> {
  const bytes = bytesOf(stored.entry)
  if (stored.size <= mostReadAtOnce || !isCurrent(bytes, resource)) return stored.decode(resource)
  const body = stored.entry.value.subarray(bodyStartOf(bytes))
  const members = yield* sliceRecord(Buffer.concat([openBrace, body, closeBrace]))
  const { metadata, ...others } = Object.fromEntries(members)
  if (metadata === undefined) throw new Error(`${stored.key} has no metadata`)
  const kept = [...(yield* sliceRecord(metadata))].filter(([name]) => !hung.has(name))
  const parts: Slices = new Map([['metadata', Buffer.from(textOf(kept))], ...Object.entries(others)])
  // The upper bits say what a plain parse would get wrong.
  const { value } = parseJson(Buffer.from(textOf(parts)))
  const read = spliceOf(bytes) >>> 30 === 0 ? value : readValue(resource.storedSchema, value).value
  const object = read as ApiObject
  return { ...object, metadata: { ...object.metadata, resourceVersion: stored.resourceVersion } }
}

const textOf = (members: Iterable<readonly [string, Buffer]>): string =>
  `{${Array.from(members, ([name, value]) => `${JSON.stringify(name)}:${value.toString('utf8')}`).join(',')}}`

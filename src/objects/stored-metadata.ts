// The metadata of a stored object, which are the same in all versions: of what is large nothing else is parsed.

import type { ObjectMeta } from '../api/object.js'
import { placeOfMember } from '../codec/json-slices.js'
import { bytesOf } from './entry-header.js'
import { placeBehindUid } from './owner-fields.js'
import type { StoredKind, StoredObject } from './stored-object.js'

/** From here on a parser takes longer than a look for one member. */
const largeBytes = 64 << 10

/** The owners of fields, of which there may be as many as there are fields, stand last in the schema: they are not read. */
export type KnownMeta = Omit<ObjectMeta, 'managedFields'>

export function metadataOf(stored: StoredObject, resource: StoredKind): KnownMeta {
  if (stored.size < largeBytes) return stored.inAnyVersion(resource).metadata ?? {}
  const { value } = stored.entry
  const within = placeBehindUid(bytesOf(stored.entry))
  // Only names stand between the two, in which quotes are escaped.
  const start = value.lastIndexOf(opening, within)
  const end = placeOfMember(value, within, 'managedFields')
  if (start < 0 || end === undefined) throw new Error(`${stored.key} has no metadata`)
  const members = value.toString('utf8', start + opening.length, value[end - 1] === comma ? end - 1 : end)
  return { ...(JSON.parse(`{${members}}`) as KnownMeta), resourceVersion: stored.resourceVersion }
}

const opening = Buffer.from('"metadata":{')
const comma = 0x2c

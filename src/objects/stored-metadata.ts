// The metadata of a stored object, which are the same in all versions: of what is large nothing else is parsed.

import type { ObjectMeta } from '../api/object.js'
import { membersWithout } from '../codec/json-slices.js'
import { bytesOf } from './entry-header.js'
import { mostReadAtOnce } from './fields-in-steps.js'
import { placeBehindUid } from './owner-fields.js'
import type { StoredKind, StoredObject } from './stored-object.js'

/**
 * What anybody may hang on an object is not read, nor the owners of fields, of which there may be as many as there are fields, and which stand last
 * in the schema.
 */
export type KnownMeta = Omit<ObjectMeta, 'labels' | 'annotations' | 'managedFields'>

const unread = { names: new Set(['labels', 'annotations']), last: 'managedFields' }

export function metadataOf(stored: StoredObject, resource: StoredKind): KnownMeta {
  if (stored.size <= mostReadAtOnce) return stored.inAnyVersion(resource).metadata ?? {}
  const { value } = stored.entry
  const within = placeBehindUid(bytesOf(stored.entry))
  // Only names stand between the two, in which quotes are escaped.
  const start = value.lastIndexOf(opening, within)
  const behind = membersWithout(value, within, unread)
  if (start < 0 || behind === undefined) throw new Error(`${stored.key} has no metadata`)
  // Without the comma behind the uid.
  const members = [value.toString('utf8', start + opening.length, within - 1), ...behind]
  return { ...(JSON.parse(`{${members.join(',')}}`) as KnownMeta), resourceVersion: stored.resourceVersion }
}

const opening = Buffer.from('"metadata":{')

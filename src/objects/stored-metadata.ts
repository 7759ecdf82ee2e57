// The metadata of a stored object, which are the same in all versions: of what is large nothing else is parsed.

import type { ObjectMeta } from '../api/object.js'
import { findMember } from '../codec/json-slices.js'
import { bodyStartOf, bytesOf } from './entry-header.js'
import type { StoredKind, StoredObject } from './stored-object.js'

/** From here on a parser takes longer than a look for one member. */
const largeBytes = 64 << 10

export function metadataOf(stored: StoredObject, resource: StoredKind): ObjectMeta {
  if (stored.size < largeBytes) return stored.inAnyVersion(resource).metadata ?? {}
  const { entry } = stored
  const found = findMember(entry.value.subarray(bodyStartOf(bytesOf(entry))), 'metadata')
  return found === undefined ? {} : { ...(JSON.parse(found.toString('utf8')) as ObjectMeta), resourceVersion: stored.resourceVersion }
}

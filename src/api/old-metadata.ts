// Writing one part of an object by a subresource that leaves all metadata as it was.

import { type ApiObject, withMetadata } from './object.js'

/** The object with the metadata of the old one. Who manages which fields is new all the same: the write itself changed that. */
export function withOldMetadata<T extends ApiObject>(next: T, old: ApiObject): T {
  return withMetadata({ ...next, metadata: old.metadata ?? {} }, { managedFields: next.metadata?.managedFields })
}

// Writing one part of an object by a subresource that leaves all metadata as it was.

import type { SubresourceDefinition } from './definition.js'
import { type ApiObject, withMetadata } from './object.js'

/** The object with the metadata of the old one. Who manages which fields is new all the same: the write itself changed that. */
export function withOldMetadata<T extends ApiObject>(next: T, old: ApiObject): T {
  return withMetadata({ ...next, metadata: old.metadata ?? {} }, { managedFields: next.metadata?.managedFields })
}

/** Whoever writes this `status` changes nothing but the status: neither the metadata nor what is wished for. */
export const statusAlone = <T extends ApiObject & { readonly spec?: object }>(
  validateUpdate: NonNullable<SubresourceDefinition<T>['validateUpdate']>,
): SubresourceDefinition<T> => ({
  name: 'status',
  verbs: ['get', 'patch', 'update'],
  prepareUpdate: (next, old) => withOldMetadata({ ...next, spec: old.spec ?? {} }, old),
  validateUpdate,
  resetFields: ['metadata', 'spec'],
})

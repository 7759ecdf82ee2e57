// Subresource updates that keep the stored metadata, except managedFields.

import { type ApiObject, withMetadata } from '../object.js'
import type { SubresourceDefinition } from './resource-definition.js'

/** Keeps the new managedFields, which record this update. */
export function withOldMetadata<T extends ApiObject>(next: T, old: ApiObject): T {
  return withMetadata({ ...next, metadata: old.metadata ?? {} }, { managedFields: next.metadata?.managedFields })
}

/** The `status` subresource of kinds whose status updates change neither metadata nor spec. */
export const statusOnlySubresource = <T extends ApiObject & { readonly spec?: object }>(
  validateUpdate: NonNullable<SubresourceDefinition<T>['validateUpdate']>,
): SubresourceDefinition<T> => ({
  name: 'status',
  verbs: ['get', 'patch', 'update'],
  prepareUpdate: (next, old) => withOldMetadata({ ...next, spec: old.spec ?? {} }, old),
  validateUpdate,
  resetFields: ['metadata', 'spec'],
})

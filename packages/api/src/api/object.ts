// ApiObject: `kind`, `apiVersion` and `metadata`, which all API objects have; finds the type, and copies objects with other metadata.

import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from './meta.schema.js'

export type { ManagedFieldsEntry, ObjectMeta, OwnerReference }

/** Integers beyond 2^53 are bigints. */
export type Json = string | number | bigint | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** Immutable. */
export interface ApiObject {
  readonly kind?: string
  readonly apiVersion?: string
  readonly metadata?: ObjectMeta
}

export const members = (object: ApiObject): { readonly [name: string]: unknown } => object as { readonly [name: string]: unknown }

/**
 * kind and apiVersion of a document of a built-in kind. As in kube-apiserver, names match in any letter case and the last one counts,
 * except null. The first value that is not a string is returned, so that the caller reports it.
 */
export function findType(document: { readonly [name: string]: unknown }, names: readonly string[] = Object.keys(document)) {
  const found: { kind?: unknown; apiVersion?: unknown } = {}
  for (const name of names) {
    const field = typeNames.get(name.length)
    if (field === undefined || (name !== field && name.toLowerCase() !== field.toLowerCase())) continue
    if (document[name] !== null && typeof (found[field] ?? '') === 'string') found[field] = document[name]
  }
  return found
}

/** Names by length, so that most members are skipped without a comparison. */
const typeNames: ReadonlyMap<number, 'kind' | 'apiVersion'> = new Map([
  ['kind'.length, 'kind'],
  ['apiVersion'.length, 'apiVersion'],
])

/** Returns the same object if nothing changes; undefined removes a field. */
export function withMetadata<T extends ApiObject>(object: T, changes: { readonly [K in keyof ObjectMeta]?: ObjectMeta[K] | undefined }): T {
  const fields = changes as { readonly [name: string]: unknown }
  if (object.metadata !== undefined && hasAlready(object.metadata, fields)) return object
  const metadata: Record<string, unknown> = Object.assign({}, object.metadata)
  for (const name in fields) {
    const value = fields[name]
    if (value !== undefined) metadata[name] = value
    else if (name in metadata) return withFieldsRemoved(object, fields)
  }
  return copyWith(object, metadata)
}

/** Spreads, because Object.assign takes a member `__proto__` for the prototype. V8 has no inline cache for members after a spread. */
function copyWith<T extends ApiObject>(object: T, metadata: ObjectMeta): T {
  const copy: { metadata?: ObjectMeta } = { ...object }
  copy.metadata = metadata
  return copy as T
}

function hasAlready(metadata: ObjectMeta, changes: { readonly [name: string]: unknown }): boolean {
  const before = metadata as { readonly [name: string]: unknown }
  for (const name in changes) {
    const value = changes[name]
    if (value === undefined ? name in before : value !== before[name]) return false
  }
  return true
}

/** Copies the metadata: `delete` would turn it into a slow dictionary object. */
function withFieldsRemoved<T extends ApiObject>(object: T, changes: { readonly [name: string]: unknown }): T {
  const before = object.metadata as { readonly [name: string]: unknown } | undefined
  const metadata: Record<string, unknown> = {}
  for (const name in before) if (!(name in changes)) metadata[name] = before[name]
  for (const name in changes) if (changes[name] !== undefined) metadata[name] = changes[name]
  return copyWith(object, metadata)
}

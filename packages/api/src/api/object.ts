// What every API object has in common, as plain data.

import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from './meta.schema.js'

export type { ManagedFieldsEntry, ObjectMeta, OwnerReference }

/** A value that JSON can say. Integers beyond 2^53 are bigints. */
export type Json = string | number | bigint | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** An object of some kind, in some version. Nobody changes one that it was handed. */
export interface ApiObject {
  readonly kind?: string
  readonly apiVersion?: string
  readonly metadata?: ObjectMeta
}

/** The members of an object beyond its metadata, for code that walks objects of any kind. */
export const members = (object: ApiObject): { readonly [name: string]: unknown } => object as { readonly [name: string]: unknown }

/** A copy with some metadata changed, or the object itself where that changes nothing; a field set to undefined is left out. */
export function withMetadata<T extends ApiObject>(object: T, changes: { readonly [K in keyof ObjectMeta]?: ObjectMeta[K] | undefined }): T {
  const after = changes as { readonly [name: string]: unknown }
  if (object.metadata !== undefined && hasAlready(object.metadata, after)) return object
  const metadata: Record<string, unknown> = Object.assign({}, object.metadata)
  for (const name in after) {
    const value = after[name]
    if (value !== undefined) metadata[name] = value
    else if (name in metadata) return withoutSome(object, after)
  }
  return copyWith(object, metadata)
}

/** Set and not spelled as one literal: V8 keeps no shortcut for members that follow a spread, once many kinds of objects came by. */
function copyWith<T extends ApiObject>(object: T, metadata: ObjectMeta): T {
  const copy: { metadata?: ObjectMeta } = Object.assign({}, object)
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

/** Written out, because deleting members would make the object slow for whoever reads it next. */
function withoutSome<T extends ApiObject>(object: T, changes: { readonly [name: string]: unknown }): T {
  const before = object.metadata as { readonly [name: string]: unknown } | undefined
  const metadata: Record<string, unknown> = {}
  for (const name in before) if (!(name in changes)) metadata[name] = before[name]
  for (const name in changes) if (changes[name] !== undefined) metadata[name] = changes[name]
  return copyWith(object, metadata)
}

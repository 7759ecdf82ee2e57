// The values that the client hands out: objects of kinds it knows nothing of, lists, tables, events.

import type { ListMeta, PartialObjectMetadata, Status, Table, TableRow } from '../api/meta.schema.js'
import type { ApiObject, ObjectMeta } from '../api/object.js'

export type { ApiObject, ListMeta, ObjectMeta, PartialObjectMetadata, Status, Table, TableRow }

/** An object of any kind. */
export type DynamicObject = ApiObject & { readonly [field: string]: unknown }

export interface ObjectList<T> {
  readonly kind?: string
  readonly apiVersion?: string
  readonly metadata: ListMeta
  readonly items: readonly T[]
}

/** What happened to an object of the collection. */
export interface ObjectEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: T
}

/** Nothing happened up to this version. */
export interface BookmarkEvent {
  readonly type: 'BOOKMARK'
  readonly object: ApiObject
}

export type WatchEvent<T> = ObjectEvent<T> | BookmarkEvent

/** How the object that has this name in this namespace is called in a store: `shop/prices`, or `prices` where there are no namespaces. */
export const keyOf = ({ metadata }: ApiObject): string =>
  metadata?.namespace === undefined || metadata.namespace === '' ? (metadata?.name ?? '') : `${metadata.namespace}/${metadata.name ?? ''}`

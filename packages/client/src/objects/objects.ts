// Types of values that the client returns: objects, lists, tables, watch events.

import type { ListMeta, PartialObjectMetadata, Status, Table, TableRow } from '@cluster-apiserver/api/api/meta.schema.js'
import type { ApiObject, ObjectMeta } from '@cluster-apiserver/api/api/object.js'

export type { ApiObject, ListMeta, ObjectMeta, PartialObjectMetadata, Status, Table, TableRow }

export type DynamicObject = ApiObject & { readonly [field: string]: unknown }

export interface ObjectList<T> {
  readonly kind?: string
  readonly apiVersion?: string
  readonly metadata: ListMeta
  readonly items: readonly T[]
}

/** Metadata of an event's object, read without parsing the object. Missing values are empty strings. */
export interface EventHead {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly resourceVersion: string
  toJSON(): { readonly type: string; readonly object: unknown }
}

/** Change of an object. `object` is parsed on first access. */
export interface ObjectEvent<T> extends EventHead {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: T
}

/** Bookmark: no further changes up to this resourceVersion. */
export interface BookmarkEvent extends EventHead {
  readonly type: 'BOOKMARK'
  readonly object: ApiObject
}

export type WatchEvent<T> = ObjectEvent<T> | BookmarkEvent

/** Key in an ObjectStore: `shop/prices`, or `prices` for cluster-scoped objects. */
export const keyOf = ({ metadata }: ApiObject): string => storeKey(metadata?.name ?? '', metadata?.namespace)

export const storeKey = (name: string, namespace: string | undefined): string =>
  namespace === undefined || namespace === '' ? name : `${namespace}/${name}`

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

/** What every event says of its object, without that the object is parsed. Empty where the object has none of it. */
export interface EventHead {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly resourceVersion: string
  /** The plain value of it, as it was sent. */
  toJSON(): { readonly type: string; readonly object: unknown }
}

/** What happened to an object of the collection. The object is parsed when it is first read. */
export interface ObjectEvent<T> extends EventHead {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: T
}

/** Nothing happened up to this version. */
export interface BookmarkEvent extends EventHead {
  readonly type: 'BOOKMARK'
  readonly object: ApiObject
}

export type WatchEvent<T> = ObjectEvent<T> | BookmarkEvent

/** How the object that has this name in this namespace is called in a store: `shop/prices`, or `prices` where there are no namespaces. */
export const keyOf = ({ metadata }: ApiObject): string => storeKey(metadata?.name ?? '', metadata?.namespace)

export const storeKey = (name: string, namespace: string | undefined): string =>
  namespace === undefined || namespace === '' ? name : `${namespace}/${name}`

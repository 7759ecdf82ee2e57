// How plugins look at other objects: by the words of a path, always the newest state.

import type { Catalog, Resource } from '../api/catalog.js'
import type { GroupName } from '../api/identity.js'
import type { ApiObject } from '../api/object.js'
import type { ObjectStore } from '../objects/object-store.js'
import { everything } from '../objects/selection.js'

export interface ResourceName {
  readonly group: GroupName
  readonly version: string
  readonly resource: string
}

export interface Lookup {
  /** Undefined where the kind is not served. */
  resource(name: ResourceName): Resource | undefined
  read<T extends ApiObject>(name: ResourceName, place: { readonly namespace?: string; readonly name: string }): T | undefined
  list<T extends ApiObject>(name: ResourceName, namespace?: string): readonly T[]
}

export function lookupOf({ store, catalog }: { readonly store: ObjectStore; readonly catalog: Catalog }): Lookup {
  const resource = (name: ResourceName): Resource | undefined =>
    catalog.find(catalog.identity.group(name.group), name.version, name.resource)
  return {
    resource,
    read<T extends ApiObject>(name: ResourceName, place: { readonly namespace?: string; readonly name: string }): T | undefined {
      const found = resource(name)
      if (found === undefined) return undefined
      return store.read({ resource: found, namespace: place.namespace ?? '', name: place.name })?.decode(found) as T | undefined
    },
    list<T extends ApiObject>(name: ResourceName, namespace = ''): readonly T[] {
      const found = resource(name)
      if (found === undefined || store.count(found, namespace) === 0) return []
      return Array.from(
        store.list({ resource: found, namespace, selection: everything, limit: 0 }).objects(),
        (object) => object.decode(found) as T,
      )
    },
  }
}

// How plugins look at other objects: by the words of a path, always the newest state. Labels and owners of fields of large ones are not read: no plugin
// asks for them.

import type { Resource } from '../api/catalog.js'
import type { CatalogSource } from '../api/catalog-source.js'
import type { GroupName } from '../api/identity.js'
import type { ApiObject, ObjectMeta } from '../api/object.js'
import { leanAnnotated } from '../objects/lean-object.js'
import type { ObjectStore } from '../objects/object-store.js'
import { everything } from '../objects/selection.js'

export interface ResourceName {
  readonly group: GroupName
  readonly version: string
  readonly resource: string
}

/** An object without what was not read of it. */
export type Found<T extends ApiObject> = Omit<T, 'metadata'> & { readonly metadata?: Omit<ObjectMeta, 'labels' | 'managedFields'> }

export interface Lookup {
  /** Undefined where the kind is not served. */
  resource(name: ResourceName): Resource | undefined
  read<T extends ApiObject>(name: ResourceName, place: { readonly namespace?: string; readonly name: string }): Found<T> | undefined
  list<T extends ApiObject>(name: ResourceName, namespace?: string): readonly Found<T>[]
}

export interface LookupParts {
  readonly store: ObjectStore
  readonly catalogs: Pick<CatalogSource, 'current'>
}

export function lookupOf({ store, catalogs }: LookupParts): Lookup {
  const resource = ({ group, version, resource: plural }: ResourceName): Resource | undefined =>
    catalogs.current.find(catalogs.current.identity.group(group), version, plural)
  return {
    resource,
    read<T extends ApiObject>(name: ResourceName, place: { readonly namespace?: string; readonly name: string }): Found<T> | undefined {
      const found = resource(name)
      if (found === undefined) return undefined
      const stored = store.read({ resource: found, namespace: place.namespace ?? '', name: place.name })
      return stored && (leanAnnotated(stored, found) as T)
    },
    list<T extends ApiObject>(name: ResourceName, namespace = ''): readonly Found<T>[] {
      const found = resource(name)
      if (found === undefined || store.count(found, namespace) === 0) return []
      return Array.from(
        store.list({ resource: found, namespace, selection: everything, limit: 0 }).objects(),
        (object) => leanAnnotated(object, found) as T,
      )
    },
  }
}

// Cache of decoded objects of one kind by namespace, for plugins that read them with every write; updated by watch events.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { StoredObject } from '../objects/entry/stored-object.js'
import { everything } from '../objects/list/selection.js'
import { partsOf } from '../objects/object-keys.js'
import type { ObjectStore } from '../objects/object-store.js'

const maxNamespaces = 10_000

export interface CachedObject<T extends ApiObject> {
  readonly stored: StoredObject
  readonly object: T
}

interface CachedNamespace<T extends ApiObject> {
  /** By key, in order; changed objects are decoded on the next read. */
  readonly byKey: Map<string, CachedObject<T> | StoredObject>
  list: readonly CachedObject<T>[] | undefined
}

export function namespaceObjectCache<T extends ApiObject>(
  store: ObjectStore,
  resource: Resource,
): (namespace: string) => readonly CachedObject<T>[] {
  const cache = new Map<string, CachedNamespace<T>>()
  store.watch({
    resource,
    namespace: '',
    matches: undefined,
    // Called in the commit, before the next request reads the store.
    deliver: ({ type, object }) => {
      const { namespace } = partsOf(resource, object.key)
      const entry = cache.get(namespace)
      if (type !== 'MODIFIED' || entry?.byKey.has(object.key) !== true) cache.delete(namespace)
      else {
        entry.byKey.set(object.key, object)
        entry.list = undefined
      }
    },
  })
  return (namespace) => {
    const entry = cache.get(namespace)
    if (entry?.list !== undefined) return entry.list
    if (entry !== undefined) {
      const { byKey } = entry
      for (const [key, value] of byKey) if (value instanceof StoredObject) byKey.set(key, decodeStored<T>(resource, value))
      entry.list = [...byKey.values()] as readonly CachedObject<T>[]
      return entry.list
    }
    if (cache.size >= maxNamespaces) cache.clear()
    const list = store.count(resource, namespace) === 0 ? noObjects : readNamespace<T>(store, resource, namespace)
    cache.set(namespace, { byKey: new Map(list.map((cached) => [cached.stored.key, cached])), list })
    return list
  }
}

const noObjects: readonly never[] = []

const decodeStored = <T extends ApiObject>(resource: Resource, stored: StoredObject): CachedObject<T> => ({
  stored,
  object: stored.decode(resource) as T,
})

const readNamespace = <T extends ApiObject>(store: ObjectStore, resource: Resource, namespace: string): readonly CachedObject<T>[] =>
  Array.from(store.readAll({ resource, namespace, selection: everything, limit: 0 }).objects(), (stored) =>
    decodeStored<T>(resource, stored),
  )

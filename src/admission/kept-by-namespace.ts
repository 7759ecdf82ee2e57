// The objects of a kind in a namespace, as plugins want them for every write: decoded once, and again when one of them has changed. Labels,
// annotations and owners of fields of large ones are not.

import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { partsOf } from '../objects/keys.js'
import { leanObject } from '../objects/lean-object.js'
import type { ObjectStore } from '../objects/object-store.js'
import { everything } from '../objects/selection.js'
import { StoredObject } from '../objects/stored-object.js'

const mostNamespaces = 10_000

export interface Kept<T extends ApiObject> {
  readonly stored: StoredObject
  readonly object: T
}

interface KeptNamespace<T extends ApiObject> {
  /** By key, in their order; those that have changed are not decoded before somebody asks. */
  readonly byKey: Map<string, Kept<T> | StoredObject>
  /** Undefined where one of them has changed since. */
  list: readonly Kept<T>[] | undefined
}

/** In the order of their names; few namespaces have any, so that most answers are the same empty list. */
export function keptByNamespace<T extends ApiObject>(store: ObjectStore, resource: Resource): (namespace: string) => readonly Kept<T>[] {
  const known = new Map<string, KeptNamespace<T>>()
  store.watch({
    resource,
    namespace: '',
    matches: undefined,
    // Called as soon as the store shows the change, before anybody can ask.
    deliver: ({ type, object }) => {
      const { namespace } = partsOf(resource, object.key)
      const before = known.get(namespace)
      if (type !== 'MODIFIED' || before?.byKey.has(object.key) !== true) known.delete(namespace)
      else {
        // The others are what they were: where there are hundreds, each is decoded for its own changes only.
        before.byKey.set(object.key, object)
        before.list = undefined
      }
    },
  })
  return (namespace) => {
    const before = known.get(namespace)
    if (before?.list !== undefined) return before.list
    if (before !== undefined) {
      const { byKey } = before
      for (const [key, one] of byKey) if (one instanceof StoredObject) byKey.set(key, kept<T>(resource, one))
      before.list = [...byKey.values()] as readonly Kept<T>[]
      return before.list
    }
    if (known.size >= mostNamespaces) known.clear()
    const list = store.count(resource, namespace) === 0 ? none : read<T>(store, resource, namespace)
    known.set(namespace, { byKey: new Map(list.map((one) => [one.stored.key, one])), list })
    return list
  }
}

const none: readonly never[] = []

/** Decoded once for each version of an object. */
const kept = <T extends ApiObject>(resource: Resource, stored: StoredObject): Kept<T> => ({
  stored,
  object: leanObject(stored, resource) as T,
})

const read = <T extends ApiObject>(store: ObjectStore, resource: Resource, namespace: string): readonly Kept<T>[] =>
  Array.from(store.list({ resource, namespace, selection: everything, limit: 0 }).objects(), (stored) => kept<T>(resource, stored))

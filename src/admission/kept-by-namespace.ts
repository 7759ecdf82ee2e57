// The objects of a kind in a namespace, as plugins want them for every write: decoded once, and again when one of them has changed.

import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { partsOf } from '../objects/keys.js'
import type { ObjectStore } from '../objects/object-store.js'
import { everything } from '../objects/selection.js'
import type { StoredObject } from '../objects/stored-object.js'

const mostNamespaces = 10_000

export interface Kept<T extends ApiObject> {
  readonly stored: StoredObject
  readonly object: T
}

/** In the order of their names; few namespaces have any, so that most answers are the same empty list. */
export function keptByNamespace<T extends ApiObject>(store: ObjectStore, resource: Resource): (namespace: string) => readonly Kept<T>[] {
  const known = new Map<string, readonly Kept<T>[]>()
  store.watch({
    resource,
    namespace: '',
    matches: undefined,
    // Called as soon as the store shows the change, before anybody can ask.
    deliver: ({ object }) => void known.delete(partsOf(resource, object.key).namespace),
  })
  return (namespace) => {
    const before = known.get(namespace)
    if (before !== undefined) return before
    if (known.size >= mostNamespaces) known.clear()
    const found = store.count(resource, namespace) === 0 ? none : read<T>(store, resource, namespace)
    known.set(namespace, found)
    return found
  }
}

const none: readonly never[] = []

const read = <T extends ApiObject>(store: ObjectStore, resource: Resource, namespace: string): readonly Kept<T>[] =>
  Array.from(store.list({ resource, namespace, selection: everything, limit: 0 }).objects(), (stored) => ({
    stored,
    object: stored.decode(resource) as T,
  }))

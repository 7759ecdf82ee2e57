// What a loop needs of each object of a kind, taken from it when it is first wanted and again after it has changed: whoever looks at all neighbours
// of an object for each change of it neither reads nor decodes all of them each time.

import type { Resource } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import type { ObjectStore } from '../../objects/object-store.js'

export class Extracts<T extends object> {
  private readonly store: Pick<ObjectStore, 'read'>
  private readonly take: (object: ApiObject) => T
  /** By name; as many as there are objects. */
  private readonly known = new Map<string, T>()

  constructor(store: Pick<ObjectStore, 'read'>, take: (object: ApiObject) => T) {
    this.store = store
    this.take = take
  }

  /** To be told of everything that is seen of the kind. */
  forget(name: string): void {
    this.known.delete(name)
  }

  /** Undefined where there is no such object any more. */
  of(resource: Resource, name: string): T | undefined {
    const known = this.known.get(name)
    if (known !== undefined) return known
    const stored = this.store.read({ resource, namespace: '', name })
    if (stored === undefined) return undefined
    const value = this.take(stored.decode(resource))
    this.known.set(name, value)
    return value
  }
}

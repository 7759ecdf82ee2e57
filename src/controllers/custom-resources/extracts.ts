// What a loop needs of each object of a kind, taken from it once for each of its versions: whoever looks at all neighbours of an object for each
// change of it does not decode all of them each time.

import type { Resource } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import type { ObjectStore } from '../../objects/object-store.js'

interface Extract<T> {
  readonly revision: number
  readonly value: T
}

export class Extracts<T> {
  private readonly store: Pick<ObjectStore, 'read'>
  private readonly take: (object: ApiObject) => T
  /** By name; as many as there are objects. */
  private readonly known = new Map<string, Extract<T>>()

  constructor(store: Pick<ObjectStore, 'read'>, take: (object: ApiObject) => T) {
    this.store = store
    this.take = take
  }

  /** Undefined where there is no such object any more. */
  of(resource: Resource, name: string): T | undefined {
    const stored = this.store.read({ resource, namespace: '', name })
    if (stored === undefined) {
      this.known.delete(name)
      return undefined
    }
    const before = this.known.get(name)
    if (before?.revision === stored.revision) return before.value
    const value = this.take(stored.decode(resource))
    this.known.set(name, { revision: stored.revision, value })
    return value
  }
}

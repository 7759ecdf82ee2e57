// What a loop needs of each definition of a custom kind, taken from it when it is first wanted and again after it has changed: whoever looks at all neighbours
// of one for each change of it neither reads nor decodes all of them each time.

import type { Resource } from '../../api/catalog.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { CustomResourceDefinition } from '../../resources/apiextensions/v1.schema.js'
import { leanDefinition } from './lean-definition.js'

export class Extracts<T extends object> {
  private readonly store: Pick<ObjectStore, 'read'>
  private readonly take: (definition: CustomResourceDefinition) => T
  /** By name; as many as there are objects. */
  private readonly known = new Map<string, T>()

  constructor(store: Pick<ObjectStore, 'read'>, take: (definition: CustomResourceDefinition) => T) {
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
    const value = this.take(leanDefinition(this.store, stored, resource))
    this.known.set(name, value)
    return value
  }
}

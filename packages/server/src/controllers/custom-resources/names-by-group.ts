// Index of names by API group, for objects named `<name>.<group>` (CRDs, APIServices), and a cache of values extracted from CRDs.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { CustomResourceDefinition } from '@cluster-apiserver/api/resources/apiextensions/v1.schema.js'
import { everything } from '../../objects/list/selection.js'
import { partsOf } from '../../objects/object-keys.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { SourceEvent } from '../framework/controller.js'

export const groupIn = (name: string): string => name.slice(name.indexOf('.') + 1)

export class NamesByGroup {
  private readonly store: ObjectStore
  private byGroup: Map<string, Set<string>> | undefined

  constructor(store: ObjectStore) {
    this.store = store
  }

  /** Call this for each watch event; returns the name of the object. */
  update(resource: Resource, key: string, eventType: SourceEvent): string {
    const { name } = partsOf(resource, key)
    if (this.byGroup !== undefined && eventType === 'DELETED') remove(this.byGroup, name)
    else if (this.byGroup !== undefined) add(this.byGroup, name)
    return name
  }

  /** Unordered; may contain names of deleted objects. */
  namesIn(resource: Resource, group: string): readonly string[] {
    this.byGroup ??= this.readAll(resource)
    return [...(this.byGroup.get(group) ?? [])]
  }

  private readAll(resource: Resource): Map<string, Set<string>> {
    const found = new Map<string, Set<string>>()
    for (const object of this.store.readInSteps({ resource, namespace: '', selection: everything }))
      if (object !== undefined) add(found, partsOf(resource, object.key).name)
    return found
  }
}

function add(byGroup: Map<string, Set<string>>, name: string): void {
  const group = groupIn(name)
  const known = byGroup.get(group)
  if (known === undefined) byGroup.set(group, new Set([name]))
  else known.add(name)
}

function remove(byGroup: Map<string, Set<string>>, name: string): void {
  const group = groupIn(name)
  const known = byGroup.get(group)
  known?.delete(name)
  if (known?.size === 0) byGroup.delete(group)
}

/** Values extracted from CRDs, by CRD name; `forget` a name when its CRD changes. */
export class CachedExtracts<T extends object> {
  private readonly store: Pick<ObjectStore, 'read'>
  private readonly extract: (crd: CustomResourceDefinition) => T
  private readonly known = new Map<string, T>()

  constructor(store: Pick<ObjectStore, 'read'>, extract: (crd: CustomResourceDefinition) => T) {
    this.store = store
    this.extract = extract
  }

  forget(name: string): void {
    this.known.delete(name)
  }

  get(resource: Resource, name: string): T | undefined {
    const known = this.known.get(name)
    if (known !== undefined) return known
    const stored = this.store.read({ resource, namespace: '', name })
    if (stored === undefined) return undefined
    const value = this.extract(stored.decode(resource) as CustomResourceDefinition)
    this.known.set(name, value)
    return value
  }
}

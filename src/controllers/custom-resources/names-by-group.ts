// Which objects of a kind belong to which group, where their names are a word, a dot and the group: definitions of custom kinds, and API services.
// Found out once and kept true by whoever is told of changes, so that nobody goes through all of them for each.

import type { Resource } from '../../api/catalog.js'
import { partsOf } from '../../objects/keys.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { everything } from '../../objects/selection.js'
import type { Seen } from '../kit/loop.js'

export const groupIn = (name: string): string => name.slice(name.indexOf('.') + 1)

export class NamesByGroup {
  private readonly store: ObjectStore
  private byGroup: Map<string, Set<string>> | undefined

  constructor(store: ObjectStore) {
    this.store = store
  }

  /** To be told of everything that is seen of the kind; gives the name. */
  note(resource: Resource, key: string, seen: Seen): string {
    const { name } = partsOf(resource, key)
    if (this.byGroup !== undefined && seen === 'DELETED') remove(this.byGroup, name)
    else if (this.byGroup !== undefined) add(this.byGroup, name)
    return name
  }

  /** In no particular order; some of them may be gone. */
  of(resource: Resource, group: string): readonly string[] {
    this.byGroup ??= this.readAll(resource)
    return [...(this.byGroup.get(group) ?? [])]
  }

  private readAll(resource: Resource): Map<string, Set<string>> {
    const found = new Map<string, Set<string>>()
    for (const object of this.store.look({ resource, namespace: '', selection: everything }))
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

/** Groups come and go under other names without an end. */
function remove(byGroup: Map<string, Set<string>>, name: string): void {
  const group = groupIn(name)
  const known = byGroup.get(group)
  known?.delete(name)
  if (known?.size === 0) byGroup.delete(group)
}

// Maps of a Catalog: definitions, storage collections, served groups. A change rebinds only the collections it touches.

import { getOrInsert } from '../../base/recent-map.js'
import type { ResourceDefinition } from '../definition/resource-definition.js'
import { bindCollection, collectionOf } from './bind-resource.js'
import type { CatalogChange, CatalogOptions, Resource, ServedGroup } from './resource.js'
import { compareVersions } from './version-order.js'

export interface CatalogContents {
  readonly definitions: ReadonlyMap<string, ResourceDefinition>
  readonly collections: ReadonlyMap<string, Collection>
  readonly groups: ReadonlyMap<string, ServedGroup>
}

interface Collection {
  readonly definitions: ReadonlyMap<string, ResourceDefinition>
  readonly resources: readonly Resource[]
}

export const noContents: CatalogContents = { definitions: new Map(), collections: new Map(), groups: new Map() }

export function changeContents(before: CatalogContents, change: CatalogChange, options: CatalogOptions): CatalogContents {
  const { put = [], remove = [] } = change
  const { identity } = options
  const definitions = new Map(before.definitions)
  const touched = new Map<string, Map<string, ResourceDefinition>>()
  const collectionFor = (definition: ResourceDefinition): Map<string, ResourceDefinition> => {
    const name = collectionOf(identity, definition)
    return getOrInsert(touched, name, () => new Map(before.collections.get(name)?.definitions))
  }
  const keyOf = ({ group, resource }: Pick<ResourceDefinition, 'group' | 'resource'>): string => `${identity.group(group)}/${resource}`
  for (const removed of remove) {
    const key = keyOf(removed)
    const old = definitions.get(key)
    if (old !== undefined) collectionFor(old).delete(key)
    definitions.delete(key)
  }
  for (const definition of put) {
    const key = keyOf(definition)
    const old = definitions.get(key)
    if (old === definition) continue
    if (old !== undefined && collectionOf(identity, old) !== collectionOf(identity, definition)) collectionFor(old).delete(key)
    collectionFor(definition).set(key, definition)
    definitions.set(key, definition)
  }
  if (touched.size === 0) return before
  const { collections, removed, added } = rebind(before, touched, options)
  const order = new Map(put.map((definition, i) => [keyOf(definition), i]))
  added.sort((a, b) => (order.get(keyOf(a.definition)) ?? -1) - (order.get(keyOf(b.definition)) ?? -1))
  return { definitions, collections, groups: regroup(before.groups, { removed, added }) }
}

interface Rebound {
  readonly collections: ReadonlyMap<string, Collection>
  readonly removed: readonly Resource[]
  readonly added: Resource[]
}

function rebind(
  before: CatalogContents,
  touched: ReadonlyMap<string, ReadonlyMap<string, ResourceDefinition>>,
  options: CatalogOptions,
): Rebound {
  const collections = new Map(before.collections)
  const removed: Resource[] = []
  const added: Resource[] = []
  for (const [name, definitions] of touched) {
    removed.push(...(before.collections.get(name)?.resources ?? []))
    if (definitions.size === 0) {
      collections.delete(name)
      continue
    }
    const resources = bindCollection([...definitions.values()], options)
    collections.set(name, { definitions, resources })
    added.push(...resources)
  }
  return { collections, removed, added }
}

function regroup(
  before: CatalogContents['groups'],
  { removed, added }: { readonly removed: readonly Resource[]; readonly added: readonly Resource[] },
): CatalogContents['groups'] {
  const touched = new Map<string, Map<string, Map<string, Resource>>>()
  const resourcesOfVersion = ({ group, version }: Resource): Map<string, Resource> =>
    getOrInsert(
      getOrInsert(touched, group, () => new Map()),
      version,
      () => new Map(before.get(group)?.versions.get(version)?.resources),
    )
  for (const resource of added) resourcesOfVersion(resource).set(resource.name, resource)
  for (const resource of removed) {
    const resources = resourcesOfVersion(resource)
    if (resources.get(resource.name) === resource) resources.delete(resource.name)
  }
  const groups = new Map(before)
  for (const [name, changed] of touched) {
    const versions = new Map(before.get(name)?.versions)
    for (const [version, resources] of changed) {
      if (resources.size === 0) versions.delete(version)
      else versions.set(version, { group: name, version, resources })
    }
    if (versions.size === 0) groups.delete(name)
    else groups.set(name, { name, versions: new Map([...versions].sort(([a], [b]) => compareVersions(a, b))) })
  }
  return groups
}

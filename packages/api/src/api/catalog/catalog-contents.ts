// The maps behind a catalog, and how a change makes new ones: what it touches is bound anew, and everything else is shared.

import { getOrInsert } from '../base/get-or-insert.js'
import { bindCollection, collectionOf } from './bind-resource.js'
import type { CatalogChange, CatalogOptions, Resource, ServedGroup } from './catalog.js'
import type { ResourceDefinition } from './definition.js'
import { compareVersions } from './version-order.js'

export interface CatalogContents {
  /** By group and plural. */
  readonly definitions: ReadonlyMap<string, ResourceDefinition>
  readonly collections: ReadonlyMap<string, Collection>
  readonly groups: ReadonlyMap<string, ServedGroup>
}

/** The kinds that are stored together, and so bound together: an index of the store serves all of them. */
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
  const placeOf = ({ group, resource }: Pick<ResourceDefinition, 'group' | 'resource'>): string => `${identity.group(group)}/${resource}`
  for (const gone of remove) {
    const place = placeOf(gone)
    const old = definitions.get(place)
    if (old !== undefined) collectionFor(old).delete(place)
    definitions.delete(place)
  }
  for (const definition of put) {
    const place = placeOf(definition)
    const old = definitions.get(place)
    if (old === definition) continue
    if (old !== undefined && collectionOf(identity, old) !== collectionOf(identity, definition)) collectionFor(old).delete(place)
    collectionFor(definition).set(place, definition)
    definitions.set(place, definition)
  }
  if (touched.size === 0) return before
  const { collections, gone, added } = rebind(before, touched, options)
  const order = new Map(put.map((definition, i) => [placeOf(definition), i]))
  added.sort((a, b) => (order.get(placeOf(a.definition)) ?? -1) - (order.get(placeOf(b.definition)) ?? -1))
  return { definitions, collections, groups: regroup(before.groups, { gone, added }) }
}

interface Rebound {
  readonly collections: ReadonlyMap<string, Collection>
  readonly gone: readonly Resource[]
  readonly added: Resource[]
}

function rebind(
  before: CatalogContents,
  touched: ReadonlyMap<string, ReadonlyMap<string, ResourceDefinition>>,
  options: CatalogOptions,
): Rebound {
  const collections = new Map(before.collections)
  const gone: Resource[] = []
  const added: Resource[] = []
  for (const [name, definitions] of touched) {
    gone.push(...(before.collections.get(name)?.resources ?? []))
    if (definitions.size === 0) {
      collections.delete(name)
      continue
    }
    const resources = bindCollection([...definitions.values()], options)
    collections.set(name, { definitions, resources })
    added.push(...resources)
  }
  return { collections, gone, added }
}

/** Whatever is served anew under the same path keeps its place in the order. */
function regroup(
  before: CatalogContents['groups'],
  { gone, added }: { readonly gone: readonly Resource[]; readonly added: readonly Resource[] },
): CatalogContents['groups'] {
  const touched = new Map<string, Map<string, Map<string, Resource>>>()
  const versionOf = ({ group, version }: Resource): Map<string, Resource> =>
    getOrInsert(
      getOrInsert(touched, group, () => new Map()),
      version,
      () => new Map(before.get(group)?.versions.get(version)?.resources),
    )
  for (const resource of added) versionOf(resource).set(resource.name, resource)
  for (const resource of gone) {
    const resources = versionOf(resource)
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

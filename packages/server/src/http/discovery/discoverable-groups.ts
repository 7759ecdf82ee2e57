// The API groups in the order of discovery, which follows the priorities of their APIServices.
// Custom groups are listed even before their APIServices exist.

import {
  type ApiServices,
  customPriorities,
  type ListedVersion,
  type RemoteVersion,
  sortGroups,
} from '@cluster-apiserver/api/api/catalog/api-services.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { ServedGroup, ServedVersion } from '@cluster-apiserver/api/api/catalog/resource.js'
import { weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'

export interface DiscoverableGroup {
  readonly name: string
  readonly versions: readonly DiscoverableVersion[]
  /** Set if this server serves all versions itself; the same value until a version changes. */
  readonly servedGroup: ServedGroup | undefined
}

interface DiscoverableVersion {
  readonly version: string
  readonly served: ServedVersion | undefined
  readonly remote: RemoteVersion | undefined
}

/** Returns the same value for the same catalog and APIServices. */
export const discoverableGroups = (catalog: Catalog, services: ApiServices): ReadonlyMap<string, DiscoverableGroup> =>
  groupsFor(catalog)(services)

const groupsFor = weakMemoize((catalog: Catalog) =>
  weakMemoize(
    (services: ApiServices) =>
      new Map((services.all.size === 0 ? catalogGroups(catalog) : groupsByPriority(catalog, services)).map(withName)),
  ),
)

const withName = (group: DiscoverableGroup): readonly [string, DiscoverableGroup] => [group.name, group]

/** All groups of the catalog, for servers without APIServices. */
const catalogGroups = (catalog: Catalog): readonly DiscoverableGroup[] =>
  Array.from(catalog.groups().values(), (servedGroup) => ({
    name: servedGroup.name,
    versions: Array.from(servedGroup.versions.values(), (served) => ({ version: served.version, served, remote: undefined })),
    servedGroup,
  }))

function groupsByPriority(catalog: Catalog, services: ApiServices): readonly DiscoverableGroup[] {
  const registrationGroup = catalog.identity.group({ stem: 'apiregistration' })
  const listed = sortGroups([...services.all.values(), ...unlistedCustom(catalog, services)]).map(({ name, versions: all }) => {
    const versions = all.map((each) => discoverableVersion(catalog, each))
    return { name, versions, servedGroup: servedGroupOf(catalog.groups().get(name), versions) }
  })
  return [...catalogGroups(catalog).filter(({ name }) => name === registrationGroup), ...listed]
}

function servedGroupOf(group: ServedGroup | undefined, versions: readonly DiscoverableVersion[]): ServedGroup | undefined {
  if (group === undefined || group.versions.size !== versions.length) return undefined
  const served = [...group.versions.values()]
  return versions.every((each, i) => each.remote === undefined && each.served === served[i]) ? group : undefined
}

const discoverableVersion = (catalog: Catalog, listed: ListedVersion): DiscoverableVersion => ({
  version: listed.version,
  served: catalog.groups().get(listed.group)?.versions.get(listed.version),
  remote: listed.remote === undefined ? undefined : (listed as RemoteVersion),
})

/** Custom versions without an APIService. */
const unlistedCustom = (catalog: Catalog, services: ApiServices): readonly ListedVersion[] =>
  catalog.groupVersions().flatMap(({ group, version }) => {
    const name = `${version}.${group}`
    if (services.all.has(name) || !catalog.isCustomGroup(group)) return []
    return [{ name, group, version, ...customPriorities, isAvailable: true, remote: undefined }]
  })

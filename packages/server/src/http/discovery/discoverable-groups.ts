// The groups in the order of discovery: those that API services name, by priority, and those of custom kinds, which may be served a moment
// before their API services are there.

import { type ApiServices, customPriorities, type ListedVersion, type RemoteVersion, sortGroups } from '../api/api-services.js'
import type { Catalog, ServedGroup, ServedVersion } from '../api/catalog.js'
import { onceFor } from '../base/once-for.js'

export interface DiscoverableGroup {
  readonly name: string
  /** The preferred one first. */
  readonly versions: readonly DiscoverableVersion[]
  /** Set where all of it is as this server serves it: the same value until something in it changes. */
  readonly whole: ServedGroup | undefined
}

export interface DiscoverableVersion {
  readonly version: string
  /** What this server serves of it. */
  readonly served: ServedVersion | undefined
  /** Set where another server answers for it. */
  readonly remote: RemoteVersion | undefined
}

/** By name, in order; the same value for the same catalog and API services. */
export const discoverableGroups = (catalog: Catalog, services: ApiServices): ReadonlyMap<string, DiscoverableGroup> =>
  knownFor(catalog)(services)

const knownFor = onceFor((catalog: Catalog) =>
  onceFor((services: ApiServices) => new Map((services.all.size === 0 ? groupsOf(catalog) : groupsBy(catalog, services)).map(withName))),
)

const withName = (group: DiscoverableGroup): readonly [string, DiscoverableGroup] => [group.name, group]

/** Where API services are not kept, all that is served. */
const groupsOf = (catalog: Catalog): readonly DiscoverableGroup[] =>
  Array.from(catalog.groups().values(), (whole) => ({
    name: whole.name,
    versions: Array.from(whole.versions.values(), (served) => ({ version: served.version, served, remote: undefined })),
    whole,
  }))

function groupsBy(catalog: Catalog, services: ApiServices): readonly DiscoverableGroup[] {
  const own = catalog.identity.group({ stem: 'apiregistration' })
  const listed = sortGroups([...services.all.values(), ...unlistedCustom(catalog, services)]).map(({ name, versions: all }) => {
    const versions = all.map((each) => discoverableVersion(catalog, each))
    return { name, versions, whole: wholeOf(catalog.groups().get(name), versions) }
  })
  // Nobody answers for API services but this server, and so they have none.
  return [...groupsOf(catalog).filter(({ name }) => name === own), ...listed]
}

function wholeOf(group: ServedGroup | undefined, versions: readonly DiscoverableVersion[]): ServedGroup | undefined {
  if (group === undefined || group.versions.size !== versions.length) return undefined
  const served = [...group.versions.values()]
  return versions.every((each, i) => each.remote === undefined && each.served === served[i]) ? group : undefined
}

const discoverableVersion = (catalog: Catalog, listed: ListedVersion): DiscoverableVersion => ({
  version: listed.version,
  served: catalog.groups().get(listed.group)?.versions.get(listed.version),
  remote: listed.remote === undefined ? undefined : (listed as RemoteVersion),
})

const unlistedCustom = (catalog: Catalog, services: ApiServices): readonly ListedVersion[] =>
  catalog.groupVersions().flatMap(({ group, version }) => {
    const name = `${version}.${group}`
    if (services.all.has(name) || !catalog.isCustomGroup(group)) return []
    return [{ name, group, version, ...customPriorities, isAvailable: true, remote: undefined }]
  })

// The kinds that other servers keep, as their discovery says: which of them are followed, and where an object of them is asked for.

import { type ApiServices, type ListedVersion, type RemoteVersion, sortGroups } from '../../../api/api-services.js'
import type { Catalog } from '../../../api/catalog.js'
import type { DiscoveredResource, RemoteDiscovery } from '../../../api/discovered.js'
import { discoveryPath } from '../../aggregation/probe-version.js'

/** A resource of a version that another server answers for. */
export interface RemoteKind {
  readonly version: RemoteVersion
  readonly apiVersion: string
  readonly kind: string
  readonly resource: string
  readonly namespaced: boolean
  /** Where its objects lie: the same for all versions. */
  readonly collection: string
}

export interface RemoteKinds {
  /** What `apiVersion kind` of a reference means. */
  readonly byReference: ReadonlyMap<string, RemoteKind>
  /** Those whose objects can be owned and collected, each in one version, by collection. */
  readonly followed: ReadonlyMap<string, RemoteKind>
}

/** In front of every key of an object that lies elsewhere: no collection of this server begins with it. */
const mark = '@'
const mostFollowed = 500
const followedVerbs = ['delete', 'list', 'watch']

export const isElsewhere = (key: string): boolean => key.startsWith(mark)

export const referenceOf = (apiVersion: string, kind: string): string => `${apiVersion} ${kind}`

export function remoteKinds(services: ApiServices, discovery: RemoteDiscovery, catalog: Catalog): RemoteKinds {
  const byReference = new Map<string, RemoteKind>()
  const followed = new Map<string, RemoteKind>()
  for (const { name: group, versions } of sortGroups(services.remotes)) {
    for (const version of versions.filter(isRemote)) {
      for (const discovered of discovery.of(version).resources) {
        const kind = describe(version, discovered)
        const reference = referenceOf(kind.apiVersion, kind.kind)
        if (discovered.verbs.includes('get') && !byReference.has(reference)) byReference.set(reference, kind)
        if (followed.size >= mostFollowed || followed.has(kind.collection) || isOwn(catalog, group, kind.resource)) continue
        if (followedVerbs.every((verb) => discovered.verbs.includes(verb))) followed.set(kind.collection, kind)
      }
    }
  }
  return { byReference, followed }
}

const isRemote = (listed: ListedVersion): listed is RemoteVersion => listed.remote !== undefined

function describe(version: RemoteVersion, { resource, responseKind, scope }: DiscoveredResource): RemoteKind {
  const { group } = version
  return {
    version,
    apiVersion: group === '' ? version.version : `${group}/${version.version}`,
    kind: responseKind.kind,
    resource,
    namespaced: scope === 'Namespaced',
    collection: `${mark}${resource}.${group}`,
  }
}

/** Other versions of what this server keeps itself. */
const isOwn = (catalog: Catalog, group: string, resource: string): boolean =>
  [...(catalog.groups().get(group)?.versions.values() ?? [])].some(({ resources }) => resources.has(resource))

export const remoteKey = ({ collection, namespaced }: RemoteKind, namespace: string, name: string): string =>
  namespaced ? `${collection}/${namespace}/${name}` : `${collection}/${name}`

export function remoteParts({ collection, namespaced }: RemoteKind, key: string): { readonly namespace: string; readonly name: string } {
  const rest = key.slice(collection.length + 1)
  const slash = namespaced ? rest.indexOf('/') : -1
  return slash < 0 ? { namespace: '', name: rest } : { namespace: rest.slice(0, slash), name: rest.slice(slash + 1) }
}

/** The path of a collection, or of one object in it. */
export function remotePath({ version, namespaced, resource }: RemoteKind, namespace = '', name = ''): string {
  const place = namespaced && namespace !== '' ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${discoveryPath(version)}${place}/${encodeURIComponent(resource)}${name === '' ? '' : `/${encodeURIComponent(name)}`}`
}

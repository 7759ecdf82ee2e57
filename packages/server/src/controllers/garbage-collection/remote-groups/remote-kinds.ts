// Kinds of extension API servers from their discovery: which are followed, and the paths and keys of their objects.

import { type ApiServices, isRemote, type RemoteVersion, sortGroups } from '@cluster-apiserver/api/api/catalog/api-services.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { DiscoveredResource, RemoteDiscovery } from '@cluster-apiserver/api/api/catalog/remote-discovery.js'
import { discoveryPath } from '../../aggregation/probe-api-service.js'

export interface RemoteKind {
  readonly version: RemoteVersion
  readonly apiVersion: string
  readonly kind: string
  readonly resource: string
  readonly namespaced: boolean
  readonly collection: string
}

export interface RemoteKinds {
  readonly byReference: ReadonlyMap<string, RemoteKind>
  /** Kinds with delete, list and watch, each in one version, by collection. */
  readonly followed: ReadonlyMap<string, RemoteKind>
}

/** Prefix of keys of remote objects; no local collection begins with it. */
const remotePrefix = '@'
const maxFollowed = 500
const followedVerbs = ['delete', 'list', 'watch']

export const isRemoteKey = (key: string): boolean => key.startsWith(remotePrefix)

export const referenceOf = (apiVersion: string, kind: string): string => `${apiVersion} ${kind}`

export function remoteKinds(services: ApiServices, discovery: RemoteDiscovery, catalog: Catalog): RemoteKinds {
  const byReference = new Map<string, RemoteKind>()
  const followed = new Map<string, RemoteKind>()
  for (const { name: group, versions } of sortGroups(services.remotes)) {
    for (const version of versions.filter(isRemote)) {
      for (const discovered of discovery.of(version).resources) {
        const kind = remoteKindOf(version, discovered)
        const reference = referenceOf(kind.apiVersion, kind.kind)
        if (discovered.verbs.includes('get') && !byReference.has(reference)) byReference.set(reference, kind)
        if (followed.size >= maxFollowed || followed.has(kind.collection) || isLocal(catalog, group, kind.resource)) continue
        if (followedVerbs.every((verb) => discovered.verbs.includes(verb))) followed.set(kind.collection, kind)
      }
    }
  }
  return { byReference, followed }
}

function remoteKindOf(version: RemoteVersion, { resource, responseKind, scope }: DiscoveredResource): RemoteKind {
  const { group } = version
  return {
    version,
    apiVersion: group === '' ? version.version : `${group}/${version.version}`,
    kind: responseKind.kind,
    resource,
    namespaced: scope === 'Namespaced',
    collection: `${remotePrefix}${resource}.${group}`,
  }
}

/** True if this server serves another version of the resource itself. */
const isLocal = (catalog: Catalog, group: string, resource: string): boolean =>
  [...(catalog.groups().get(group)?.versions.values() ?? [])].some(({ resources }) => resources.has(resource))

export const remoteKey = ({ collection, namespaced }: RemoteKind, namespace: string, name: string): string =>
  namespaced ? `${collection}/${namespace}/${name}` : `${collection}/${name}`

export function remoteParts({ collection, namespaced }: RemoteKind, key: string): { readonly namespace: string; readonly name: string } {
  const rest = key.slice(collection.length + 1)
  const slash = namespaced ? rest.indexOf('/') : -1
  return slash < 0 ? { namespace: '', name: rest } : { namespace: rest.slice(0, slash), name: rest.slice(slash + 1) }
}

export function remotePath({ version, namespaced, resource }: RemoteKind, namespace = '', name = ''): string {
  const scope = namespaced && namespace !== '' ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${discoveryPath(version)}${scope}/${encodeURIComponent(resource)}${name === '' ? '' : `/${encodeURIComponent(name)}`}`
}

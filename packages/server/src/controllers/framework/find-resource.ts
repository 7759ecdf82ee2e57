// Finds the resource of an apiVersion and kind, such as those of an owner reference.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource, ServedVersion } from '@cluster-apiserver/api/api/catalog/resource.js'
import { weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'

const groupOf = (apiVersion: string): string => apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')))

export function resourceOfKind(catalog: Catalog, apiVersion: string, kind: string): Resource | undefined {
  const version = catalog
    .groups()
    .get(groupOf(apiVersion))
    ?.versions.get(apiVersion.slice(apiVersion.indexOf('/') + 1))
  return version === undefined ? undefined : byKind(version).get(kind)
}

const byKind = weakMemoize(
  ({ resources }: ServedVersion): ReadonlyMap<string, Resource> =>
    new Map([...resources.values()].filter(({ verbs }) => verbs.includes('get')).map((resource) => [resource.kind, resource])),
)

export function lastOfKind(resources: Iterable<Resource>, apiVersion: string, kind: string): Resource | undefined {
  const group = groupOf(apiVersion)
  let last: Resource | undefined
  for (const resource of resources) if (resource.kind === kind && resource.group === group) last = resource
  return last
}

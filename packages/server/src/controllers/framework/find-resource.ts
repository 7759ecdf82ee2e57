// What is meant by the version and kind that one object says of another.

import type { Catalog, Resource, ServedVersion } from '../../api/catalog.js'
import { onceFor } from '../../base/once-for.js'

const groupOf = (apiVersion: string): string => apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')))

/** The resource of a kind; undefined where nobody serves it. */
export function resourceOfKind(catalog: Catalog, apiVersion: string, kind: string): Resource | undefined {
  const version = catalog
    .groups()
    .get(groupOf(apiVersion))
    ?.versions.get(apiVersion.slice(apiVersion.indexOf('/') + 1))
  return version === undefined ? undefined : byKind(version).get(kind)
}

const byKind = onceFor(
  ({ resources }: ServedVersion): ReadonlyMap<string, Resource> =>
    new Map([...resources.values()].filter(({ verbs }) => verbs.includes('get')).map((resource) => [resource.kind, resource])),
)

/** The last of some resources that has this group and kind, in whatever version. */
export function lastOfKind(resources: Iterable<Resource>, apiVersion: string, kind: string): Resource | undefined {
  const group = groupOf(apiVersion)
  let last: Resource | undefined
  for (const resource of resources) if (resource.kind === kind && resource.group === group) last = resource
  return last
}

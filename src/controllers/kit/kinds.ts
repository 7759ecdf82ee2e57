// What is meant by the version and kind that one object says of another.

import type { Catalog, Resource, ServedVersion } from '../../api/catalog.js'
import { onceFor } from '../../base/once-for.js'

/** The resource of a kind; undefined where nobody serves it. */
export function resourceOfKind(catalog: Catalog, apiVersion: string, kind: string): Resource | undefined {
  const slash = apiVersion.indexOf('/')
  const group = slash < 0 ? '' : apiVersion.slice(0, slash)
  const version = catalog
    .groups()
    .get(group)
    ?.versions.get(apiVersion.slice(slash + 1))
  return version === undefined ? undefined : byKind(version).get(kind)
}

const byKind = onceFor(
  ({ resources }: ServedVersion): ReadonlyMap<string, Resource> =>
    new Map([...resources.values()].filter(({ verbs }) => verbs.includes('get')).map((resource) => [resource.kind, resource])),
)

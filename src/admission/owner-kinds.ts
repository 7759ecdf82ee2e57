// What is served of a kind that somebody names as the owner of an object.

import type { Catalog } from '../api/catalog.js'

/** A resource, in the words in which rights to it are asked for. */
export interface OwnerResource {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly namespaced: boolean
}

/** Empty where nothing of the kind is served. */
export type FindOwners = (apiVersion: string, kind: string) => readonly OwnerResource[]

/** A kind may be served as several resources. */
export function ownersIn(catalog: Catalog, apiVersion: string, kind: string): readonly OwnerResource[] {
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  return catalog.collections().flatMap(({ kind: own, subject }) => {
    const found = own === kind && subject.group === group ? catalog.find(group, version, subject.resource) : undefined
    return found === undefined ? [] : [{ group, version: found.version, resource: subject.resource, namespaced: found.namespaced }]
  })
}

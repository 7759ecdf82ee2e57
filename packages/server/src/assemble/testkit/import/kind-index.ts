// Kinds by apiVersion and name: all versions that the server knows, also versions that it does not serve.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { ExpectedType } from '@cluster-apiserver/api/codec/decode-object.js'
import type { StoredKind } from '../../../objects/entry/stored-object.js'

export interface KindVersion {
  readonly resource: Resource
  readonly expected: ExpectedType
  readonly toStored: ((object: ApiObject) => ApiObject) | undefined
  /** Version of the entry: the storage version, or the version of the object if only a webhook could convert it. */
  readonly storedAs: StoredKind
}

export type KindIndex = ReadonlyMap<string, KindVersion>

export const kindKey = (apiVersion: string, kind: string): string => `${apiVersion} ${kind}`

/** Leaves out kinds that are not stored, such as reviews. */
export function indexKinds(resources: readonly Resource[]): KindIndex {
  const kinds = new Map<string, KindVersion>()
  for (const resource of resources) {
    if (!resource.verbs.includes('list') || resource.definition.computed !== undefined) continue
    const { kind, definition } = resource
    for (const [apiVersion, { schema, toStored }] of resource.versions) {
      const key = kindKey(apiVersion, kind)
      // The resource of the version itself, which has its defaults, is preferred to another version.
      if (kinds.has(key) && resource.apiVersion !== apiVersion) continue
      const isConverted = resource.conversion !== undefined && apiVersion !== resource.storedApiVersion
      const storedAs = isConverted ? { ...resource, storedSchema: schema, storedApiVersion: apiVersion } : resource
      kinds.set(key, {
        resource,
        expected: { kind, apiVersion, schema, definition },
        toStored: isConverted ? undefined : toStored,
        storedAs,
      })
    }
  }
  return kinds
}

export const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '')

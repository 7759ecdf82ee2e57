// Access of plugins to stored objects, served resources and authorization.

import type { Catalog, CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { GroupName } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import { type AccessAttributes, type Authorizer, authorizeWith, type Decision } from '../auth/authorize.js'
import { everything } from '../objects/list/selection.js'
import type { ObjectStore } from '../objects/object-store.js'

interface ResourceName {
  readonly group: GroupName
  readonly version: string
  readonly resource: string
}

export interface Lookup {
  resource(name: ResourceName): Resource | undefined
  read<T extends ApiObject>(name: ResourceName, address: { readonly namespace?: string; readonly name: string }): T | undefined
  /** Objects of all namespaces whose JSON contains `text`; others are not decoded. */
  list<T extends ApiObject>(name: ResourceName, text?: string): readonly T[]
}

interface LookupParts {
  readonly store: ObjectStore
  readonly catalogs: Pick<CatalogSource, 'current'>
}

export function lookupOf({ store, catalogs }: LookupParts): Lookup {
  const resource = ({ group, version, resource: plural }: ResourceName): Resource | undefined =>
    catalogs.current.find(catalogs.current.identity.group(group), version, plural)
  return {
    resource,
    read<T extends ApiObject>(name: ResourceName, address: { readonly namespace?: string; readonly name: string }): T | undefined {
      const found = resource(name)
      if (found === undefined) return undefined
      const stored = store.readCached({ resource: found, namespace: address.namespace ?? '', name: address.name })
      return stored?.decode(found) as T | undefined
    },
    list<T extends ApiObject>(name: ResourceName, text = ''): readonly T[] {
      const found = resource(name)
      if (found === undefined) return []
      const objects = [...store.readAll({ resource: found, namespace: '', selection: everything, limit: 0 }).objects()]
      return objects.filter(({ entry }) => entry.value.includes(text)).map((object) => object.decode(found) as T)
    },
  }
}

interface OwnerResource {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly namespaced: boolean
}

export type FindOwners = (apiVersion: string, kind: string) => readonly OwnerResource[]

export function ownerResources(catalog: Catalog, apiVersion: string, kind: string): readonly OwnerResource[] {
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  return catalog.collections().flatMap(({ kind: collectionKind, subject }) => {
    const found = collectionKind === kind && subject.group === group ? catalog.find(group, version, subject.resource) : undefined
    return found === undefined ? [] : [{ group, version: found.version, resource: subject.resource, namespaced: found.namespaced }]
  })
}

export type Permission = Pick<AccessAttributes, 'verb' | 'resource'> &
  Partial<Pick<AccessAttributes, 'group' | 'version' | 'namespace' | 'subresource' | 'name'>>

export type CheckPermission = (user: User, permission: Permission) => Promise<Decision>

export const permissionCheck =
  (authorizers: readonly Authorizer[]): CheckPermission =>
  (user, permission) =>
    authorizeWith(authorizers, {
      user,
      info: { isResource: true, group: '', version: '', namespace: '', subresource: '', name: '', path: '', ...permission },
    })

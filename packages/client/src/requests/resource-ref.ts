// References to resources (group, version, plural) and their URL paths.

import type { GroupName, Identity } from '@cluster-apiserver/api/api/identity.js'

export interface ResourceRef {
  /** Empty for the core group. A stem gets the group suffix of the server's identity. */
  readonly group: GroupName
  readonly version: string
  readonly resource: string
  readonly kind: string
  readonly namespaced: boolean
}

export const apiVersionOf = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`)

/** Splits `apps/v1` into group and version; the core group is empty. */
export function splitApiVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? { group: '', version: apiVersion } : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

export const fullGroup = ({ group }: ResourceRef, identity: Identity | undefined): string =>
  typeof group === 'string' ? group : (identity?.group(group) ?? group.stem)

export interface PathParts {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly subresource?: string | undefined
}

export function pathOf(ref: ResourceRef, identity: Identity | undefined, { namespace, name, subresource }: PathParts): string {
  const group = fullGroup(ref, identity)
  let path = group === '' ? `/api/${ref.version}` : `/apis/${group}/${ref.version}`
  if (namespace !== undefined && namespace !== '' && ref.namespaced) path += `/namespaces/${segment(namespace, 'a namespace')}`
  path += `/${ref.resource}`
  if (name !== undefined) path += `/${segment(name, 'an object')}`
  if (subresource !== undefined) path += `/${subresource}`
  return path
}

/** Rejects empty names, `.`, `..` and names with `/` or `%`: the path could lead to another resource. */
function segment(name: string, noun: string): string {
  if (name === '' || name === '.' || name === '..' || /[/%]/.test(name))
    throw new TypeError(`${JSON.stringify(name)} is not a valid name of ${noun}`)
  return encodeURIComponent(name)
}

// Which collection a request is for, and the paths below it.

import type { GroupName, Identity } from '../api/identity.js'

export interface ResourceRef {
  /** The core group is empty. A stem gets the suffix of the server's identity. */
  readonly group: GroupName
  readonly version: string
  /** The plural, as it stands in paths. */
  readonly resource: string
  readonly kind: string
  readonly namespaced: boolean
}

export const apiVersionOf = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`)

/** `apps/v1` to its parts; the core group is empty. */
export function splitApiVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? { group: '', version: apiVersion } : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

/** Whether the full name of the group depends on the server's identity. */
export const needsIdentity = ({ group }: ResourceRef): boolean => typeof group !== 'string'

export const fullGroup = ({ group }: ResourceRef, identity: Identity | undefined): string =>
  typeof group === 'string' ? group : (identity?.group(group) ?? group.stem)

export interface Place {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly subresource?: string | undefined
}

export function pathOf(ref: ResourceRef, identity: Identity | undefined, { namespace, name, subresource }: Place): string {
  const group = fullGroup(ref, identity)
  let path = group === '' ? `/api/${ref.version}` : `/apis/${group}/${ref.version}`
  if (namespace !== undefined && namespace !== '' && ref.namespaced) path += `/namespaces/${segment(namespace, 'a namespace')}`
  path += `/${ref.resource}`
  if (name !== undefined) path += `/${segment(name, 'an object')}`
  if (subresource !== undefined) path += `/${subresource}`
  return path
}

/** One part of a path and no more: servers read an escaped slash as one that leads elsewhere, such as to another kind. */
function segment(name: string, of: string): string {
  if (name === '' || name === '.' || name === '..' || /[/%]/.test(name)) throw new TypeError(`${JSON.stringify(name)} is no name of ${of}`)
  return encodeURIComponent(name)
}

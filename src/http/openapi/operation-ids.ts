// The names of operations, from which generators of clients make the names of functions: `listCoreV1NamespacedPod`.

import type { Resource } from '../../api/catalog.js'

/** `rbac.authorization` → `RbacAuthorization`. */
const words = (text: string): string => text.replace(/(?:^|[^a-zA-Z0-9]+)([a-zA-Z0-9]?)/g, (_, letter: string) => letter.toUpperCase())

export const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)
const small = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1)

/** The name of a group without the identity's suffix; the group without a name is the core. */
export function groupStem({ definition: { group } }: Resource): string {
  const stem = typeof group === 'string' ? group : group.stem
  return stem === '' ? 'core' : stem
}

export const groupTag = (stem: string): string => small(words(stem))
export const versionTag = (stem: string, version: string): string => `${groupTag(stem)}_${version}`
export const groupInId = (stem: string): string => words(stem)
export const versionInId = (stem: string, version: string): string => `${words(stem)}${capital(version)}`

export interface OperationName {
  /** `list`, `read`, `connect`. */
  readonly verb: string
  /** Between the version and the kind: `Collection`, or the method of a connection. */
  readonly qualifier?: string
  readonly namespaced: boolean
  /** Behind the kind: a subresource, `List`, `ForAllNamespaces`. */
  readonly suffix?: string
}

export function operationId(resource: Resource, { verb, qualifier = '', namespaced, suffix = '' }: OperationName): string {
  const place = versionInId(groupStem(resource), resource.version)
  return `${verb}${place}${qualifier}${namespaced ? 'Namespaced' : ''}${resource.kind}${suffix}`
}

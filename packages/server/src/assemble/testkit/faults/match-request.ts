// Matching of a request against the matchers of a fault rule.

import type { FaultMatch, ResourcePattern } from './fault-rule.js'

/** What a fault rule sees of a request. */
export interface FaultRequest {
  readonly isResource: boolean
  readonly verb: string
  /** True for requests to kubelets, pods and services, such as exec and proxy, whatever the verb. */
  readonly isConnect: boolean
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly user: string
}

export function matchesRequest(match: FaultMatch, request: FaultRequest): boolean {
  const { verbs, resources, namespaces, names, users } = match
  if (users !== undefined && !users.has(request.user)) return false
  if (!match.isOfResources) return true
  if (!request.isResource) return false
  return (
    (verbs === undefined || verbs.has(request.verb) || (request.isConnect && verbs.has('connect'))) &&
    (resources === undefined || resources.some((pattern) => matchesResource(pattern, request))) &&
    (namespaces === undefined || namespaces.has(request.namespace)) &&
    (names === undefined || names.has(request.name))
  )
}

function matchesResource({ resource, group, subresource }: ResourcePattern, request: FaultRequest): boolean {
  if (resource !== '*' && resource !== request.resource) return false
  if (group !== undefined && group !== request.group) return false
  return subresource === '*' ? request.subresource !== '' : subresource === request.subresource
}

// May you: the authorizers in the order in which they are asked. The first that has an opinion decides; silence refuses.

import { ApiError, forbidden } from '../api/api-error.js'
import type { RequestInfo } from '../api/request-info.js'
import { authenticatedGroup, mastersGroup, type User } from '../api/user.js'

export type Decision = 'allow' | 'deny' | 'no-opinion'
export type Authorizer = (user: User, request: RequestInfo) => Decision | Promise<Decision>

/** Everybody may do everything: for servers that guard themselves otherwise. */
export const everybody: Authorizer = () => 'allow'

/** Members of the masters' group may do everything. */
export const masters: Authorizer = (user) => (user.groups.includes(mastersGroup) ? 'allow' : 'no-opinion')

const publicPaths = new Set(['/healthz', '/livez', '/readyz', '/version', '/version/'])
const discoveryPath = /^\/(?:api|apis|openapi)(?:\/|$)/

/** What everybody may read: health and version; and what the authenticated may: which kinds there are. */
export const publicInformation: Authorizer = (user, request) => {
  if (request.isResource || request.verb !== 'get') return 'no-opinion'
  if (publicPaths.has(request.path)) return 'allow'
  return discoveryPath.test(request.path) && user.groups.includes(authenticatedGroup) ? 'allow' : 'no-opinion'
}

export function authorizeWith(authorizers: readonly Authorizer[], user: User, request: RequestInfo): Decision | Promise<Decision> {
  return decideFrom({ authorizers, user, request }, 0)
}

interface Question {
  readonly authorizers: readonly Authorizer[]
  readonly user: User
  readonly request: RequestInfo
}

function decideFrom(question: Question, from: number): Decision | Promise<Decision> {
  for (let i = from; i < question.authorizers.length; i++) {
    const decision = (question.authorizers[i] as Authorizer)(question.user, question.request)
    if (decision instanceof Promise) return decision.then((decided) => (decided === 'no-opinion' ? decideFrom(question, i + 1) : decided))
    if (decision !== 'no-opinion') return decision
  }
  return 'no-opinion'
}

/** The refusal in the reference's words. */
export function refusal(user: User, request: RequestInfo): ApiError {
  if (!request.isResource) {
    const message = `forbidden: User "${user.name}" cannot ${request.verb} path "${request.path}"`
    return new ApiError({ code: 403, reason: 'Forbidden', message, details: {} })
  }
  const resource = request.subresource === '' ? request.resource : `${request.resource}/${request.subresource}`
  const place = request.namespace === '' ? 'at the cluster scope' : `in the namespace "${request.namespace}"`
  const why = `User "${user.name}" cannot ${request.verb} resource "${resource}" in API group "${request.group}" ${place}`
  return forbidden({ group: request.group, resource: request.resource, kind: '' }, request.name, why)
}

// Authorizers that need no objects: everybody may, masters may, and what is public.

import { authenticatedGroup, mastersGroup } from '../api/user.js'
import { type Authorizer, allow, noOpinion, type UserRules } from './authorize.js'

const everything: UserRules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}
const nothing: UserRules = { resourceRules: [], nonResourceRules: [] }

/** Everybody may do everything: for servers that guard themselves otherwise. */
export const everybody: Authorizer = { name: 'AlwaysAllow', authorize: () => allow, rulesFor: () => everything }

/** Members of the masters' group may do everything. */
export const masters: Authorizer = {
  name: 'masters',
  authorize: ({ user }) => (user.groups.includes(mastersGroup) ? allow : noOpinion),
  rulesFor: (user) => (user.groups.includes(mastersGroup) ? everything : nothing),
}

const publicPaths = ['/healthz', '/livez', '/readyz', '/version', '/version/']
const discoveryPath = /^\/(?:api|apis|openapi)(?:\/|$)/
const discoveryPaths = ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*']

/** What everybody may read: health and version; and what the authenticated may: which kinds there are. */
export const publicInformation: Authorizer = {
  name: 'public',
  authorize: ({ user, info }) => {
    if (info.isResource || info.verb !== 'get') return noOpinion
    if (publicPaths.includes(info.path)) return allow
    return discoveryPath.test(info.path) && user.groups.includes(authenticatedGroup) ? allow : noOpinion
  },
  rulesFor: (user) => {
    const discovery = user.groups.includes(authenticatedGroup) ? discoveryPaths : []
    return { resourceRules: [], nonResourceRules: [{ verbs: ['get'], nonResourceURLs: [...publicPaths, ...discovery] }] }
  },
}

// Authorizers that need no objects: everybody may, nobody may, and masters may.

import { mastersGroup } from '../api/user.js'
import { type Authorizer, allow, noOpinion, type UserRules } from './authorize.js'

const everything: UserRules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}
export const noRules: UserRules = { resourceRules: [], nonResourceRules: [] }

/** Everybody may do everything: for servers that guard themselves otherwise. */
export const everybody: Authorizer = { name: 'AlwaysAllow', authorize: () => allow, rulesFor: () => everything }

const forbiddenAll = { verdict: 'no-opinion', reason: 'Everything is forbidden.' } as const

/** Nobody may do anything, but for masters and whom others allow it: for tests. */
export const nobody: Authorizer = { name: 'AlwaysDeny', authorize: () => forbiddenAll, rulesFor: () => noRules }

/** Members of the masters' group may do everything, whoever else is asked. That is no rule that anybody could be shown. */
export const masters: Authorizer = {
  name: 'masters',
  authorize: ({ user }) => (user.groups.includes(mastersGroup) ? allow : noOpinion),
  rulesFor: () => noRules,
}

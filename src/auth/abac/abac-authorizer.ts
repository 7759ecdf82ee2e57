// ABAC: whatever some policy of a file allows, to its user and group, on its resource or path.

import type { User } from '../../api/user.js'
import { type AccessAttributes, type Authorizer, allow, type Decision, type NonResourceRule, type ResourceRule } from '../authorize.js'
import { matchesPath } from '../rbac/rule-words.js'
import type { Policy } from './policies.js'

const noPolicy: Decision = { verdict: 'no-opinion', reason: 'No policy matched.' }

const readingVerbs: readonly string[] = ['get', 'list', 'watch']

export const abacAuthorizer = (policies: readonly Policy[]): Authorizer => ({
  name: 'ABAC',
  authorize: ({ user, info }) => (policies.some((policy) => matches(policy, user, info)) ? allow : noPolicy),
  rulesFor: (user, namespace) => {
    const resourceRules: ResourceRule[] = []
    const nonResourceRules: NonResourceRule[] = []
    for (const policy of policies) {
      if (!isSubject(policy, user) || !isIn(policy.namespace, namespace)) continue
      const verbs = policy.readonly ? readingVerbs : ['*']
      if (policy.resource !== '') resourceRules.push({ verbs, apiGroups: [policy.apiGroup], resources: [policy.resource] })
      if (policy.nonResourcePath !== '') nonResourceRules.push({ verbs, nonResourceURLs: [policy.nonResourcePath] })
    }
    return { resourceRules, nonResourceRules }
  },
})

function matches(policy: Policy, user: User, info: AccessAttributes): boolean {
  if (policy.readonly && !readingVerbs.includes(info.verb)) return false
  if (!isSubject(policy, user)) return false
  if (!info.isResource) return policy.nonResourcePath !== '' && matchesPath(policy.nonResourcePath, info.path)
  return isIn(policy.namespace, info.namespace) && isIn(policy.resource, info.resource) && isIn(policy.apiGroup, info.group)
}

/** A policy that names both a user and a group is for that user as a member of that group; one that names neither is for nobody. */
function isSubject({ user, group }: Policy, { name, groups }: User): boolean {
  if (user === '' && group === '') return false
  return (user === '' || user === name) && (group === '' || groups.includes(group))
}

const isIn = (pattern: string, word: string): boolean => pattern === '*' || pattern === word

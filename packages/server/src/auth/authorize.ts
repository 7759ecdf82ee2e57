// Authorizers in their order. The first that allows or denies decides; if none has an opinion, the request is forbidden.

import { ApiError, forbidden } from '@cluster-apiserver/api/api/api-error.js'
import type { RequestInfo } from '@cluster-apiserver/api/api/request-info.js'
import { mastersGroup, type User } from '@cluster-apiserver/api/api/user.js'
import { listSome } from '@cluster-apiserver/api/base/shorten.js'

export interface Decision {
  readonly verdict: 'allow' | 'deny' | 'no-opinion'
  readonly reason: string
  /** Failure of the authorizer. If no other authorizer decides, the client gets 500 with this text and not 403. */
  readonly error?: string
}

export const allow: Decision = { verdict: 'allow', reason: '' }
export const noOpinion: Decision = { verdict: 'no-opinion', reason: '' }

export type AccessAttributes = Pick<
  RequestInfo,
  'isResource' | 'group' | 'version' | 'namespace' | 'resource' | 'subresource' | 'name' | 'path'
> & {
  /** Verb of a request, or one that exists only in rules, such as `impersonate`, `bind`, `escalate`, `approve`. */
  readonly verb: string
}

export interface AccessRequest {
  readonly user: User
  readonly info: AccessAttributes
}

export interface Authorizer {
  readonly name: string
  authorize(request: AccessRequest): Decision | Promise<Decision>
  rulesFor?(user: User, namespace: string): Promise<UserRules>
}

export interface UserRules {
  readonly resourceRules: readonly ResourceRule[]
  readonly nonResourceRules: readonly NonResourceRule[]
  readonly problem?: string
  readonly isIncomplete?: boolean
}

export interface ResourceRule {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
}

export interface NonResourceRule {
  readonly verbs: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

export async function authorizeWith(authorizers: readonly Authorizer[], request: AccessRequest): Promise<Decision> {
  let combined = noOpinion
  for (const authorizer of authorizers) {
    const result = authorizer.authorize(request)
    const decision = result instanceof Promise ? await result : result
    if (decision.verdict !== 'no-opinion') return decision
    combined = mergeDecisions(combined, decision)
  }
  return combined
}

function mergeDecisions(first: Decision, second: Decision): Decision {
  if (second.reason === '' && second.error === undefined) return first
  if (first.reason === '' && first.error === undefined) return second
  const reason = [first.reason, second.reason].filter(Boolean).join('\n')
  const error = aggregate([first.error ?? '', second.error ?? ''].filter(Boolean))
  return { verdict: 'no-opinion', reason, ...(error === '' ? {} : { error }) }
}

export const aggregate = (problems: readonly string[]): string => aggregateSome(problems, 0)

/** `omitted` is the number of further problems that are not listed. */
export function aggregateSome(problems: readonly string[], omitted: number): string {
  const distinct = [...new Set(problems)]
  return distinct.length > 1 || omitted > 0 ? `[${listSome(distinct, omitted)}]` : (distinct[0] ?? '')
}

export async function rulesWith(authorizers: readonly Authorizer[], user: User, namespace: string): Promise<UserRules> {
  const resourceRules: ResourceRule[] = []
  const nonResourceRules: NonResourceRule[] = []
  const problems: string[] = []
  let isIncomplete = false
  for (const authorizer of authorizers) {
    const rules = (await authorizer.rulesFor?.(user, namespace)) ?? unknownRules(authorizer)
    for (const rule of rules.resourceRules) resourceRules.push(rule)
    for (const rule of rules.nonResourceRules) nonResourceRules.push(rule)
    if (rules.isIncomplete === true) isIncomplete = true
    if (rules.problem !== undefined && rules.problem !== '') problems.push(rules.problem)
  }
  return { resourceRules, nonResourceRules, problem: aggregate(problems), isIncomplete }
}

export const unknownRules = ({ name }: Pick<Authorizer, 'name'>): UserRules => ({
  resourceRules: [],
  nonResourceRules: [],
  problem: `${name.toLowerCase()} authorizer does not support user rule resolution`,
  isIncomplete: true,
})

export function forbiddenError({ user, info }: AccessRequest, { reason }: Decision): ApiError {
  const why = reason === '' ? '' : `: ${reason}`
  if (!info.isResource) {
    const message = `forbidden: User "${user.name}" cannot ${info.verb} path "${info.path}"${why}`
    return new ApiError({ code: 403, reason: 'Forbidden', message, details: {} })
  }
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  const scope = info.namespace === '' ? 'at the cluster scope' : `in the namespace "${info.namespace}"`
  const message = `User "${user.name}" cannot ${info.verb} resource "${resource}" in API group "${info.group}" ${scope}${why}`
  return forbidden({ group: info.group, resource: info.resource, kind: '' }, info.name, message)
}

const rulesForEverything: UserRules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}
export const noRules: UserRules = { resourceRules: [], nonResourceRules: [] }

export const alwaysAllow: Authorizer = { name: 'AlwaysAllow', authorize: () => allow, rulesFor: async () => rulesForEverything }

const forbiddenAll = { verdict: 'no-opinion', reason: 'Everything is forbidden.' } as const

export const alwaysDeny: Authorizer = { name: 'AlwaysDeny', authorize: () => forbiddenAll, rulesFor: async () => noRules }

/** Allows members of `system:masters` everything, before all other authorizers; SelfSubjectRulesReview does not show it. */
export const allowMasters: Authorizer = {
  name: 'masters',
  authorize: ({ user }) => (user.groups.includes(mastersGroup) ? allow : noOpinion),
  rulesFor: async () => noRules,
}

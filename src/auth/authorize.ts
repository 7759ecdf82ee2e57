// May you: the authorizers in the order in which they are asked. The first that has an opinion decides; silence refuses.

import { ApiError, forbidden } from '../api/api-error.js'
import type { RequestInfo } from '../api/request-info.js'
import type { User } from '../api/user.js'

export interface Decision {
  readonly verdict: 'allow' | 'deny' | 'no-opinion'
  /** Why, for people; often empty. */
  readonly reason: string
}

/** Decisions without a reason, which most are: one value for all requests. */
export const allow: Decision = { verdict: 'allow', reason: '' }
export const noOpinion: Decision = { verdict: 'no-opinion', reason: '' }

/** What is asked for, as far as rights go. */
export type AccessAttributes = Pick<
  RequestInfo,
  'isResource' | 'verb' | 'group' | 'version' | 'namespace' | 'resource' | 'subresource' | 'name' | 'path'
>

/** Who asks for what: a request of a client, or one that a review is about. */
export interface AccessRequest {
  readonly user: User
  readonly info: AccessAttributes
}

export interface Authorizer {
  readonly name: string
  authorize(request: AccessRequest): Decision | Promise<Decision>
  /** What somebody may do in a namespace; left out by those that decide each case by itself. */
  rulesFor?(user: User, namespace: string): UserRules | Promise<UserRules>
}

export interface UserRules {
  readonly resourceRules: readonly ResourceRule[]
  readonly nonResourceRules: readonly NonResourceRule[]
  /** What kept somebody from saying all; empty where nothing did. */
  readonly problem?: string
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

/** Asks one after the other; synchronous as long as they are. */
export function authorizeWith(
  authorizers: readonly Authorizer[],
  request: AccessRequest,
  from = 0,
  before = noOpinion,
): Decision | Promise<Decision> {
  let silent = before
  for (let i = from; i < authorizers.length; i++) {
    const decision = (authorizers[i] as Authorizer).authorize(request)
    if (decision instanceof Promise) {
      const known = silent
      return decision.then((decided) =>
        decided.verdict === 'no-opinion' ? authorizeWith(authorizers, request, i + 1, together(known, decided)) : decided,
      )
    }
    if (decision.verdict !== 'no-opinion') return decision
    silent = together(silent, decision)
  }
  return silent
}

/** Whoever is refused by silence is told everything that was said meanwhile. */
function together(one: Decision, other: Decision): Decision {
  if (other.reason === '') return one
  return one.reason === '' ? other : { verdict: 'no-opinion', reason: `${one.reason}\n${other.reason}` }
}

/** The rules of all authorizers, one after the other. */
export async function rulesWith(authorizers: readonly Authorizer[], user: User, namespace: string): Promise<UserRules> {
  const resourceRules: ResourceRule[] = []
  const nonResourceRules: NonResourceRule[] = []
  const problems: string[] = []
  for (const authorizer of authorizers) {
    const rules = await authorizer.rulesFor?.(user, namespace)
    resourceRules.push(...(rules?.resourceRules ?? []))
    nonResourceRules.push(...(rules?.nonResourceRules ?? []))
    const problem = rules === undefined ? `${authorizer.name} authorizer does not support user rule resolution` : (rules.problem ?? '')
    if (problem !== '') problems.push(problem)
  }
  return { resourceRules, nonResourceRules, problem: problems.join(', ') }
}

/** The refusal in the reference's words. */
export function refusal({ user, info }: AccessRequest, { reason }: Decision): ApiError {
  const why = reason === '' ? '' : `: ${reason}`
  if (!info.isResource) {
    const message = `forbidden: User "${user.name}" cannot ${info.verb} path "${info.path}"${why}`
    return new ApiError({ code: 403, reason: 'Forbidden', message, details: {} })
  }
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  const place = info.namespace === '' ? 'at the cluster scope' : `in the namespace "${info.namespace}"`
  const cannot = `User "${user.name}" cannot ${info.verb} resource "${resource}" in API group "${info.group}" ${place}${why}`
  return forbidden({ group: info.group, resource: info.resource, kind: '' }, info.name, cannot)
}

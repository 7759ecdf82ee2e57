// May you: the authorizers in the order in which they are asked. The first that has an opinion decides; silence refuses.

import { ApiError, forbidden } from '../api/api-error.js'
import type { RequestInfo } from '../api/request-info.js'
import type { User } from '../api/user.js'
import { aggregate } from './problems.js'

export interface Decision {
  readonly verdict: 'allow' | 'deny' | 'no-opinion'
  /** Why, for people; often empty. */
  readonly reason: string
  /** What went wrong on the way; left out where nothing did. Whoever is not allowed anything then is told that, and not that it is forbidden. */
  readonly error?: string
}

/** Decisions without a reason, which most are: one value for all requests. */
export const allow: Decision = { verdict: 'allow', reason: '' }
export const noOpinion: Decision = { verdict: 'no-opinion', reason: '' }

/** What is asked for, as far as rights go. */
export type AccessAttributes = Pick<
  RequestInfo,
  'isResource' | 'group' | 'version' | 'namespace' | 'resource' | 'subresource' | 'name' | 'path'
> & {
  /** Of requests, and those that only rules know: `impersonate`, `bind`, `escalate`, `approve`. */
  readonly verb: string
}

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
  /** What went wrong; empty where nothing did. */
  readonly problem?: string
  /** Whether somebody may do more than that. */
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
  if (other.reason === '' && other.error === undefined) return one
  if (one.reason === '' && one.error === undefined) return other
  const reason = [one.reason, other.reason].filter(Boolean).join('\n')
  const error = aggregate([one.error ?? '', other.error ?? ''].filter(Boolean))
  return { verdict: 'no-opinion', reason, ...(error === '' ? {} : { error }) }
}

/** The rules of all authorizers, one after the other. */
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

/** Of somebody who decides each case by itself. */
export const unknownRules = ({ name }: Pick<Authorizer, 'name'>): UserRules => ({
  resourceRules: [],
  nonResourceRules: [],
  problem: `${name.toLowerCase()} authorizer does not support user rule resolution`,
  isIncomplete: true,
})

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

// Which requests are told of, and how much: the rules of a policy, of which the first that matches decides.

import type { RequestInfo } from '../api/request-info.js'
import type { User } from '../api/user.js'
import type { GroupResources, Policy, PolicyRule } from '../resources/audit/v1.schema.js'
import type { AuditLevel, AuditStage } from './level.js'

/** What is asked for, as far as rules go. */
export interface AuditedRequest {
  /** Undefined: nobody knows who asks. */
  readonly user: User | undefined
  readonly verb: string
  /** The name in the path, or the one that a selector names. */
  readonly name: string
  readonly info: Pick<RequestInfo, 'isResource' | 'namespace' | 'group' | 'resource' | 'subresource' | 'path'>
}

export interface Ruling {
  readonly level: AuditLevel
  readonly omitStages: ReadonlySet<AuditStage>
  readonly omitManagedFields: boolean
}

export type AuditPolicy = (request: AuditedRequest) => Ruling

export function compilePolicy(policy: Policy): AuditPolicy {
  const rulings = (policy.rules ?? []).map((rule) => ({ matches: compileRule(rule), ruling: rulingOf(policy, rule) }))
  const otherwise = rulingOf(policy, { level: 'None' })
  return (request) => {
    for (const { matches, ruling } of rulings) if (matches(request)) return ruling
    return otherwise
  }
}

const rulingOf = (policy: Policy, rule: PolicyRule): Ruling => ({
  level: rule.level as AuditLevel,
  omitStages: new Set([...(policy.omitStages ?? []), ...(rule.omitStages ?? [])] as readonly AuditStage[]),
  omitManagedFields: rule.omitManagedFields ?? policy.omitManagedFields ?? false,
})

type Matches = (request: AuditedRequest) => boolean

/** Only what the rule speaks of is looked at. */
function compileRule(rule: PolicyRule): Matches {
  const conditions: Matches[] = []
  if (rule.users?.length) {
    const users = new Set(rule.users)
    conditions.push(({ user }) => user !== undefined && users.has(user.name))
  }
  if (rule.userGroups?.length) {
    const groups = new Set(rule.userGroups)
    conditions.push(({ user }) => user?.groups.some((group) => groups.has(group)) === true)
  }
  if (rule.verbs?.length) {
    const verbs = new Set(rule.verbs)
    conditions.push(({ verb }) => verbs.has(verb))
  }
  if (rule.namespaces?.length || rule.resources?.length) conditions.push(compileResources(rule))
  else if (rule.nonResourceURLs?.length) conditions.push(compilePaths(rule.nonResourceURLs))
  const [only] = conditions
  if (conditions.length === 1 && only !== undefined) return only
  return (request) => conditions.every((matches) => matches(request))
}

function compileResources({ namespaces = [], resources = [] }: PolicyRule): Matches {
  const places = new Set(namespaces)
  const groups = resources.map(compileGroup)
  return (request) => {
    if (!request.info.isResource || (places.size > 0 && !places.has(request.info.namespace))) return false
    return groups.length === 0 || groups.some((matches) => matches(request))
  }
}

function compileGroup({ group = '', resources = [], resourceNames = [] }: GroupResources): Matches {
  const names = new Set(resourceNames)
  const wanted = new Set(resources)
  return ({ info: { group: asked, resource, subresource }, name }) => {
    if (asked !== group) return false
    if (wanted.size === 0) return true
    if (names.size > 0 && !names.has(name)) return false
    if (wanted.has('*') || wanted.has(`${resource}/*`)) return true
    return subresource === '' ? wanted.has(resource) : wanted.has(`${resource}/${subresource}`) || wanted.has(`*/${subresource}`)
  }
}

function compilePaths(urls: readonly string[]): Matches {
  const exact = new Set(urls)
  const beginnings = urls.filter((url) => url.endsWith('*')).map((url) => url.replace(/\*+$/, ''))
  return ({ info }) => !info.isResource && (exact.has(info.path) || beginnings.some((beginning) => info.path.startsWith(beginning)))
}

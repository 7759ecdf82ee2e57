// Audit policy: the first matching rule sets level, omitted stages and omitted managedFields of a request.

import type { RequestInfo } from '@cluster-apiserver/api/api/request-info.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import type { GroupResources, Policy, PolicyRule } from '@cluster-apiserver/api/resources/audit/v1.schema.js'

interface AuditedRequest {
  /** Undefined if the request is not authenticated. */
  readonly user: User | undefined
  readonly verb: string
  /** Name in the path, or in a metadata.name field selector. */
  readonly name: string
  readonly info: Pick<RequestInfo, 'isResource' | 'namespace' | 'group' | 'resource' | 'subresource' | 'path'>
}

export interface AuditDecision {
  readonly level: AuditLevel
  readonly omitStages: ReadonlySet<AuditStage>
  readonly omitManagedFields: boolean
}

export type AuditPolicy = (request: AuditedRequest) => AuditDecision

export function compilePolicy(policy: Policy): AuditPolicy {
  const rules = (policy.rules ?? []).map((rule) => ({ matches: compileRule(rule), decision: decisionOf(policy, rule) }))
  const noEvents = decisionOf(policy, { level: 'None' })
  return (request) => {
    for (const { matches, decision } of rules) if (matches(request)) return decision
    return noEvents
  }
}

const decisionOf = (policy: Policy, rule: PolicyRule): AuditDecision => ({
  level: rule.level as AuditLevel,
  omitStages: new Set([...(policy.omitStages ?? []), ...(rule.omitStages ?? [])] as readonly AuditStage[]),
  omitManagedFields: rule.omitManagedFields ?? policy.omitManagedFields ?? false,
})

type Matches = (request: AuditedRequest) => boolean

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
  const allowedNamespaces = new Set(namespaces)
  const groups = resources.map(compileGroup)
  return (request) => {
    if (!request.info.isResource || (allowedNamespaces.size > 0 && !allowedNamespaces.has(request.info.namespace))) return false
    return groups.length === 0 || groups.some((matches) => matches(request))
  }
}

function compileGroup({ group = '', resources = [], resourceNames = [] }: GroupResources): Matches {
  const names = new Set(resourceNames)
  const patterns = new Set(resources)
  return ({ info: { group: requestedGroup, resource, subresource }, name }) => {
    if (requestedGroup !== group) return false
    if (patterns.size === 0) return true
    if (names.size > 0 && !names.has(name)) return false
    if (patterns.has('*') || patterns.has(`${resource}/*`)) return true
    return subresource === '' ? patterns.has(resource) : patterns.has(`${resource}/${subresource}`) || patterns.has(`*/${subresource}`)
  }
}

function compilePaths(urls: readonly string[]): Matches {
  const exact = new Set(urls)
  const prefixes = urls.filter((url) => url.endsWith('*')).map((url) => url.replace(/\*+$/, ''))
  return ({ info }) => !info.isResource && (exact.has(info.path) || prefixes.some((prefix) => info.path.startsWith(prefix)))
}

export const auditLevels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
export type AuditLevel = (typeof auditLevels)[number]

export const auditStages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const
export type AuditStage = (typeof auditStages)[number]

const levelRanks: { readonly [Level in AuditLevel]: number } = { None: 0, Metadata: 1, Request: 2, RequestResponse: 3 }

export const isAtLeast = (level: AuditLevel, other: AuditLevel): boolean => levelRanks[level] >= levelRanks[other]

// RBAC authorizer: allows what the rules of a bound role allow, in the namespace of the binding or everywhere.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import type { PolicyRule } from '@cluster-apiserver/api/resources/rbac-authorization/v1.schema.js'
import {
  type AccessRequest,
  type Authorizer,
  aggregate,
  type Decision,
  type NonResourceRule,
  noOpinion,
  type ResourceRule,
  type UserRules,
} from '../authorize.js'
import { accountOf } from '../service-account/service-account-claims.js'
import type { BoundRole } from './bound-role.js'
import type { RbacIndex } from './rbac-index.js'
import { type Binding, type BoundSubject, describeSubject, firstBinding, subjectIndex } from './role-bindings.js'
import { ruleQuery } from './role-rules.js'
import { MissingRoles, type RuleScope, rulesOfUser } from './rules-of-user.js'

export function rbacAuthorizer(index: RbacIndex, identity: Identity): Authorizer {
  return {
    name: 'RBAC',
    authorize: (request) => decide(index, identity, request),
    rulesFor: (user, namespace) => rulesForReview(index, { identity, user, namespace }),
  }
}

const rolesPerYieldCheck = 64

async function decide(index: RbacIndex, identity: Identity, { user, info }: AccessRequest): Promise<Decision> {
  if (!index.isOpen) await index.open()
  const query = ruleQuery(info)
  let missing: MissingRoles | undefined
  const checkedRoles = new Set<BoundRole>()
  for (const { role, bindings, group } of index.grantedRoles(user, info.namespace)) {
    if (checkedRoles.has(role)) continue
    checkedRoles.add(role)
    const wasLoaded = role.isLoaded
    const rules = index.rulesOf(role)
    if (rules === undefined) {
      missing ??= new MissingRoles(identity)
      missing.add(role)
    } else if (rules.allows(query)) return allowedBy(firstBinding(bindings), user, group)
    // The next role is read from the index after yielding, so a binding deleted meanwhile allows nothing.
    if (!wasLoaded || checkedRoles.size % rolesPerYieldCheck === 0) await index.budget.yieldIfSpent()
  }
  return noOpinionFor(missing)
}

function noOpinionFor(missing: MissingRoles | undefined): Decision {
  const problem = missing?.problem ?? ''
  return problem === '' ? noOpinion : { verdict: 'no-opinion', reason: `RBAC: ${problem}` }
}

/** Bindings with more subjects are not searched for the first match; the reason then names the user or group that matched. */
const maxSearchedSubjects = 64

function allowedBy(binding: Binding, { name, groups }: User, group: string | undefined): Decision {
  const { subjects, decisions } = binding
  if (subjects.length > maxSearchedSubjects) return { verdict: 'allow', reason: reasonOf(binding, describeMatchedSubject(name, group)) }
  const index = subjects.length === 1 ? 0 : subjectIndex(binding, name, groups)
  const cached = decisions[index]
  if (cached !== undefined) return cached
  const decision: Decision = { verdict: 'allow', reason: reasonOf(binding, describeSubject(subjects[index] as BoundSubject)) }
  decisions[index] = decision
  return decision
}

function describeMatchedSubject(user: string, group: string | undefined): string {
  if (group !== undefined) return describeSubject({ kind: 'Group', name: group, namespace: '' })
  const account = accountOf(user)
  return describeSubject(account === undefined ? { kind: 'User', name: user, namespace: '' } : { kind: 'ServiceAccount', ...account })
}

function reasonOf({ name, namespace, role }: Binding, subject: string): string {
  const binding = namespace === '' ? `ClusterRoleBinding ${JSON.stringify(name)}` : `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`
  return `RBAC: allowed by ${binding} of ${role.kind} ${JSON.stringify(role.name)} to ${subject}`
}

/** Limits of the rules in a SelfSubjectRulesReview. */
const maxRules = 10_000
const maxBytes = 1 << 20

class RulesLimit {
  #rules = 0
  #bytes = 0

  readonly isOver = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): boolean => {
    this.#rules += 1
    for (const values of [verbs, apiGroups, resources, resourceNames, nonResourceURLs]) {
      if (values !== undefined) for (const value of values) this.#bytes += Buffer.byteLength(value) + quotesAndComma
    }
    return this.#rules > maxRules || this.#bytes > maxBytes
  }
}

const quotesAndComma = 3
const truncatedProblem = `more than ${maxRules} rules or 1 MiB of rules; the rest is omitted`

async function rulesForReview(index: RbacIndex, scope: RuleScope): Promise<UserRules> {
  const { rules, problem, isTruncated } = await rulesOfUser(index, scope, { walk: 'bindings', shouldStop: new RulesLimit().isOver })
  const resourceRules: ResourceRule[] = []
  const nonResourceRules: NonResourceRule[] = []
  for (const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } of rules) {
    if (resources.length > 0) resourceRules.push({ verbs, apiGroups, resources, ...(resourceNames.length === 0 ? {} : { resourceNames }) })
    if (nonResourceURLs.length > 0) nonResourceRules.push({ verbs, nonResourceURLs })
  }
  if (!isTruncated) return { resourceRules, nonResourceRules, problem }
  return { resourceRules, nonResourceRules, problem: aggregate([problem, truncatedProblem].filter(Boolean)), isIncomplete: true }
}

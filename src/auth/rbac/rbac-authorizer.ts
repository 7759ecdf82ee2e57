// RBAC: whoever is bound to a role may do what its rules say, in the namespace of the binding or everywhere.

import type { Identity } from '../../api/identity.js'
import type { User } from '../../api/user.js'
import { rbacGroup } from '../../resources/rbac-authorization/binding-rules.js'
import type { PolicyRule } from '../../resources/rbac-authorization/v1.schema.js'
import { type Authorizer, type Decision, type NonResourceRule, noOpinion, type ResourceRule, type UserRules } from '../authorize.js'
import { aggregate } from '../problems.js'
import { accountOf } from '../service-account-name.js'
import { type Binding, type BoundSubject, describeSubject, subjectIndex } from './bindings.js'
import type { RbacIndex } from './rbac-index.js'
import { askedFor } from './role-rules.js'

export function rbacAuthorizer(index: RbacIndex, identity: Identity): Authorizer {
  return {
    name: 'RBAC',
    authorize: ({ user, info }) => {
      const asked = askedFor(info)
      let decision: Decision | undefined
      let missing: string[] | undefined
      index.visit(user, info.namespace, (binding, group) => {
        const role = index.rulesOf(binding)
        if (role === undefined) {
          missing ??= []
          missing.push(missingRole(identity, binding))
        } else if (role.allows(asked)) decision = allowedBy(binding, user, group)
        return decision === undefined
      })
      return decision ?? (missing === undefined ? noOpinion : { verdict: 'no-opinion', reason: `RBAC: ${aggregate(missing)}` })
    },
    rulesFor: (user, namespace) => {
      const { rules, problem } = allRules(index, { identity, user, namespace })
      return { ...asInfo(rules), problem }
    },
  }
}

export interface HeldRules {
  readonly rules: readonly PolicyRule[]
  /** Which roles are missing; empty: none. */
  readonly problem: string
}

/** Everything that somebody may do in a namespace. */
export function allRules(
  index: RbacIndex,
  { identity, user, namespace }: { readonly identity: Identity; readonly user: User; readonly namespace: string },
): HeldRules {
  const rules: PolicyRule[] = []
  const missing: string[] = []
  index.visit(user, namespace, (binding) => {
    const role = index.rulesOf(binding)
    if (role === undefined) missing.push(missingRole(identity, binding))
    else for (const rule of role.rules) rules.push(rule)
    return true
  })
  return { rules, problem: aggregate(missing) }
}

/** In the singular, unlike what is said of a role that somebody reads. */
const missingRole = (identity: Identity, { roleKind, roleName }: Binding): string =>
  `${roleKind.toLowerCase()}.${identity.group(rbacGroup)} ${JSON.stringify(roleName)} not found`

/** In a binding of more subjects nobody looks for the first that fits. */
const mostLookedAt = 64

/** Which binding it was, for people; made once for each subject of a binding. */
function allowedBy(binding: Binding, { name, groups }: User, group: string | undefined): Decision {
  const { subjects, decisions } = binding
  if (subjects.length > mostLookedAt) return { verdict: 'allow', reason: reasonOf(binding, subjectFound(name, group)) }
  const place = subjects.length === 1 ? 0 : subjectIndex(binding, name, groups)
  const known = decisions[place]
  if (known !== undefined) return known
  const made: Decision = { verdict: 'allow', reason: reasonOf(binding, describeSubject(subjects[place] as BoundSubject)) }
  decisions[place] = made
  return made
}

function subjectFound(user: string, group: string | undefined): string {
  if (group !== undefined) return describeSubject({ kind: 'Group', name: group, namespace: '' })
  const account = accountOf(user)
  return describeSubject(account === undefined ? { kind: 'User', name: user, namespace: '' } : { kind: 'ServiceAccount', ...account })
}

function reasonOf({ name, namespace, roleKind, roleName }: Binding, subject: string): string {
  const binding = namespace === '' ? `ClusterRoleBinding ${JSON.stringify(name)}` : `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`
  return `RBAC: allowed by ${binding} of ${roleKind} ${JSON.stringify(roleName)} to ${subject}`
}

function asInfo(rules: readonly PolicyRule[]): UserRules {
  const resourceRules: ResourceRule[] = []
  const nonResourceRules: NonResourceRule[] = []
  for (const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } of rules) {
    if (resources.length > 0) resourceRules.push({ verbs, apiGroups, resources, ...(resourceNames.length === 0 ? {} : { resourceNames }) })
    if (nonResourceURLs.length > 0) nonResourceRules.push({ verbs, nonResourceURLs })
  }
  return { resourceRules, nonResourceRules }
}

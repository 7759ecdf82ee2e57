// RBAC escalation check: writers of roles and bindings need the rules they grant, the verb `escalate` or `bind`, or group `system:masters`.

import { forbidden, notFound } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { GroupName } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { mastersGroup } from '@cluster-apiserver/api/api/user.js'
import { sameValueBut } from '@cluster-apiserver/api/api/validation/same-value.js'
import { rbacGroup } from '@cluster-apiserver/api/resources/rbac-authorization/role-bindings.js'
import type { ClusterRole, PolicyRule, RoleBinding } from '@cluster-apiserver/api/resources/rbac-authorization/v1.schema.js'
import { type AccessAttributes, type Authorizer, authorizeWith } from '../authorize.js'
import { maxSteps, missingPermissions, quoteAll, TooManyRulesError } from './missing-permissions.js'
import type { RbacIndex } from './rbac-index.js'
import { rulesOfUser, type UserRuleSet } from './rules-of-user.js'

/** New object, and the stored one; `old` is undefined on create. */
export interface GuardedWrite {
  readonly next: ApiObject
  readonly old: ApiObject | undefined
}

/** Throws 403 if a write grants permissions that the writer does not have, and 404 if a role to bind does not exist. */
export type EscalationCheck = (call: Call, write: GuardedWrite) => Promise<void>

interface EscalationSources {
  readonly index: RbacIndex
  readonly authorizers: readonly Authorizer[]
}

const roleKinds: ReadonlySet<string> = new Set(['Role', 'ClusterRole'])
const bindingKinds: ReadonlySet<string> = new Set(['RoleBinding', 'ClusterRoleBinding'])

export function escalationCheck(sources: EscalationSources): EscalationCheck {
  return checkKinds(rbacGroup, [...roleKinds, ...bindingKinds], (call, write) =>
    roleKinds.has(call.resource.kind) ? checkRole(sources, call, write) : checkBinding(sources, call, write),
  )
}

/** Limits a check to writes of these kinds. Writes by the server itself and by members of system:masters are not checked. */
export function checkKinds(group: GroupName, kinds: readonly string[], check: EscalationCheck): EscalationCheck {
  return async (call, write) => {
    if (!kinds.includes(call.resource.kind) || call.resource.group !== call.identity.group(group)) return
    // Calls without request info come from the server itself.
    if (call.caller.info === undefined || call.user.groups.includes(mastersGroup)) return
    await check(call, write)
  }
}

const clusterAdminRules: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

async function checkRole(sources: EscalationSources, call: Call, { next, old }: GuardedWrite): Promise<void> {
  const { resource, namespace } = call
  const escalate = { verb: 'escalate', group: resource.group, resource: resource.name, namespace, name: call.caller.info?.name ?? '' }
  if (await isAllowed(sources, call, escalate)) return
  if (old !== undefined && changesOnlyGcFields(next, old)) return
  const role = next as ClusterRole
  const isAggregated = role.aggregationRule !== undefined || (old as ClusterRole | undefined)?.aggregationRule !== undefined
  await checkHeld(sources, call, { next, rules: role.rules ?? [] })
  // The rules that an aggregated ClusterRole will collect are unknown.
  if (isAggregated && (await findMissing(sources, call, clusterAdminRules)).missingRules.length > 0)
    throw forbidden(resource.subject, nameOf(next), 'must have cluster-admin privileges to use the aggregationRule')
}

async function checkBinding(sources: EscalationSources, call: Call, { next, old }: GuardedWrite): Promise<void> {
  if (old !== undefined && changesOnlyGcFields(next, old)) return
  const { namespace, identity } = call
  const { kind = '', name = '', apiGroup = '' } = (next as RoleBinding).roleRef ?? {}
  if (!roleKinds.has(kind) || (kind === 'Role' && namespace === '')) return
  const resource = kind === 'Role' ? 'roles' : 'clusterroles'
  if (await isAllowed(sources, call, { verb: 'bind', group: apiGroup, resource, namespace, name })) return
  const roleName = { kind, name, namespace: kind === 'Role' ? namespace : '' }
  await sources.index.open()
  const role = sources.index.rulesNamed(roleName)
  if (role === undefined) throw notFound({ group: identity.group(rbacGroup), resource, kind }, name)
  await checkHeld(sources, call, { next, rules: role.rules })
}

async function isAllowed({ authorizers }: EscalationSources, { user }: Call, attributes: Partial<AccessAttributes>): Promise<boolean> {
  const info = { isResource: true, verb: '', group: '', version: '*', namespace: '', resource: '', subresource: '', name: '', path: '' }
  return (await authorizeWith(authorizers, { user, info: { ...info, ...attributes } })).verdict === 'allow'
}

interface GrantedRules {
  readonly next: ApiObject
  readonly rules: readonly PolicyRule[]
}

async function checkHeld(sources: EscalationSources, call: Call, { next, rules }: GrantedRules): Promise<void> {
  const { missingRules, problem } = await findMissing(sources, call, rules)
  if (missingRules.length === 0) return
  const { name, groups } = call.user
  const userText = `user ${JSON.stringify(name)} (groups=${quoteAll(groups)})`
  const resolution = problem === '' ? '' : `; resolution errors: [${problem}]`
  const attempt = `is attempting to grant RBAC permissions not currently held:\n${missingRules.join('\n')}`
  throw forbidden(call.resource.subject, nameOf(next), `${userText} ${attempt}${resolution}`)
}

interface MissingRules {
  readonly missingRules: readonly string[]
  readonly problem: string
}

async function findMissing({ index }: EscalationSources, call: Call, granted: readonly PolicyRule[]): Promise<MissingRules> {
  const { identity, user, namespace } = call
  let count = 0
  try {
    const held: UserRuleSet = await rulesOfUser(
      index,
      { identity, user, namespace },
      { walk: 'roles', shouldStop: () => ++count > maxSteps },
    )
    if (held.isTruncated && granted.length > 0) throw new TooManyRulesError()
    return { missingRules: await missingPermissions(held.rules, granted, index.budget), problem: held.problem }
  } catch (thrown) {
    if (!(thrown instanceof TooManyRulesError)) throw thrown
    throw forbidden(call.resource.subject, call.name, 'too many rules to check for privilege escalation; split the role into smaller ones')
  }
}

const nameOf = ({ metadata }: ApiObject): string => metadata?.name ?? ''

/** Owner references and finalizers do not change what is granted; the garbage collector must be able to write them. */
function changesOnlyGcFields(next: ApiObject, old: ApiObject): boolean {
  const ignored = ['ownerReferences', 'finalizers', 'managedFields', 'selfLink', 'resourceVersion']
  return sameValueBut(next, old, ['metadata']) && sameValueBut(next.metadata ?? {}, old.metadata ?? {}, ignored)
}

// Nobody gives what he does not have: whoever writes a role must hold its rules, and whoever binds one those of that role; unless masters, or
// those who may `escalate` the role or `bind` to it.

import { forbidden, notFound } from '../../api/api-error.js'
import type { Call } from '../../api/call.js'
import type { ApiObject } from '../../api/object.js'
import { mastersGroup } from '../../api/user.js'
import { sameValueBut } from '../../api/validation/same-value.js'
import { nowOrInPieces, Pieces } from '../../base/pieces.js'
import { rbacGroup } from '../../resources/rbac-authorization/binding-rules.js'
import type { ClusterRole, PolicyRule, RoleBinding } from '../../resources/rbac-authorization/v1.schema.js'
import { type AccessAttributes, type Authorizer, authorizeWith } from '../authorize.js'
import { type HeldRules, heldRules } from './held-roles.js'
import { missingRights, mostSteps, quoteAll, TooManyRightsError } from './missing-rights.js'
import type { RbacIndex } from './rbac-index.js'

/** What shall be stored, and what is; undefined for what is new. */
export interface Grant {
  readonly next: ApiObject
  readonly old: ApiObject | undefined
}

/** Throws where a write gives more than its writer has; undefined where there is nothing to look at. */
export type GrantCheck = (call: Call, grant: Grant) => Promise<void> | undefined

export interface GrantSources {
  readonly index: RbacIndex
  readonly authorizers: readonly Authorizer[]
}

const roleKinds: ReadonlySet<string> = new Set(['Role', 'ClusterRole'])
const bindingKinds: ReadonlySet<string> = new Set(['RoleBinding', 'ClusterRoleBinding'])

export function grantCheck(sources: GrantSources): GrantCheck {
  return (call, grant) => {
    const { kind, group } = call.resource
    const isRole = roleKinds.has(kind)
    if ((!isRole && !bindingKinds.has(kind)) || group !== call.identity.group(rbacGroup)) return undefined
    // The server itself needs no leave, and masters may do everything.
    if (call.caller.info === undefined || call.user.groups.includes(mastersGroup)) return undefined
    return isRole ? checkRole(sources, call, grant) : checkBinding(sources, call, grant)
  }
}

const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

async function checkRole(sources: GrantSources, call: Call, { next, old }: Grant): Promise<void> {
  const { resource, namespace } = call
  const escalate = { verb: 'escalate', group: resource.group, resource: resource.name, namespace, name: call.caller.info?.name ?? '' }
  if (await isAllowed(sources, call, escalate)) return
  if (old !== undefined && isHousekeeping(next, old)) return
  const role = next as ClusterRole
  const collects = role.aggregationRule !== undefined || (old as ClusterRole | undefined)?.aggregationRule !== undefined
  await checkHeld(sources, call, { next, rules: role.rules ?? [] })
  // Nobody knows what a role will collect.
  if (collects && (await missing(sources, call, everything)).told.length > 0)
    throw forbidden(resource.subject, nameOf(next), 'must have cluster-admin privileges to use the aggregationRule')
}

async function checkBinding(sources: GrantSources, call: Call, { next, old }: Grant): Promise<void> {
  if (old !== undefined && isHousekeeping(next, old)) return
  const { namespace, identity } = call
  const { kind = '', name = '', apiGroup = '' } = (next as RoleBinding).roleRef ?? {}
  // What names no role gives none, and is refused as such.
  if (!roleKinds.has(kind) || (kind === 'Role' && namespace === '')) return
  const resource = kind === 'Role' ? 'roles' : 'clusterroles'
  if (await isAllowed(sources, call, { verb: 'bind', group: apiGroup, resource, namespace, name })) return
  const named = { kind, name, namespace: kind === 'Role' ? namespace : '' }
  await sources.index.open()
  const role = await nowOrInPieces(sources.index.rulesNamed(named), new Pieces(() => call.throwIfAborted()))
  if (role === undefined) throw notFound({ group: identity.group(rbacGroup), resource, kind }, name)
  await checkHeld(sources, call, { next, rules: role.rules })
}

async function isAllowed({ authorizers }: GrantSources, { user }: Call, asked: Partial<AccessAttributes>): Promise<boolean> {
  const info = { isResource: true, verb: '', group: '', version: '*', namespace: '', resource: '', subresource: '', name: '', path: '' }
  return (await authorizeWith(authorizers, { user, info: { ...info, ...asked } })).verdict === 'allow'
}

interface Wanted {
  readonly next: ApiObject
  readonly rules: readonly PolicyRule[]
}

async function checkHeld(sources: GrantSources, call: Call, { next, rules }: Wanted): Promise<void> {
  const { told, problem } = await missing(sources, call, rules)
  if (told.length === 0) return
  const { name, groups } = call.user
  const who = `user ${JSON.stringify(name)} (groups=${quoteAll(groups)})`
  const resolution = problem === '' ? '' : `; resolution errors: [${problem}]`
  const what = `is attempting to grant RBAC permissions not currently held:\n${told.join('\n')}`
  throw forbidden(call.resource.subject, nameOf(next), `${who} ${what}${resolution}`)
}

interface Missing {
  readonly told: readonly string[]
  /** What is wrong with what the giver holds; empty: nothing. */
  readonly problem: string
}

async function missing({ index }: GrantSources, call: Call, wanted: readonly PolicyRule[]): Promise<Missing> {
  await index.open()
  try {
    return await nowOrInPieces(findMissing(index, call, wanted), new Pieces(() => call.throwIfAborted()))
  } catch (thrown) {
    if (!(thrown instanceof TooManyRightsError)) throw thrown
    throw forbidden(call.resource.subject, call.name, 'its rules are too many to find out whether the one who gives them holds them all')
  }
}

function* findMissing(
  index: RbacIndex,
  { identity, user, namespace }: Call,
  wanted: readonly PolicyRule[],
): Generator<undefined, Missing, undefined> {
  let count = 0
  const held: HeldRules = yield* heldRules(index, { identity, user, namespace }, { walk: 'walk', isEnough: () => ++count > mostSteps })
  // Each is a step for each that is wanted.
  if (held.isCut && wanted.length > 0) throw new TooManyRightsError()
  return { told: yield* missingRights(held.rules, wanted), problem: held.problem }
}

const nameOf = ({ metadata }: ApiObject): string => metadata?.name ?? ''

/** What lets an object go in the end changes nothing of what it gives. */
function isHousekeeping(next: ApiObject, old: ApiObject): boolean {
  const ignored = ['ownerReferences', 'finalizers', 'managedFields', 'selfLink', 'resourceVersion']
  return sameValueBut(next, old, ['metadata']) && sameValueBut(next.metadata ?? {}, old.metadata ?? {}, ignored)
}

// RBAC: whoever is bound to a role may do what its rules say, in the namespace of the binding or everywhere.

import type { Identity } from '../../api/identity.js'
import type { User } from '../../api/user.js'
import { nowOrInPieces } from '../../base/pieces.js'
import { type Promised, whenThere } from '../../base/promised.js'
import type { PolicyRule } from '../../resources/rbac-authorization/v1.schema.js'
import {
  type AccessRequest,
  type Authorizer,
  type Decision,
  type NonResourceRule,
  noOpinion,
  type ResourceRule,
  type UserRules,
} from '../authorize.js'
import { aggregate } from '../problems.js'
import { accountOf } from '../service-account-name.js'
import { type Binding, type BoundSubject, describeSubject, firstOf, subjectIndex } from './bindings.js'
import { findAllowing, type Holder, heldRules, MissingRoles } from './held-roles.js'
import { type RbacIndex, rbacPieces } from './rbac-index.js'
import { type Asked, askedFor } from './role-rules.js'

export function rbacAuthorizer(index: RbacIndex, identity: Identity): Authorizer {
  const sources = { index, identity }
  return {
    name: 'RBAC',
    authorize: (request) => (index.isOpen ? decide(sources, request) : whenThere(index.open(), () => decide(sources, request))),
    rulesFor: (user, namespace) =>
      whenThere(index.open(), () => nowOrInPieces(rulesToTell(index, { identity, user, namespace }), rbacPieces)),
  }
}

interface Sources {
  readonly index: RbacIndex
  readonly identity: Identity
}

function decide(sources: Sources, request: AccessRequest): Promised<Decision> {
  const asked = askedFor(request.info)
  return decideAtOnce(sources, request, asked) ?? decideInPieces(sources, request, asked)
}

/** What is looked at in one go, in rules, which takes less than a millisecond; a role that has to be read first counts as many. */
const mostAtOnce = 20_000
const costOfRead = 400

/** As nearly everybody is answered: undefined for those who have very many roles, or very large ones. */
function decideAtOnce({ index, identity }: Sources, { user, info }: AccessRequest, asked: Asked): Decision | undefined {
  if (index.isBehind(info.namespace)) return undefined
  const number = index.nextDecision()
  let decision: Decision | undefined
  let missing: MissingRoles | undefined
  let left = mostAtOnce
  index.visit(user, info.namespace, (role, roles, group) => {
    left -= role.isKnown ? 1 + (role.rules?.rules.length ?? 0) : costOfRead
    if (left < 0) return false
    if (role.seenBy === number) return true
    role.seenBy = number
    const isKnown = index.isKnown(role)
    const { rules } = role
    if (!isKnown || rules?.isLarge === true) left = -1
    else if (rules === undefined) {
      missing ??= new MissingRoles(identity)
      missing.add(role)
    } else if (rules.allows(asked)) decision = allowedBy(firstOf(roles.get(role) as Binding | Set<Binding>), user, group)
    return decision === undefined && left >= 0
  })
  return left < 0 ? undefined : (decision ?? refusedFor(missing))
}

function decideInPieces({ index, identity }: Sources, { user, info }: AccessRequest, asked: Asked): Promised<Decision> {
  const work = findAllowing(index, { identity, user, namespace: info.namespace }, asked)
  return whenThere(nowOrInPieces(work, rbacPieces), ({ by, missing }) =>
    by === undefined ? refusedFor(missing) : allowedBy(by.binding, user, by.group),
  )
}

function refusedFor(missing: MissingRoles | undefined): Decision {
  const problem = missing?.problem ?? ''
  return problem === '' ? noOpinion : { verdict: 'no-opinion', reason: `RBAC: ${problem}` }
}

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

function reasonOf({ name, namespace, role }: Binding, subject: string): string {
  const binding = namespace === '' ? `ClusterRoleBinding ${JSON.stringify(name)}` : `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`
  return `RBAC: allowed by ${binding} of ${role.kind} ${JSON.stringify(role.name)} to ${subject}`
}

/** What a review tells of the rules of somebody, at most. */
const mostRules = 10_000
const mostBytes = 1 << 20

/** Counts rules and about how many bytes of JSON they are. */
class RulesBound {
  #rules = 0
  #bytes = 0

  readonly isOver = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): boolean => {
    this.#rules += 1
    for (const words of [verbs, apiGroups, resources, resourceNames, nonResourceURLs]) {
      if (words !== undefined) for (const word of words) this.#bytes += Buffer.byteLength(word) + quotesAndComma
    }
    return this.#rules > mostRules || this.#bytes > mostBytes
  }
}

const quotesAndComma = 3
const rulesPerStep = 100
const cutRules = `there are more than ${mostRules} rules, or more than 1 MiB of them: the others are not told`

function* rulesToTell(index: RbacIndex, holder: Holder): Generator<undefined, UserRules, undefined> {
  const { rules, problem, isCut } = yield* heldRules(index, holder, { walk: 'walkBindings', isEnough: new RulesBound().isOver })
  const resourceRules: ResourceRule[] = []
  const nonResourceRules: NonResourceRule[] = []
  for (const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } of rules) {
    if (resources.length > 0) resourceRules.push({ verbs, apiGroups, resources, ...(resourceNames.length === 0 ? {} : { resourceNames }) })
    if (nonResourceURLs.length > 0) nonResourceRules.push({ verbs, nonResourceURLs })
    if (resourceRules.length % rulesPerStep === 0) yield
  }
  if (!isCut) return { resourceRules, nonResourceRules, problem }
  return { resourceRules, nonResourceRules, problem: aggregate([problem, cutRules].filter(Boolean)), isIncomplete: true }
}

// The agents of nodes: what all of them may do, and of objects that are not for everybody those that pods on their node refer to.

import type { Identity } from '../../api/identity.js'
import type { User } from '../../api/user.js'
import { type Promised, whenThere } from '../../base/promised.js'
import type { PolicyRule } from '../../resources/rbac-authorization/v1.schema.js'
import { type AccessAttributes, type Authorizer, allow, type Decision, noOpinion, unknownRules } from '../authorize.js'
import { noRules } from '../fixed-authorizers.js'
import { askedFor, RoleRules } from '../rbac/role-rules.js'
import type { NodePods } from './node-pods.js'

export interface NodeAccess {
  readonly identity: Identity
  readonly pods: NodePods
  /** What every agent may do. */
  readonly rules: readonly PolicyRule[]
}

const prefix = 'system:node:'
const nodesGroup = 'system:nodes'

/** The node whose agent a user is; undefined for everybody else. */
export const nodeOf = ({ name, groups }: User): string | undefined =>
  name.startsWith(prefix) && groups.includes(nodesGroup) ? name.slice(prefix.length) : undefined

export function nodeAuthorizer({ identity, pods, rules }: NodeAccess): Authorizer {
  const common = new RoleRules(rules)
  const parts = partsOf(identity, pods)
  const name = 'Node'
  return {
    name,
    authorize: ({ user, info }) => {
      const node = nodeOf(user)
      if (node === undefined) return noOpinion
      if (node === '') return silent(`unknown node for user ${JSON.stringify(user.name)}`)
      const part = info.isResource ? parts[`${info.resource}.${info.group}`] : undefined
      if (part === undefined) return common.allows(askedFor(info)) ? allow : noOpinion
      const wrong = part.problem(info, node)
      if (wrong !== undefined) return silent(wrong)
      const { isRelated } = part
      if (isRelated === undefined) return allow
      const decide = (): Promised<Decision> =>
        whenThere(isRelated(info, node), (related) =>
          related ? allow : silent(`no relationship found between node '${node}' and this object`),
        )
      const waiting = pods.ready()
      return waiting === undefined ? decide() : waiting.then(decide)
    },
    rulesFor: (user) => (nodeOf(user) === undefined ? noRules : unknownRules({ name })),
  }
}

const silent = (reason: string): Decision => ({ verdict: 'no-opinion', reason })

/** A kind of which agents see a part. */
interface Part {
  /** What is wrong with a request before anybody looks which object it is about. */
  problem(info: AccessAttributes, node: string): string | undefined
  /** Whether pods on the node refer to the object; left out where that does not matter. */
  isRelated?(info: AccessAttributes, node: string): Promised<boolean>
}

function partsOf(identity: Identity, pods: NodePods): { readonly [kind: string]: Part } {
  const storage = identity.group({ stem: 'storage' })
  return {
    'secrets.': { problem: readProblem, isRelated: ({ namespace, name }, node) => pods.has(node, 'secrets', namespace, name) },
    'configmaps.': { problem: readProblem, isRelated: ({ namespace, name }, node) => pods.has(node, 'configMaps', namespace, name) },
    'persistentvolumeclaims.': {
      problem: (info) => (info.subresource === 'status' ? statusProblem(info) : getProblem(info)),
      isRelated: ({ namespace, name }, node) => pods.has(node, 'claims', namespace, name),
    },
    'persistentvolumes.': { problem: getProblem, isRelated: ({ name }, node) => pods.hasVolume(node, name) },
    [`volumeattachments.${storage}`]: { problem: getProblem, isRelated: ({ name }, node) => pods.hasAttachment(node, name) },
    'serviceaccounts.': {
      problem: tokenProblem,
      isRelated: ({ namespace, name }, node) => pods.has(node, 'serviceAccounts', namespace, name),
    },
    [`leases.${identity.group({ stem: 'coordination' })}`]: {
      problem: (info, node) => leaseProblem(info, node, identity.prefixed('node-lease')),
    },
    [`csinodes.${storage}`]: { problem: driversProblem },
  }
}

const nameless = 'No Object name found'
const ownVerbs: readonly string[] = ['get', 'create', 'update', 'patch', 'delete']

function readProblem({ verb, subresource, namespace, name }: AccessAttributes): string | undefined {
  if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return 'can only read resources of this type'
  if (subresource !== '') return 'cannot read subresource'
  if (namespace === '') return 'can only read namespaced object of this type'
  return name === '' ? nameless : undefined
}

function getProblem({ verb, subresource, name }: AccessAttributes): string | undefined {
  if (verb !== 'get') return 'can only get individual resources of this type'
  if (subresource !== '') return 'cannot get subresource'
  return name === '' ? nameless : undefined
}

function statusProblem({ verb, name }: AccessAttributes): string | undefined {
  if (verb !== 'update' && verb !== 'patch') return 'can only get/update/patch this type'
  return name === '' ? nameless : undefined
}

function tokenProblem({ verb, subresource, name }: AccessAttributes): string | undefined {
  if (verb !== 'create' || name === '') return 'can only create tokens for individual service accounts'
  return subresource === 'token' ? undefined : 'can only create token subresource of service account'
}

/** What is new has no name yet; admission looks at that. */
function leaseProblem({ verb, namespace, name }: AccessAttributes, node: string, system: string): string | undefined {
  if (!ownVerbs.includes(verb)) return 'can only get, create, update, patch, or delete a node lease'
  if (namespace !== system) return `can only access leases in the ${JSON.stringify(system)} system namespace`
  return verb === 'create' || name === node ? undefined : 'can only access node lease with the same name as the requesting node'
}

function driversProblem({ verb, subresource, name }: AccessAttributes, node: string): string | undefined {
  if (!ownVerbs.includes(verb)) return 'can only get, create, update, patch, or delete a CSINode'
  if (subresource !== '') return 'cannot authorize CSINode subresources'
  return verb === 'create' || name === node ? undefined : 'can only access CSINode with the same name as the requesting node'
}

// Node authorizer: kubelets have fixed rules, but get Secrets, ConfigMaps, claims and volumes only if pods on their node reference them.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import type { PolicyRule } from '@cluster-apiserver/api/resources/rbac-authorization/v1.schema.js'
import { type AccessAttributes, type Authorizer, allow, type Decision, noOpinion, noRules, unknownRules } from '../authorize.js'
import { RoleRules, ruleQuery } from '../rbac/role-rules.js'
import type { NodePods } from './node-pods.js'

interface NodeAuthorizerOptions {
  readonly identity: Identity
  readonly pods: NodePods
  readonly rules: readonly PolicyRule[]
}

const userPrefix = 'system:node:'
const nodesGroup = 'system:nodes'

const nodeOf = ({ name, groups }: User): string | undefined =>
  name.startsWith(userPrefix) && groups.includes(nodesGroup) ? name.slice(userPrefix.length) : undefined

export function nodeAuthorizer({ identity, pods, rules }: NodeAuthorizerOptions): Authorizer {
  const kubeletRules = new RoleRules(rules)
  const checks = resourceChecks(identity, pods)
  const name = 'Node'
  return {
    name,
    authorize: async ({ user, info }) => {
      const node = nodeOf(user)
      if (node === undefined) return noOpinion
      if (node === '') return noOpinionBecause(`unknown node for user ${JSON.stringify(user.name)}`)
      const check = info.isResource ? checks[`${info.resource}.${info.group}`] : undefined
      if (check === undefined) return kubeletRules.allows(ruleQuery(info)) ? allow : noOpinion
      const problem = check.problem(info, node)
      if (problem !== undefined) return noOpinionBecause(problem)
      if (check.isRelated === undefined || (await check.isRelated(info, node))) return allow
      return noOpinionBecause(`no relationship found between node '${node}' and this object`)
    },
    rulesFor: async (user) => (nodeOf(user) === undefined ? noRules : unknownRules({ name })),
  }
}

const noOpinionBecause = (reason: string): Decision => ({ verdict: 'no-opinion', reason })

interface ResourceCheck {
  problem(info: AccessAttributes, node: string): string | undefined
  /** True if pods on the node reference the object, or a VolumeAttachment names the node; undefined: not required. */
  isRelated?(info: AccessAttributes, node: string): Promise<boolean>
}

function resourceChecks(identity: Identity, pods: NodePods): { readonly [kind: string]: ResourceCheck } {
  const storage = identity.group({ stem: 'storage' })
  return {
    'secrets.': { problem: readProblem, isRelated: ({ namespace, name }, node) => pods.has(node, 'secrets', namespace, name) },
    'configmaps.': { problem: readProblem, isRelated: ({ namespace, name }, node) => pods.has(node, 'configMaps', namespace, name) },
    'persistentvolumeclaims.': {
      problem: (info) => (info.subresource === 'status' ? statusProblem(info) : getProblem(info)),
      isRelated: ({ namespace, name }, node) => pods.has(node, 'claims', namespace, name),
    },
    'persistentvolumes.': { problem: getProblem, isRelated: ({ name }, node) => pods.hasVolume(node, name) },
    [`volumeattachments.${storage}`]: { problem: getProblem, isRelated: async ({ name }, node) => pods.hasAttachment(node, name) },
    'serviceaccounts.': {
      problem: tokenProblem,
      isRelated: ({ namespace, name }, node) => pods.has(node, 'serviceAccounts', namespace, name),
    },
    [`leases.${identity.group({ stem: 'coordination' })}`]: {
      problem: (info, node) => leaseProblem(info, node, identity.prefixed('node-lease')),
    },
    [`csinodes.${storage}`]: { problem: csiNodeProblem },
  }
}

const missingName = 'No Object name found'
const ownObjectVerbs: readonly string[] = ['get', 'create', 'update', 'patch', 'delete']

function readProblem({ verb, subresource, namespace, name }: AccessAttributes): string | undefined {
  if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return 'can only read resources of this type'
  if (subresource !== '') return 'cannot read subresource'
  if (namespace === '') return 'can only read namespaced object of this type'
  return name === '' ? missingName : undefined
}

function getProblem({ verb, subresource, name }: AccessAttributes): string | undefined {
  if (verb !== 'get') return 'can only get individual resources of this type'
  if (subresource !== '') return 'cannot get subresource'
  return name === '' ? missingName : undefined
}

function statusProblem({ verb, name }: AccessAttributes): string | undefined {
  if (verb !== 'update' && verb !== 'patch') return 'can only get/update/patch this type'
  return name === '' ? missingName : undefined
}

function tokenProblem({ verb, subresource, name }: AccessAttributes): string | undefined {
  if (verb !== 'create' || name === '') return 'can only create tokens for individual service accounts'
  return subresource === 'token' ? undefined : 'can only create token subresource of service account'
}

/** A create request has no name in its path; the admission plugin NodeRestriction checks the name. */
function leaseProblem({ verb, namespace, name }: AccessAttributes, node: string, leaseNamespace: string): string | undefined {
  if (!ownObjectVerbs.includes(verb)) return 'can only get, create, update, patch, or delete a node lease'
  if (namespace !== leaseNamespace) return `can only access leases in the ${JSON.stringify(leaseNamespace)} system namespace`
  return verb === 'create' || name === node ? undefined : 'can only access node lease with the same name as the requesting node'
}

function csiNodeProblem({ verb, subresource, name }: AccessAttributes, node: string): string | undefined {
  if (!ownObjectVerbs.includes(verb)) return 'can only get, create, update, patch, or delete a CSINode'
  if (subresource !== '') return 'cannot authorize CSINode subresources'
  return verb === 'create' || name === node ? undefined : 'can only access CSINode with the same name as the requesting node'
}

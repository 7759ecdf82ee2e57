// Users with their own permissions, for tests: the administrator creates roles and impersonates them.

import type { ApiClient, ApiRequest, ApiResponse } from '../../../../test/kit/api-client.js'
import { expectStatus } from '../../../../test/kit/fixtures.js'

export const rbac = '/apis/rbac.authorization.cluster.io/v1'
export const rbacGroup = 'rbac.authorization.cluster.io'

export interface RuleInput {
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
  readonly verbs: readonly string[]
}

export const roleOf = (name: string, ...rules: readonly RuleInput[]) => ({ metadata: { name }, rules })

export const bindingOf = (name: string, roleKind: string, role: string, user: string) => ({
  metadata: { name },
  roleRef: { apiGroup: rbacGroup, kind: roleKind, name: role },
  subjects: [{ kind: 'User', name: user }],
})

export async function grant(client: ApiClient, user: string, rules: readonly RuleInput[], namespace?: string): Promise<void> {
  const path = namespace === undefined ? rbac : `${rbac}/namespaces/${namespace}`
  const [roles, bindings, kind] =
    namespace === undefined ? ['clusterroles', 'clusterrolebindings', 'ClusterRole'] : ['roles', 'rolebindings', 'Role']
  expectStatus(await client.post(`${path}/${roles}`, roleOf(user, ...rules)), 201)
  expectStatus(await client.post(`${path}/${bindings}`, bindingOf(user, kind, user, user)), 201)
}

/** Sends requests as an impersonated user. */
export const as =
  (client: ApiClient, user: string) =>
  (method: string, path: string, body?: unknown, headers: ApiRequest['headers'] = {}): Promise<ApiResponse> =>
    client.send({ method, path, ...(body === undefined ? {} : { body }), headers: { 'impersonate-user': user, ...headers } })

// Headers of the patch types.
export const merge = { 'content-type': 'application/merge-patch+json' }
export const strategic = { 'content-type': 'application/strategic-merge-patch+json' }
export const json = { 'content-type': 'application/json-patch+json' }
export const apply = { 'content-type': 'application/apply-patch+yaml' }

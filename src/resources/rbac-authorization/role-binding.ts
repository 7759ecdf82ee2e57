// Bindings within a namespace: who gets a role there, be it the namespace's own or one of the cluster.

import { defineResource } from '../../api/definition.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { bindingTable, rbacGroup, validateBinding, validateSameRole, withGroups } from './binding-rules.js'
import { type RoleBinding, roleBinding as schema } from './v1.schema.js'

const scope = { roleKinds: ['Role', 'ClusterRole'], namespaced: true }

export const roleBinding = defineResource<RoleBinding>({
  group: rbacGroup,
  kind: 'RoleBinding',
  resource: 'rolebindings',
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: pathSegmentProblems,
  defaults: withGroups,
  validate: (binding, context) => validateBinding(binding, context, scope),
  validateUpdate: validateSameRole,
  checks: { update: ['metadata', 'own', 'metadata', 'own', 'metadataChange', 'ownChange'] },
  createOnUpdate: true,
  table: bindingTable,
})

// Bindings of the whole cluster: who gets a role everywhere.

import { defineResource } from '../../api/definition.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { bindingTable, rbacGroup, validateBinding, validateSameRole, withGroups } from './binding-rules.js'
import { type ClusterRoleBinding, clusterRoleBinding as schema } from './v1.schema.js'

const scope = { roleKinds: ['ClusterRole'], namespaced: false }

export const clusterRoleBinding = defineResource<ClusterRoleBinding>({
  group: rbacGroup,
  kind: 'ClusterRoleBinding',
  resource: 'clusterrolebindings',
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: pathSegmentProblems,
  defaults: withGroups,
  validate: (binding, context) => validateBinding(binding, context, scope),
  validateUpdate: validateSameRole,
  checks: { update: ['metadata', 'own', 'metadata', 'own', 'metadataChange', 'ownChange'] },
  createOnUpdate: true,
  table: bindingTable,
})

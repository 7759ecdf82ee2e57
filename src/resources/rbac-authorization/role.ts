// Roles: what may be done in one namespace, until a binding gives it to somebody.

import { defineResource } from '../../api/definition.js'
import { checkEach } from '../../api/validation/collect.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { validatePolicyRule } from './policy-rules.js'
import { type Role, role as schema } from './v1.schema.js'

export const role = defineResource<Role>({
  group: { stem: 'rbac.authorization' },
  kind: 'Role',
  resource: 'roles',
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: pathSegmentProblems,
  validate: ({ rules }) => checkEach(rules, 'rules', (rule, field) => validatePolicyRule(rule, field, { namespaced: true })),
  checks: { update: ['metadata', 'own', 'metadata', 'own', 'metadataChange'] },
  createOnUpdate: true,
})

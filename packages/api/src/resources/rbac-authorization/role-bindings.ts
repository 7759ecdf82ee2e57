// RoleBinding and ClusterRoleBinding: subjects and an immutable roleRef.

import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { type FieldError, invalid, notSupported, required } from '../../api/field-error.js'
import type { GroupName } from '../../api/identity.js'
import { checkEach, checkText, joined, noErrors, pathSegmentProblems } from '../../api/validation/checks.js'
import { dnsSubdomain } from '../../api/validation/name-formats.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { mapItems, withChanged, withMissing } from '../core/pod-spec/visit-containers.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import {
  type ClusterRoleBinding,
  clusterRoleBinding as clusterRoleBindingSchema,
  type RoleBinding,
  type RoleRef,
  roleBinding as roleBindingSchema,
  roleRef,
  type Subject,
} from './v1.schema.js'

export const rbacGroup: GroupName = { stem: 'rbac.authorization' }

/** Sets apiGroup: the RBAC group for users, groups and roles; service accounts are in the core group. */
function withGroups(binding: RoleBinding, { identity }: RuleContext): RoleBinding {
  const group = identity.group(rbacGroup)
  const withGroup = (subject: Subject): Subject =>
    subject.kind === 'User' || subject.kind === 'Group' ? withMissing(subject, { apiGroup: group }) : subject
  const withSubjectGroups = withChanged(binding, 'subjects', (subjects) => mapItems(subjects, withGroup))
  return withSubjectGroups.roleRef === undefined
    ? { ...withSubjectGroups, roleRef: { apiGroup: group } }
    : withChanged(withSubjectGroups, 'roleRef', (ref) => withMissing(ref, { apiGroup: group }))
}

interface BindingScope {
  readonly roleKinds: readonly string[]
  /** True for RoleBindings, whose service accounts may omit the namespace. */
  readonly namespaced: boolean
}

const validateBinding = (binding: RoleBinding, { identity }: RuleContext, scope: BindingScope): readonly FieldError[] => {
  const group = identity.group(rbacGroup)
  return joined(
    validateRoleRef(binding.roleRef ?? {}, scope.roleKinds, group),
    checkEach(binding.subjects, 'subjects', (subject, field) => validateSubject(subject, field, { ...scope, group })),
  )
}

function validateRoleRef({ apiGroup = '', kind = '', name = '' }: RoleRef, kinds: readonly string[], group: string): readonly FieldError[] {
  const errors: FieldError[] = []
  if (apiGroup !== group) errors.push(notSupported('roleRef.apiGroup', apiGroup, [group]))
  if (!kinds.includes(kind)) errors.push(notSupported('roleRef.kind', kind, kinds))
  if (name === '') errors.push(required('roleRef.name'))
  else errors.push(...checkText(name, 'roleRef.name', (text) => pathSegmentProblems(text, false)))
  return errors
}

interface SubjectScope extends BindingScope {
  readonly group: string
}

function validateSubject(subject: Subject, field: string, scope: SubjectScope): readonly FieldError[] {
  const { name = '', kind = '', apiGroup = '' } = subject
  const errors: FieldError[] = name === '' ? [required(`${field}.name`)] : []
  switch (kind) {
    case 'ServiceAccount':
      return [...errors, ...validateAccount(subject, field, scope)]
    case 'User':
    case 'Group':
      return apiGroup === scope.group ? errors : [...errors, notSupported(`${field}.apiGroup`, apiGroup, [scope.group])]
    default:
      return [...errors, notSupported(`${field}.kind`, kind, ['ServiceAccount', 'User', 'Group'])]
  }
}

function validateAccount({ name = '', apiGroup = '', namespace = '' }: Subject, field: string, scope: BindingScope): readonly FieldError[] {
  return joined(
    name === '' ? noErrors : checkText(name, `${field}.name`, dnsSubdomain),
    apiGroup === '' ? noErrors : [notSupported(`${field}.apiGroup`, apiGroup, [''])],
    scope.namespaced || namespace !== '' ? noErrors : [required(`${field}.namespace`)],
  )
}

/** roleRef is immutable, so that permission to update a binding does not allow granting another role. */
const validateSameRole = (next: RoleBinding, old: RoleBinding): readonly FieldError[] =>
  sameBySchema(roleRef, next.roleRef ?? {}, old.roleRef ?? {})
    ? noErrors
    : [invalid('roleRef', next.roleRef ?? {}, 'cannot change roleRef')]

const subjectsOf =
  (kind: string) =>
  ({ subjects = [] }: RoleBinding): string =>
    subjects
      .filter((subject) => subject.kind === kind)
      .map(({ name = '', namespace = '' }) => (kind === 'ServiceAccount' ? `${namespace}/${name}` : name))
      .join(', ')

const bindingTable = tableOf<RoleBinding>(
  nameColumn,
  textColumn('Role', 'Kind and name of the granted role.', ({ roleRef: { kind = '', name = '' } = {} }) => `${kind}/${name}`),
  ageColumn,
  textColumn('Users', 'Users who are granted the role.', subjectsOf('User'), 1),
  textColumn('Groups', 'Groups that are granted the role.', subjectsOf('Group'), 1),
  textColumn('ServiceAccounts', 'Service accounts that are granted the role.', subjectsOf('ServiceAccount'), 1),
)

const roleBindingScope = { roleKinds: ['Role', 'ClusterRole'], namespaced: true }

export const roleBinding = defineResource<RoleBinding>({
  group: rbacGroup,
  kind: 'RoleBinding',
  resource: 'rolebindings',
  namespaced: true,
  versions: [{ name: 'v1', schema: roleBindingSchema, stored: true }],
  nameProblems: pathSegmentProblems,
  defaults: withGroups,
  validate: (binding, context) => validateBinding(binding, context, roleBindingScope),
  validateUpdate: validateSameRole,
  checks: { update: ['metadata', 'validate', 'metadata', 'validate', 'metadataChange', 'validateUpdate'] },
  createOnUpdate: true,
  table: bindingTable,
})

const clusterRoleBindingScope = { roleKinds: ['ClusterRole'], namespaced: false }

export const clusterRoleBinding = defineResource<ClusterRoleBinding>({
  group: rbacGroup,
  kind: 'ClusterRoleBinding',
  resource: 'clusterrolebindings',
  namespaced: false,
  versions: [{ name: 'v1', schema: clusterRoleBindingSchema, stored: true }],
  nameProblems: pathSegmentProblems,
  defaults: withGroups,
  validate: (binding, context) => validateBinding(binding, context, clusterRoleBindingScope),
  validateUpdate: validateSameRole,
  checks: { update: ['metadata', 'validate', 'metadata', 'validate', 'metadataChange', 'validateUpdate'] },
  createOnUpdate: true,
  table: bindingTable,
})

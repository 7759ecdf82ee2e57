// What both kinds of bindings share: the role they give, to whom, and how a table shows them.

import { changedItems } from '../../api/changed-items.js'
import type { Column, RuleContext } from '../../api/definition.js'
import { type FieldError, invalid, notSupported, required } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import type { GroupName } from '../../api/identity.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { checkEach, joined } from '../../api/validation/collect.js'
import { checkText, noErrors } from '../../api/validation/fields.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { dnsSubdomain } from '../../api/validation/text-rules.js'
import { withChanged, withMissing } from '../core/pod-spec/missing-members.js'
import { type RoleBinding, type RoleRef, roleRef, type Subject } from './v1.schema.js'

export const rbacGroup: GroupName = { stem: 'rbac.authorization' }

/** People and groups are named in this API's own group, and so is the role; service accounts are objects of the core group. */
export function withGroups(binding: RoleBinding, { identity }: RuleContext): RoleBinding {
  const group = identity.group(rbacGroup)
  const withGroup = (subject: Subject): Subject =>
    subject.kind === 'User' || subject.kind === 'Group' ? withMissing(subject, { apiGroup: group }) : subject
  const named = withChanged(binding, 'subjects', (subjects) => changedItems(subjects, withGroup))
  return named.roleRef === undefined
    ? { ...named, roleRef: { apiGroup: group } }
    : withChanged(named, 'roleRef', (ref) => withMissing(ref, { apiGroup: group }))
}

export interface BindingScope {
  readonly roleKinds: readonly string[]
  /** In a namespace, a service account without one lies in the same; elsewhere it must say where. */
  readonly namespaced: boolean
}

export const validateBinding = (binding: RoleBinding, { identity }: RuleContext, scope: BindingScope): readonly FieldError[] => {
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

/** What a binding gives stays; who gets it may change. Else whoever may edit a binding could give away any role. */
export const validateSameRole = (next: RoleBinding, old: RoleBinding): readonly FieldError[] =>
  sameBySchema(roleRef, next.roleRef ?? {}, old.roleRef ?? {})
    ? noErrors
    : [invalid('roleRef', next.roleRef ?? {}, 'cannot change roleRef')]

const columns: readonly Column[] = [
  nameColumn,
  textColumn('Role', 'Kind and name of the role that is given.'),
  ageColumn,
  textColumn('Users', 'The users who get it.', 1),
  textColumn('Groups', 'The groups that get it.', 1),
  textColumn('ServiceAccounts', 'The service accounts that get it.', 1),
]

function cells({ metadata, roleRef: ref = {}, subjects = [] }: RoleBinding, { now }: RuleContext): readonly unknown[] {
  const namesOf = (kind: string): string =>
    subjects
      .filter((subject) => subject.kind === kind)
      .map(({ name = '', namespace = '' }) => (kind === 'ServiceAccount' ? `${namespace}/${name}` : name))
      .join(', ')
  const role = `${ref.kind ?? ''}/${ref.name ?? ''}`
  const subjectCells = ['User', 'Group', 'ServiceAccount'].map(namesOf)
  return [metadata?.name ?? '', role, ageOf(metadata?.creationTimestamp, now), ...subjectCells]
}

export const bindingTable = { columns, cells }

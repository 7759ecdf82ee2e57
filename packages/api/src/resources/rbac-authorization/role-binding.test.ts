// Whom bindings may name, and that the role they give stays.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { clusterRoleBinding } from './cluster-role-binding.js'
import { roleBinding } from './role-binding.js'
import type { RoleBinding, Subject } from './v1.schema.js'

const context = testContext()
const group = 'rbac.authorization.cluster.io'
const metadata = { name: 'b', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const roleRef = { apiGroup: group, kind: 'Role', name: 'a' }
const make = (...subjects: readonly Subject[]): RoleBinding => frozen({ metadata, roleRef, subjects })

test('groups are filled in but for service accounts', () => {
  const sent = frozen({
    metadata,
    roleRef: { kind: 'Role', name: 'a' },
    subjects: [
      { kind: 'User', name: 'u' },
      { kind: 'ServiceAccount', name: 's' },
    ],
  })
  const complete = roleBinding.defaults?.(sent, context)
  assert.deepEqual(complete, {
    metadata,
    roleRef,
    subjects: [
      { kind: 'User', name: 'u', apiGroup: group },
      { kind: 'ServiceAccount', name: 's' },
    ],
  })
  assert.equal(roleBinding.defaults?.(frozen(complete) as RoleBinding, context), complete)
  const other = clusterRoleBinding.defaults?.(frozen({ metadata }), testContext('kubernetes'))
  assert.deepEqual(other, { metadata, roleRef: { apiGroup: 'rbac.authorization.k8s.io' } })
})

const kinds = '"ServiceAccount", "User", "Group"'
const subjects: readonly { readonly title: string; readonly subject: Subject; readonly found: readonly string[] }[] = [
  { title: 'a user with any letters', subject: { kind: 'User', name: 'Ü /x', apiGroup: group }, found: [] },
  { title: 'a service account without namespace', subject: { kind: 'ServiceAccount', name: 's' }, found: [] },
  { title: 'a user without name', subject: { kind: 'User', apiGroup: group }, found: ['name: Required value'] },
  {
    title: 'a group of elsewhere',
    subject: { kind: 'Group', name: 'g', apiGroup: 'apps' },
    found: [`apiGroup: Unsupported value: "apps": supported values: "${group}"`],
  },
  { title: 'a robot', subject: { kind: 'Robot', name: 'r' }, found: [`kind: Unsupported value: "Robot": supported values: ${kinds}`] },
  { title: 'nobody', subject: {}, found: ['name: Required value', `kind: Unsupported value: "": supported values: ${kinds}`] },
  {
    title: 'a service account of a group',
    subject: { kind: 'ServiceAccount', name: 's', namespace: 'n', apiGroup: group },
    found: [`apiGroup: Unsupported value: "${group}": supported values: ""`],
  },
]

for (const { title, subject, found } of subjects) {
  test(`a binding to ${title}`, () => {
    assert.deepEqual(
      lines(validateCreation(roleBinding, make(subject), context)),
      found.map((line) => `subjects[0].${line}`),
    )
  })
}

const refs: readonly { readonly title: string; readonly binding: RoleBinding; readonly found: readonly string[] }[] = [
  {
    title: 'nothing',
    binding: { metadata, roleRef: { apiGroup: group } },
    found: ['roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"', 'roleRef.name: Required value'],
  },
  {
    title: 'something else',
    binding: { metadata, roleRef: { apiGroup: 'apps', kind: 'ClusterRole', name: 'a%b' } },
    found: [
      `roleRef.apiGroup: Unsupported value: "apps": supported values: "${group}"`,
      'roleRef.name: Invalid value: "a%b": may not contain \'%\'',
    ],
  },
]

for (const { title, binding, found } of refs) {
  test(`a binding of ${title}`, () => assert.deepEqual(lines(validateCreation(roleBinding, frozen(binding), context)), found))
}

test('a binding of the cluster gives only roles of the cluster, and says where accounts are', () => {
  const { namespace: _, ...meta } = metadata
  const object = frozen({ metadata: meta, roleRef, subjects: [{ kind: 'ServiceAccount', name: 's' }] })
  assert.deepEqual(lines(validateCreation(clusterRoleBinding, object, context)), [
    'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
    'subjects[0].namespace: Required value',
  ])
})

test('who gets a role may change, the role may not', () => {
  const old = make({ kind: 'User', name: 'u', apiGroup: group })
  assert.deepEqual(lines(validateChange(roleBinding, { next: make(), old }, context)), [])
  const next = frozen({ metadata, roleRef: { ...roleRef, name: 'other' } })
  assert.deepEqual(
    validateChange(roleBinding, { next, old }, context).map(({ field, reason }) => [field, reason]),
    [['roleRef', 'FieldValueInvalid']],
  )
})

test('a row of the table', () => {
  const object = make(
    { kind: 'User', name: 'u' },
    { kind: 'User', name: 'v' },
    { kind: 'Group', name: 'g' },
    { kind: 'ServiceAccount', name: 's', namespace: 'n' },
  )
  assert.deepEqual(roleBinding.table?.cells(object, context), ['b', 'Role/a', '60m', 'u, v', 'g', 'n/s'])
})

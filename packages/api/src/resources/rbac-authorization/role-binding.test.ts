// Tests of RoleBindings and ClusterRoleBindings: subjects, immutable roleRef.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { rowTitle } from '../expect-errors.fixture.js'
import { clusterRoleBinding, roleBinding } from './role-bindings.js'
import type { RoleBinding, Subject } from './v1.schema.js'

const context = testContext()
const group = 'rbac.authorization.cluster.io'
const metadata = { name: 'b', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const roleRef = { apiGroup: group, kind: 'Role', name: 'a' }
const make = (...subjects: readonly Subject[]): RoleBinding => frozen({ metadata, roleRef, subjects })

test('apiGroup is defaulted, except for service accounts', () => {
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
const subjectRows: readonly (readonly [subject: Subject, ...expected: readonly string[]])[] = [
  [{ kind: 'User', name: 'Ü /x', apiGroup: group }],
  [{ kind: 'ServiceAccount', name: 's' }],
  [{ kind: 'User', apiGroup: group }, 'name: Required value'],
  [{ kind: 'Group', name: 'g', apiGroup: 'apps' }, `apiGroup: Unsupported value: "apps": supported values: "${group}"`],
  [{ kind: 'Robot', name: 'r' }, `kind: Unsupported value: "Robot": supported values: ${kinds}`],
  [{}, 'name: Required value', `kind: Unsupported value: "": supported values: ${kinds}`],
  [{ kind: 'ServiceAccount', name: 's', namespace: 'n', apiGroup: group }, `apiGroup: Unsupported value: "${group}": supported values: ""`],
]

for (const [subject, ...expected] of subjectRows) {
  test(`a binding: ${rowTitle(subject, expected)}`, () => {
    assert.deepEqual(
      lines(validateCreation(roleBinding, make(subject), context)),
      expected.map((line) => `subjects[0].${line}`),
    )
  })
}

const refs: readonly (readonly [binding: RoleBinding, ...expected: readonly string[]])[] = [
  [
    { metadata, roleRef: { apiGroup: group } },
    'roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"',
    'roleRef.name: Required value',
  ],
  [
    { metadata, roleRef: { apiGroup: 'apps', kind: 'ClusterRole', name: 'a%b' } },
    `roleRef.apiGroup: Unsupported value: "apps": supported values: "${group}"`,
    'roleRef.name: Invalid value: "a%b": may not contain \'%\'',
  ],
]

for (const [binding, ...expected] of refs) {
  test(`a binding: ${rowTitle(binding, expected)}`, () =>
    assert.deepEqual(lines(validateCreation(roleBinding, frozen(binding), context)), expected))
}

test('a ClusterRoleBinding refers to ClusterRoles, and its service accounts need a namespace', () => {
  const { namespace: _, ...meta } = metadata
  const object = frozen({ metadata: meta, roleRef, subjects: [{ kind: 'ServiceAccount', name: 's' }] })
  assert.deepEqual(lines(validateCreation(clusterRoleBinding, object, context)), [
    'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
    'subjects[0].namespace: Required value',
  ])
})

test('subjects may change, roleRef may not', () => {
  const old = make({ kind: 'User', name: 'u', apiGroup: group })
  assert.deepEqual(lines(validateChange(roleBinding, { next: make(), old }, context)), [])
  const next = frozen({ metadata, roleRef: { ...roleRef, name: 'other' } })
  assert.deepEqual(
    validateChange(roleBinding, { next, old }, context).map(({ field, reason }) => [field, reason]),
    [['roleRef', 'FieldValueInvalid']],
  )
})

test('printer columns', () => {
  const object = make(
    { kind: 'User', name: 'u' },
    { kind: 'User', name: 'v' },
    { kind: 'Group', name: 'g' },
    { kind: 'ServiceAccount', name: 's', namespace: 'n' },
  )
  assert.deepEqual(roleBinding.table?.cells(object, context), ['b', 'Role/a', '60m', 'u, v', 'g', 'n/s'])
})

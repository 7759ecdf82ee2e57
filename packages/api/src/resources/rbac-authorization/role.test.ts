// Tests of Roles and ClusterRoles.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { rowTitle } from '../expect-errors.fixture.js'
import { clusterRole, role } from './roles.js'
import type { ClusterRole, PolicyRule } from './v1.schema.js'

const context = testContext()
const metadata = { name: 'system:a b', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const makeRole = (...rules: readonly PolicyRule[]) => frozen({ metadata: { ...metadata, namespace: 'shop' }, rules })
const makeClusterRole = (more: Partial<ClusterRole>): ClusterRole => frozen({ metadata, ...more })

const readPods = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }
const readPath = { nonResourceURLs: ['/x'], verbs: ['get'] }
const noGroup = 'apiGroups: Required value: resource rules must supply at least one api group'
const noResource = 'resources: Required value: resource rules must supply at least one resource'

const rows: readonly (readonly [rule: PolicyRule, inRole: readonly string[] | undefined, ...expected: readonly string[]])[] = [
  [readPods, undefined],
  [{ apiGroups: ['*'], resources: ['*', '*/scale'], verbs: ['*'], resourceNames: ['a'] }, undefined],
  [{}, undefined, 'verbs: Required value: verbs must contain at least one value', noGroup, noResource],
  [{ apiGroups: [''], verbs: ['get'] }, undefined, noResource],
  [{ resources: ['pods'], verbs: ['get'] }, undefined, noGroup],
  [readPath, ['nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs']],
  [
    { ...readPath, ...readPods },
    [
      'nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
      'nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs',
    ],
    'nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs',
  ],
]

for (const [rule, inRole, ...expected] of rows) {
  const inSecondRule = (errors: readonly string[]): readonly string[] => errors.map((line) => `rules[1].${line}`)
  test(`a role: ${rowTitle(rule, expected)}`, () => {
    assert.deepEqual(lines(validateCreation(role, makeRole(readPods, rule), context)), inSecondRule(inRole ?? expected))
  })
  // An update is validated twice, and repeats each error.
  test(`a cluster role: ${rowTitle(rule, expected)}, on create and update`, () => {
    const object = makeClusterRole({ rules: [readPods, rule] })
    assert.deepEqual(lines(validateCreation(clusterRole, object, context)), inSecondRule(expected))
    assert.deepEqual(lines(validateChange(clusterRole, { next: object, old: makeClusterRole({}) }, context)), [
      ...inSecondRule(expected),
      ...inSecondRule(expected),
    ])
  })
}

test('names may have any characters but slash and percent', () => {
  const object = frozen({ metadata: { ...metadata, name: 'a%/b', namespace: 'shop' } })
  assert.equal(validateCreation(role, object, context).length, 2)
})

const selector = { matchExpressions: [{ key: 'a', operator: 'Near' }] }
const aggregations: readonly (readonly [role: ClusterRole, ...expected: readonly string[]])[] = [
  [{ aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }],
  [
    { aggregationRule: {} },
    'clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
  ],
  [
    { aggregationRule: { clusterRoleSelectors: [{}, selector] } },
    'clusterRoleSelectors[1].matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator',
    'clusterRoleSelectors[1]: Invalid value: "null": invalid label selector.',
  ],
]

for (const [role, ...expected] of aggregations) {
  test(`an aggregation: ${rowTitle(role, expected)}`, () => {
    assert.deepEqual(
      lines(validateCreation(clusterRole, makeClusterRole(role), context)),
      expected.map((line) => `aggregationRule.${line}`),
    )
  })
}

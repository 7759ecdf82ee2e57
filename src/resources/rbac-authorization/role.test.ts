// What roles must say, in a namespace and for the whole cluster.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { clusterRole } from './cluster-role.js'
import { role } from './role.js'
import type { ClusterRole, PolicyRule } from './v1.schema.js'

const context = testContext()
const metadata = { name: 'system:a b', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const makeRole = (...rules: readonly PolicyRule[]) => frozen({ metadata: { ...metadata, namespace: 'shop' }, rules })
const makeClusterRole = (more: Partial<ClusterRole>): ClusterRole => frozen({ metadata, ...more })

const read = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }
const paths = { nonResourceURLs: ['/x'], verbs: ['get'] }
const noGroup = 'apiGroups: Required value: resource rules must supply at least one api group'
const noResource = 'resources: Required value: resource rules must supply at least one resource'

const rows: readonly {
  readonly title: string
  readonly rule: PolicyRule
  readonly inRole?: readonly string[]
  readonly found: readonly string[]
}[] = [
  { title: 'reading pods', rule: read, found: [] },
  { title: 'everything by name', rule: { apiGroups: ['*'], resources: ['*', '*/scale'], verbs: ['*'], resourceNames: ['a'] }, found: [] },
  { title: 'nothing', rule: {}, found: ['verbs: Required value: verbs must contain at least one value', noGroup, noResource] },
  { title: 'no resource', rule: { apiGroups: [''], verbs: ['get'] }, found: [noResource] },
  { title: 'no group', rule: { resources: ['pods'], verbs: ['get'] }, found: [noGroup] },
  {
    title: 'a path',
    rule: paths,
    inRole: ['nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs'],
    found: [],
  },
  {
    title: 'a path and resources',
    rule: { ...paths, ...read },
    inRole: [
      'nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
      'nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs',
    ],
    found: ['nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs'],
  },
]

for (const { title, rule, inRole, found } of rows) {
  const at = (errors: readonly string[]): readonly string[] => errors.map((line) => `rules[1].${line}`)
  test(`a role with ${title}`, () => {
    assert.deepEqual(lines(validateCreation(role, makeRole(read, rule), context)), at(inRole ?? found))
  })
  // A change is looked at twice, and tells of all that is wrong as often.
  test(`a cluster role with ${title}, new and changed`, () => {
    const object = makeClusterRole({ rules: [read, rule] })
    assert.deepEqual(lines(validateCreation(clusterRole, object, context)), at(found))
    assert.deepEqual(lines(validateChange(clusterRole, { next: object, old: makeClusterRole({}) }, context)), [...at(found), ...at(found)])
  })
}

test('names may have nearly any letters, but no slash', () => {
  const object = frozen({ metadata: { ...metadata, name: 'a%/b', namespace: 'shop' } })
  assert.equal(validateCreation(role, object, context).length, 2)
})

const selector = { matchExpressions: [{ key: 'a', operator: 'Near' }] }
const aggregations: readonly { readonly title: string; readonly role: ClusterRole; readonly found: readonly string[] }[] = [
  { title: 'a selector', role: { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }, found: [] },
  {
    title: 'no selector',
    role: { aggregationRule: {} },
    found: ['clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil'],
  },
  {
    title: 'a bad selector',
    role: { aggregationRule: { clusterRoleSelectors: [{}, selector] } },
    found: [
      'clusterRoleSelectors[1].matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator',
      'clusterRoleSelectors[1]: Invalid value: "null": invalid label selector.',
    ],
  },
]

for (const row of aggregations) {
  test(`an aggregation with ${row.title}`, () => {
    assert.deepEqual(
      lines(validateCreation(clusterRole, makeClusterRole(row.role), context)),
      row.found.map((line) => `aggregationRule.${line}`),
    )
  })
}

// Tests of access review validation.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../api/api-error.js'
import type { ResourceDefinition } from '../../api/definition/resource-definition.js'
import type { ApiObject } from '../../api/object.js'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { rowTitle } from '../expect-errors.fixture.js'
import { localSubjectAccessReview, selfSubjectAccessReview, selfSubjectRulesReview, subjectAccessReview } from './subject-access-review.js'

const context = testContext()
const resourceAttributes = { namespace: 'shop', verb: 'get', resource: 'pods' }
const nonResourceAttributes = { path: '/x', verb: 'get' }
const noAttributes =
  'spec.resourceAttributes: Invalid value: "null": exactly one of nonResourceAttributes or resourceAttributes must be specified'
const noSubject = 'spec.user: Invalid value: "": at least one of user or group must be specified'
const bothAttributes =
  'spec.nonResourceAttributes: Invalid value: {"path":"/x","verb":"get"}: cannot be specified in combination with resourceAttributes'

type Row = readonly [kind: ResourceDefinition, review: ApiObject & { readonly spec?: object }, ...expected: readonly string[]]

const rows: readonly Row[] = [
  [subjectAccessReview, { spec: { user: 'u', resourceAttributes } }],
  [subjectAccessReview, { spec: { groups: ['g'], nonResourceAttributes } }],
  [subjectAccessReview, { spec: {} }, noAttributes, noSubject],
  [subjectAccessReview, { spec: { user: 'u', resourceAttributes, nonResourceAttributes } }, bothAttributes],
  [
    subjectAccessReview,
    { metadata: { name: 'n' }, spec: { user: 'u', resourceAttributes } },
    'metadata: Invalid value: {"name":"n"}: must be empty',
  ],
  [selfSubjectAccessReview, { metadata: { managedFields: [{}] }, spec: { resourceAttributes } }],
  [selfSubjectAccessReview, {}, noAttributes],
  [localSubjectAccessReview, { metadata: { namespace: 'shop' }, spec: { user: 'u', resourceAttributes } }],
  [
    localSubjectAccessReview,
    { metadata: { namespace: 'bank' }, spec: { user: 'u', resourceAttributes } },
    'spec.resourceAttributes.namespace: Invalid value: "shop": must match metadata.namespace',
  ],
  [
    localSubjectAccessReview,
    { metadata: { namespace: 'shop', labels: {} }, spec: { user: 'u', nonResourceAttributes } },
    'metadata: Invalid value: {"namespace":"shop","labels":{}}: must be empty except for namespace',
    'spec.nonResourceAttributes: Invalid value: {"path":"/x","verb":"get"}: disallowed on this kind of request',
  ],
]

for (const [kind, review, ...expected] of rows) {
  test(`${kind.kind}: ${rowTitle(review, expected)}`, () =>
    assert.deepEqual(lines(kind.validate?.(frozen(review), context) ?? []), expected))
}

test('a SelfSubjectRulesReview without a namespace returns 400', () => {
  const review = frozen({ metadata: {}, spec: { namespace: 'shop' } })
  assert.equal(selfSubjectRulesReview.prepareCreate?.(review, context), review)
  assert.throws(
    () => selfSubjectRulesReview.prepareCreate?.(frozen({}), context),
    (thrown) => thrown instanceof ApiError && thrown.status.code === 400,
  )
})

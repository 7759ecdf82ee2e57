// What questions about access must say.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../api/api-error.js'
import type { ResourceDefinition } from '../../api/definition.js'
import type { ApiObject } from '../../api/object.js'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { localSubjectAccessReview } from './local-subject-access-review.js'
import { selfSubjectAccessReview } from './self-subject-access-review.js'
import { selfSubjectRulesReview } from './self-subject-rules-review.js'
import { subjectAccessReview } from './subject-access-review.js'

const context = testContext()
const resourceAttributes = { namespace: 'shop', verb: 'get', resource: 'pods' }
const nonResourceAttributes = { path: '/x', verb: 'get' }
const nothing =
  'spec.resourceAttributes: Invalid value: "null": exactly one of nonResourceAttributes or resourceAttributes must be specified'
const nobody = 'spec.user: Invalid value: "": at least one of user or group must be specified'
const both =
  'spec.nonResourceAttributes: Invalid value: {"path":"/x","verb":"get"}: cannot be specified in combination with resourceAttributes'

interface Row {
  readonly title: string
  readonly kind: ResourceDefinition
  readonly review: ApiObject & { readonly spec?: object }
  readonly found: readonly string[]
}

const rows: readonly Row[] = [
  { title: 'a user and a resource', kind: subjectAccessReview, review: { spec: { user: 'u', resourceAttributes } }, found: [] },
  { title: 'a group and a path', kind: subjectAccessReview, review: { spec: { groups: ['g'], nonResourceAttributes } }, found: [] },
  { title: 'nothing', kind: subjectAccessReview, review: { spec: {} }, found: [nothing, nobody] },
  { title: 'both', kind: subjectAccessReview, review: { spec: { user: 'u', resourceAttributes, nonResourceAttributes } }, found: [both] },
  {
    title: 'a name',
    kind: subjectAccessReview,
    review: { metadata: { name: 'n' }, spec: { user: 'u', resourceAttributes } },
    found: ['metadata: Invalid value: {"name":"n"}: must be empty'],
  },
  {
    title: 'records of managers',
    kind: selfSubjectAccessReview,
    review: { metadata: { managedFields: [{}] }, spec: { resourceAttributes } },
    found: [],
  },
  { title: 'no user of one’s own', kind: selfSubjectAccessReview, review: {}, found: [nothing] },
  {
    title: 'its namespace',
    kind: localSubjectAccessReview,
    review: { metadata: { namespace: 'shop' }, spec: { user: 'u', resourceAttributes } },
    found: [],
  },
  {
    title: 'another namespace',
    kind: localSubjectAccessReview,
    review: { metadata: { namespace: 'bank' }, spec: { user: 'u', resourceAttributes } },
    found: ['spec.resourceAttributes.namespace: Invalid value: "shop": must match metadata.namespace'],
  },
  {
    title: 'a path in a namespace',
    kind: localSubjectAccessReview,
    review: { metadata: { namespace: 'shop', labels: {} }, spec: { user: 'u', nonResourceAttributes } },
    found: [
      'metadata: Invalid value: {"namespace":"shop","labels":{}}: must be empty except for namespace',
      'spec.nonResourceAttributes: Invalid value: {"path":"/x","verb":"get"}: disallowed on this kind of request',
    ],
  },
]

for (const { title, kind, review, found } of rows) {
  test(`${kind.kind} with ${title}`, () => assert.deepEqual(lines(kind.validate?.(frozen(review), context) ?? []), found))
}

test('rules are asked of a namespace', () => {
  const question = frozen({ metadata: {}, spec: { namespace: 'shop' } })
  assert.equal(selfSubjectRulesReview.prepareCreate?.(question, context), question)
  assert.throws(
    () => selfSubjectRulesReview.prepareCreate?.(frozen({}), context),
    (thrown) => thrown instanceof ApiError && thrown.status.code === 400,
  )
})

// Questions about all that one may do in a namespace.

import { badRequest } from '../../api/api-error.js'
import { defineResource } from '../../api/definition.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { type SelfSubjectRulesReview, selfSubjectRulesReview as schema } from './v1.schema.js'

function prepareCreate(review: SelfSubjectRulesReview): SelfSubjectRulesReview {
  if ((review.spec?.namespace ?? '') === '') throw badRequest('no namespace on request')
  return review
}

export const selfSubjectRulesReview = defineResource<SelfSubjectRulesReview>({
  group: { stem: 'authorization' },
  kind: 'SelfSubjectRulesReview',
  resource: 'selfsubjectrulesreviews',
  namespaced: false,
  verbs: ['create'],
  virtual: {},
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: pathSegmentProblems,
  prepareCreate,
})

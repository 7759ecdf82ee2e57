// Questions about all that one may do in a namespace.

import { badRequest } from '../../api/api-error.js'
import { defineReview } from '../../api/define-special.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { type SelfSubjectRulesReview, selfSubjectRulesReview as schema } from './v1.schema.js'

function prepareCreate(review: SelfSubjectRulesReview): SelfSubjectRulesReview {
  if ((review.spec?.namespace ?? '') === '') throw badRequest('no namespace on request')
  return review
}

export const selfSubjectRulesReview = defineReview('SelfSubjectRulesReview')<SelfSubjectRulesReview>({
  group: { stem: 'authorization' },
  resource: 'selfsubjectrulesreviews',
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: pathSegmentProblems,
  prepareCreate,
})

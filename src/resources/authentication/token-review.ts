// Reviews of tokens: whose token is this? The answer is the authenticators' to give.

import { badRequest } from '../../api/api-error.js'
import { defineReview } from '../../api/define-special.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { tokenReview as schema, type TokenReview } from './v1.schema.js'

/** Without a token there is no question. */
function prepareCreate(review: TokenReview): TokenReview {
  if ((review.spec?.token ?? '') === '') throw badRequest('token is required for TokenReview in authentication')
  return review
}

export const tokenReview = defineReview('TokenReview')<TokenReview>({
  group: { stem: 'authentication' },
  resource: 'tokenreviews',
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: pathSegmentProblems,
  prepareCreate,
})

// Questions about one's own access: may I do that?

import { defineReview } from '../../api/define-special.js'
import { joined } from '../../api/validation/collect.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { validateAccess, validateNoMetadata } from './access-review-rules.js'
import { type SelfSubjectAccessReview, selfSubjectAccessReview as schema } from './v1.schema.js'

export const selfSubjectAccessReview = defineReview('SelfSubjectAccessReview')<SelfSubjectAccessReview>({
  group: { stem: 'authorization' },
  resource: 'selfsubjectaccessreviews',
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: pathSegmentProblems,
  validate: ({ metadata, spec = {} }) => joined(validateAccess(spec), validateNoMetadata(metadata)),
})

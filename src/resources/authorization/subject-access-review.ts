// Questions about access: may this user, or a member of these groups, do that?

import { defineReview } from '../../api/define-special.js'
import { joined } from '../../api/validation/collect.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { validateAccess, validateNoMetadata, validateSubject } from './access-review-rules.js'
import { type SubjectAccessReview, subjectAccessReview as schema } from './v1.schema.js'

export const subjectAccessReview = defineReview('SubjectAccessReview')<SubjectAccessReview>({
  group: { stem: 'authorization' },
  resource: 'subjectaccessreviews',
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: pathSegmentProblems,
  validate: ({ metadata, spec = {} }) => joined(validateAccess(spec), validateSubject(spec), validateNoMetadata(metadata)),
})

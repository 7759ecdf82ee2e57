// Questions about access: may this user, or a member of these groups, do that?

import { defineResource } from '../../api/definition.js'
import { joined } from '../../api/validation/collect.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { validateAccess, validateNoMetadata, validateSubject } from './access-review-rules.js'
import { type SubjectAccessReview, subjectAccessReview as schema } from './v1.schema.js'

export const subjectAccessReview = defineResource<SubjectAccessReview>({
  group: { stem: 'authorization' },
  kind: 'SubjectAccessReview',
  resource: 'subjectaccessreviews',
  namespaced: false,
  verbs: ['create'],
  virtual: {},
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: pathSegmentProblems,
  validate: ({ metadata, spec = {} }) => joined(validateAccess(spec), validateSubject(spec), validateNoMetadata(metadata)),
})

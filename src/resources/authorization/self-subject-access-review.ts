// Questions about one's own access: may I do that?

import { defineResource } from '../../api/definition.js'
import { joined } from '../../api/validation/collect.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { validateAccess, validateNoMetadata } from './access-review-rules.js'
import { type SelfSubjectAccessReview, selfSubjectAccessReview as schema } from './v1.schema.js'

export const selfSubjectAccessReview = defineResource<SelfSubjectAccessReview>({
  group: { stem: 'authorization' },
  kind: 'SelfSubjectAccessReview',
  resource: 'selfsubjectaccessreviews',
  namespaced: false,
  verbs: ['create'],
  virtual: {},
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: pathSegmentProblems,
  validate: ({ metadata, spec = {} }) => joined(validateAccess(spec), validateNoMetadata(metadata)),
})

// Questions about access within one namespace, which may be asked by those who have rights only there.

import { defineReview } from '../../api/define-special.js'
import { type FieldError, invalid } from '../../api/field-error.js'
import { joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { validateAccess, validateNoMetadata, validateSubject } from './access-review-rules.js'
import { type LocalSubjectAccessReview, localSubjectAccessReview as schema } from './v1.schema.js'

function validateLocality({ metadata, spec: { resourceAttributes, nonResourceAttributes } = {} }: LocalSubjectAccessReview) {
  const namespace = resourceAttributes?.namespace ?? ''
  const isElsewhere = resourceAttributes !== undefined && namespace !== (metadata?.namespace ?? '')
  const errors: FieldError[] = []
  if (isElsewhere) errors.push(invalid('spec.resourceAttributes.namespace', namespace, 'must match metadata.namespace'))
  if (nonResourceAttributes !== undefined) {
    errors.push(invalid('spec.nonResourceAttributes', nonResourceAttributes, 'disallowed on this kind of request'))
  }
  return errors.length === 0 ? noErrors : errors
}

export const localSubjectAccessReview = defineReview('LocalSubjectAccessReview')<LocalSubjectAccessReview>({
  group: { stem: 'authorization' },
  resource: 'localsubjectaccessreviews',
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: pathSegmentProblems,
  validate: (review) =>
    joined(
      validateAccess(review.spec ?? {}),
      validateSubject(review.spec ?? {}),
      validateNoMetadata(review.metadata, 'namespace'),
      validateLocality(review),
    ),
})

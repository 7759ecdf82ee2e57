// SubjectAccessReview, SelfSubjectAccessReview, LocalSubjectAccessReview and SelfSubjectRulesReview.

import { badRequest } from '../../api/api-error.js'
import { defineReview } from '../../api/definition/define-virtual.js'
import { type FieldError, invalid } from '../../api/field-error.js'
import type { ObjectMeta } from '../../api/object.js'
import { joined, noErrors, pathSegmentProblems } from '../../api/validation/checks.js'
import {
  type LocalSubjectAccessReview,
  localSubjectAccessReview as localSubjectAccessReviewSchema,
  type SelfSubjectAccessReview,
  type SelfSubjectAccessReviewSpec,
  type SelfSubjectRulesReview,
  type SubjectAccessReview,
  type SubjectAccessReviewSpec,
  selfSubjectAccessReview as selfSubjectAccessReviewSchema,
  selfSubjectRulesReview as selfSubjectRulesReviewSchema,
  subjectAccessReview as subjectAccessReviewSchema,
} from './v1.schema.js'

function validateAccess({ resourceAttributes, nonResourceAttributes }: SelfSubjectAccessReviewSpec): readonly FieldError[] {
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    const problem = 'cannot be specified in combination with resourceAttributes'
    return [invalid('spec.nonResourceAttributes', nonResourceAttributes, problem)]
  }
  if (resourceAttributes !== undefined || nonResourceAttributes !== undefined) return noErrors
  return [invalid('spec.resourceAttributes', undefined, 'exactly one of nonResourceAttributes or resourceAttributes must be specified')]
}

const validateSubject = ({ user = '', groups = [] }: SubjectAccessReviewSpec): readonly FieldError[] =>
  user === '' && groups.length === 0 ? [invalid('spec.user', user, 'at least one of user or group must be specified')] : noErrors

/** Rejects metadata except managedFields and the allowed fields. */
function validateNoMetadata(metadata: ObjectMeta = {}, ...allowed: readonly (keyof ObjectMeta)[]): readonly FieldError[] {
  const ignored: readonly string[] = ['managedFields', ...allowed]
  if (Object.entries(metadata).every(([name, value]) => value === undefined || ignored.includes(name))) return noErrors
  return [invalid('metadata', metadata, allowed.length === 0 ? 'must be empty' : `must be empty except for ${allowed.join(', ')}`)]
}

export const subjectAccessReview = defineReview('SubjectAccessReview')<SubjectAccessReview>({
  group: { stem: 'authorization' },
  resource: 'subjectaccessreviews',
  namespaced: false,
  versions: [{ name: 'v1', schema: subjectAccessReviewSchema, stored: true }],
  nameProblems: pathSegmentProblems,
  validate: ({ metadata, spec = {} }) => joined(validateAccess(spec), validateSubject(spec), validateNoMetadata(metadata)),
})

export const selfSubjectAccessReview = defineReview('SelfSubjectAccessReview')<SelfSubjectAccessReview>({
  group: { stem: 'authorization' },
  resource: 'selfsubjectaccessreviews',
  namespaced: false,
  versions: [{ name: 'v1', schema: selfSubjectAccessReviewSchema, stored: true }],
  nameProblems: pathSegmentProblems,
  validate: ({ metadata, spec = {} }) => joined(validateAccess(spec), validateNoMetadata(metadata)),
})

function validateSameNamespace({ metadata, spec: { resourceAttributes, nonResourceAttributes } = {} }: LocalSubjectAccessReview) {
  const namespace = resourceAttributes?.namespace ?? ''
  const isOtherNamespace = resourceAttributes !== undefined && namespace !== (metadata?.namespace ?? '')
  const errors: FieldError[] = []
  if (isOtherNamespace) errors.push(invalid('spec.resourceAttributes.namespace', namespace, 'must match metadata.namespace'))
  if (nonResourceAttributes !== undefined) {
    errors.push(invalid('spec.nonResourceAttributes', nonResourceAttributes, 'disallowed on this kind of request'))
  }
  return errors.length === 0 ? noErrors : errors
}

export const localSubjectAccessReview = defineReview('LocalSubjectAccessReview')<LocalSubjectAccessReview>({
  group: { stem: 'authorization' },
  resource: 'localsubjectaccessreviews',
  namespaced: true,
  versions: [{ name: 'v1', schema: localSubjectAccessReviewSchema, stored: true }],
  nameProblems: pathSegmentProblems,
  validate: (review) =>
    joined(
      validateAccess(review.spec ?? {}),
      validateSubject(review.spec ?? {}),
      validateNoMetadata(review.metadata, 'namespace'),
      validateSameNamespace(review),
    ),
})

function prepareCreate(review: SelfSubjectRulesReview): SelfSubjectRulesReview {
  if ((review.spec?.namespace ?? '') === '') throw badRequest('no namespace on request')
  return review
}

export const selfSubjectRulesReview = defineReview('SelfSubjectRulesReview')<SelfSubjectRulesReview>({
  group: { stem: 'authorization' },
  resource: 'selfsubjectrulesreviews',
  namespaced: false,
  versions: [{ name: 'v1', schema: selfSubjectRulesReviewSchema, stored: true }],
  nameProblems: pathSegmentProblems,
  prepareCreate,
})

// TokenReview, SelfSubjectReview, and TokenRequest (the `token` subresource of service accounts).

import { badRequest } from '../../api/api-error.js'
import { defineAction, defineReview } from '../../api/definition/define-virtual.js'
import type { RuleContext } from '../../api/definition/resource-definition.js'
import { type FieldError, invalid } from '../../api/field-error.js'
import { noErrors, pathSegmentProblems } from '../../api/validation/checks.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'
import { timeOf } from '../../schema/scalars.js'
import { withChanged, withMissing } from '../core/pod-spec/visit-containers.js'
import {
  type TokenRequest,
  type TokenReview,
  tokenRequest as tokenRequestSchema,
  tokenReview as tokenReviewSchema,
  userInfo,
} from './v1.schema.js'
import { selfSubjectReviewStatus, selfSubjectReview as transcribed } from './v1alpha1.schema.js'

/** `name` repeats `username`: the specification of SelfSubjectReview uses both names. */
const userInfoWithName = { ...userInfo, fields: { ...userInfo.fields, name: s.jsonField(s.string) } }
const status = { ...selfSubjectReviewStatus, fields: { userInfo: { ...selfSubjectReviewStatus.fields.userInfo, node: userInfoWithName } } }
const selfSubjectReviewSchema = {
  ...transcribed,
  fields: { ...transcribed.fields, status: { ...transcribed.fields.status, node: status } },
}
type SelfSubjectReview = Infer<typeof selfSubjectReviewSchema>

export const reviewSelf = ({ user, now }: Pick<RuleContext, 'user' | 'now'>): SelfSubjectReview => ({
  metadata: { creationTimestamp: timeOf(now) },
  status: { userInfo: { username: user.name, name: user.name, uid: user.uid, groups: user.groups, extra: user.extra } },
})

export const selfSubjectReview = defineReview('SelfSubjectReview')<SelfSubjectReview>({
  group: { stem: 'authentication' },
  resource: 'selfsubjectreviews',
  namespaced: false,
  gate: 'APISelfSubjectReview',
  versions: [{ name: 'v1alpha1', schema: selfSubjectReviewSchema, stored: true }],
  nameProblems: pathSegmentProblems,
})

function prepareCreate(review: TokenReview): TokenReview {
  if ((review.spec?.token ?? '') === '') throw badRequest('token is required for TokenReview in authentication')
  return review
}

export const tokenReview = defineReview('TokenReview')<TokenReview>({
  group: { stem: 'authentication' },
  resource: 'tokenreviews',
  namespaced: false,
  versions: [{ name: 'v1', schema: tokenReviewSchema, stored: true }],
  nameProblems: pathSegmentProblems,
  prepareCreate,
})

const minExpirationSeconds = 600
const maxExpirationSeconds = 2 ** 32

const withLifetime = (request: TokenRequest): TokenRequest =>
  withChanged(withMissing(request, { spec: {} }), 'spec', (spec) => withMissing(spec, { expirationSeconds: 3600 }))

export function validateTokenRequest({ spec }: TokenRequest): readonly FieldError[] {
  const seconds = spec?.expirationSeconds ?? 0
  const expirationErrors = (problem: string): readonly FieldError[] => [invalid('spec.expirationSeconds', seconds, problem)]
  if (seconds < minExpirationSeconds) return expirationErrors('may not specify a duration less than 10 minutes')
  return seconds > maxExpirationSeconds ? expirationErrors('may not specify a duration larger than 2^32 seconds') : noErrors
}

export const tokenSubresource = defineAction({
  name: 'token',
  action: 'issueToken',
  body: {
    kind: 'TokenRequest',
    group: { stem: 'authentication' },
    version: 'v1',
    schema: tokenRequestSchema,
    defaults: withLifetime,
    validate: validateTokenRequest,
  },
})

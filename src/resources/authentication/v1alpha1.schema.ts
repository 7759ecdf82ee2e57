// The types of authentication/v1alpha1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import * as authentication from '../../resources/authentication/v1.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.authentication.v1alpha1')

export const selfSubjectReviewStatus = struct('SelfSubjectReviewStatus', {
  userInfo: s.field(1, authentication.userInfo, { default: {} }),
})
export type SelfSubjectReviewStatus = Infer<typeof selfSubjectReviewStatus>

export const selfSubjectReview = struct(
  'SelfSubjectReview',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    status: s.field(2, selfSubjectReviewStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type SelfSubjectReview = Infer<typeof selfSubjectReview>

// The types of authentication/v1beta1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

export const tokenReviewSpec = s.struct('TokenReviewSpec', {
  token: s.field(1, s.string),
  audiences: s.field(2, s.list(s.string)),
})
export type TokenReviewSpec = Infer<typeof tokenReviewSpec>

export const userInfo = s.struct('UserInfo', {
  username: s.field(1, s.string),
  uid: s.field(2, s.string),
  groups: s.field(3, s.list(s.string)),
  extra: s.field(4, s.map(s.list(s.string, { protoWrapped: true }))),
})
export type UserInfo = Infer<typeof userInfo>

export const tokenReviewStatus = s.struct('TokenReviewStatus', {
  authenticated: s.field(1, s.boolean),
  user: s.field(2, userInfo, { default: {} }),
  audiences: s.field(4, s.list(s.string)),
  error: s.field(3, s.string),
})
export type TokenReviewStatus = Infer<typeof tokenReviewStatus>

export const tokenReview = s.struct(
  'TokenReview',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, tokenReviewSpec, { always: true, required: true, default: {} }),
    status: s.field(3, tokenReviewStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type TokenReview = Infer<typeof tokenReview>

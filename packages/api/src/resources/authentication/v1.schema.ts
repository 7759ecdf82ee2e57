// The types of authentication/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.authentication.v1')

export const boundObjectReference = struct('BoundObjectReference', {
  kind: s.field(1, s.string),
  apiVersion: s.field(2, s.string),
  name: s.field(3, s.string),
  uid: s.field(4, s.string, { protoName: 'uID' }),
})
export type BoundObjectReference = Infer<typeof boundObjectReference>

export const tokenRequestSpec = struct('TokenRequestSpec', {
  audiences: s.field(1, s.list(s.string), { always: true, required: true }),
  expirationSeconds: s.field(4, s.int64, { pointer: true, always: true }),
  boundObjectRef: s.field(3, boundObjectReference, { pointer: true, always: true }),
})
export type TokenRequestSpec = Infer<typeof tokenRequestSpec>

export const tokenRequestStatus = struct('TokenRequestStatus', {
  token: s.field(1, s.string, { always: true, required: true, default: '' }),
  expirationTimestamp: s.field(2, s.time, { always: true, required: true, default: {} }),
})
export type TokenRequestStatus = Infer<typeof tokenRequestStatus>

export const tokenRequest = struct(
  'TokenRequest',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, tokenRequestSpec, { always: true, required: true, default: {} }),
    status: s.field(3, tokenRequestStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type TokenRequest = Infer<typeof tokenRequest>

export const tokenReviewSpec = struct('TokenReviewSpec', {
  token: s.field(1, s.string),
  audiences: s.field(2, s.list(s.string)),
})
export type TokenReviewSpec = Infer<typeof tokenReviewSpec>

export const userInfo = struct('UserInfo', {
  username: s.field(1, s.string),
  uid: s.field(2, s.string),
  groups: s.field(3, s.list(s.string)),
  extra: s.field(4, s.map(s.list(s.string, { protoWrapped: true }))),
})
export type UserInfo = Infer<typeof userInfo>

export const tokenReviewStatus = struct('TokenReviewStatus', {
  authenticated: s.field(1, s.boolean),
  user: s.field(2, userInfo, { default: {} }),
  audiences: s.field(4, s.list(s.string)),
  error: s.field(3, s.string),
})
export type TokenReviewStatus = Infer<typeof tokenReviewStatus>

export const tokenReview = struct(
  'TokenReview',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, tokenReviewSpec, { always: true, required: true, default: {} }),
    status: s.field(3, tokenReviewStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type TokenReview = Infer<typeof tokenReview>

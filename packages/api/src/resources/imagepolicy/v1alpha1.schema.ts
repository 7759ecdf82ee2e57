// The types of imagepolicy/v1alpha1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

export const imageReviewContainerSpec = s.struct('ImageReviewContainerSpec', {
  image: s.field(1, s.string),
})
export type ImageReviewContainerSpec = Infer<typeof imageReviewContainerSpec>

export const imageReviewSpec = s.struct('ImageReviewSpec', {
  containers: s.field(1, s.list(imageReviewContainerSpec)),
  annotations: s.field(2, s.map(s.string)),
  namespace: s.field(3, s.string),
})
export type ImageReviewSpec = Infer<typeof imageReviewSpec>

export const imageReviewStatus = s.struct('ImageReviewStatus', {
  allowed: s.field(1, s.boolean, { always: true, required: true, default: false }),
  reason: s.field(2, s.string),
  auditAnnotations: s.field(3, s.map(s.string)),
})
export type ImageReviewStatus = Infer<typeof imageReviewStatus>

export const imageReview = s.struct(
  'ImageReview',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, imageReviewSpec, { always: true, required: true, default: {} }),
    status: s.field(3, imageReviewStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type ImageReview = Infer<typeof imageReview>

// The types of admission/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import * as authentication from '../../resources/authentication/v1.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

export const admissionRequest = s.struct('AdmissionRequest', {
  uid: s.field(1, s.string, { always: true, required: true }),
  kind: s.field(2, meta.groupVersionKind, { always: true, required: true }),
  resource: s.field(3, meta.groupVersionResource, { always: true, required: true }),
  subResource: s.field(4, s.string),
  requestKind: s.field(13, meta.groupVersionKind, { pointer: true }),
  requestResource: s.field(14, meta.groupVersionResource, { pointer: true }),
  requestSubResource: s.field(15, s.string),
  name: s.field(5, s.string),
  namespace: s.field(6, s.string),
  operation: s.field(7, s.string, { always: true, required: true }),
  userInfo: s.field(8, authentication.userInfo, { always: true, required: true }),
  object: s.field(9, s.any('raw')),
  oldObject: s.field(10, s.any('raw')),
  dryRun: s.field(11, s.boolean, { pointer: true }),
  options: s.field(12, s.any('raw')),
})
export type AdmissionRequest = Infer<typeof admissionRequest>

export const admissionResponse = s.struct('AdmissionResponse', {
  uid: s.field(1, s.string, { always: true, required: true }),
  allowed: s.field(2, s.boolean, { always: true, required: true }),
  status: s.field(3, meta.status, { pointer: true }),
  patch: s.field(4, s.bytes),
  patchType: s.field(5, s.string, { pointer: true }),
  auditAnnotations: s.field(6, s.map(s.string)),
  warnings: s.field(7, s.list(s.string)),
})
export type AdmissionResponse = Infer<typeof admissionResponse>

export const admissionReview = s.struct(
  'AdmissionReview',
  {
    request: s.field(1, admissionRequest, { pointer: true }),
    response: s.field(2, admissionResponse, { pointer: true }),
  },
  { typeMeta: true },
)
export type AdmissionReview = Infer<typeof admissionReview>

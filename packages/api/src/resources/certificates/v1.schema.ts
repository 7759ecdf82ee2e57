// The types of certificates/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.certificates.v1')

export const certificateSigningRequestSpec = struct('CertificateSigningRequestSpec', {
  request: s.field(1, s.bytes, { always: true, required: true, listType: 'atomic' }),
  signerName: s.field(7, s.string, { always: true, required: true, default: '' }),
  expirationSeconds: s.field(8, s.int32, { pointer: true }),
  usages: s.field(5, s.list(s.string, { listType: 'atomic' })),
  username: s.field(2, s.string),
  uid: s.field(3, s.string),
  groups: s.field(4, s.list(s.string, { listType: 'atomic' })),
  extra: s.field(6, s.map(s.list(s.string, { protoWrapped: true }))),
})
export type CertificateSigningRequestSpec = Infer<typeof certificateSigningRequestSpec>

export const certificateSigningRequestCondition = struct('CertificateSigningRequestCondition', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  status: s.field(6, s.string, { always: true, required: true, default: '' }),
  reason: s.field(2, s.string),
  message: s.field(3, s.string),
  lastUpdateTime: s.field(4, s.time, { default: {} }),
  lastTransitionTime: s.field(5, s.time, { default: {} }),
})
export type CertificateSigningRequestCondition = Infer<typeof certificateSigningRequestCondition>

export const certificateSigningRequestStatus = struct('CertificateSigningRequestStatus', {
  conditions: s.field(1, s.list(certificateSigningRequestCondition, { listType: 'map', keys: ['type'] })),
  certificate: s.field(2, s.bytes, { listType: 'atomic' }),
})
export type CertificateSigningRequestStatus = Infer<typeof certificateSigningRequestStatus>

export const certificateSigningRequest = struct(
  'CertificateSigningRequest',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, certificateSigningRequestSpec, { always: true, required: true, default: {} }),
    status: s.field(3, certificateSigningRequestStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type CertificateSigningRequest = Infer<typeof certificateSigningRequest>

// The types of coordination/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.coordination.v1')

export const leaseSpec = struct('LeaseSpec', {
  holderIdentity: s.field(1, s.string, { pointer: true }),
  leaseDurationSeconds: s.field(2, s.int32, { pointer: true }),
  acquireTime: s.field(3, s.microTime, { pointer: true }),
  renewTime: s.field(4, s.microTime, { pointer: true }),
  leaseTransitions: s.field(5, s.int32, { pointer: true }),
})
export type LeaseSpec = Infer<typeof leaseSpec>

export const lease = struct(
  'Lease',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, leaseSpec, { default: {} }),
  },
  { typeMeta: true },
)
export type Lease = Infer<typeof lease>

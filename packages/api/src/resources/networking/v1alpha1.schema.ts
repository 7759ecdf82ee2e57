// The types of networking/v1alpha1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import * as core from '../../resources/core/v1.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.networking.v1alpha1')

export const clusterCIDRSpec = struct('ClusterCIDRSpec', {
  nodeSelector: s.field(1, core.nodeSelector, { pointer: true }),
  perNodeHostBits: s.field(2, s.int32, { always: true, required: true, default: 0 }),
  ipv4: s.field(3, s.string, { always: true, default: '' }),
  ipv6: s.field(4, s.string, { always: true, default: '' }),
})
export type ClusterCIDRSpec = Infer<typeof clusterCIDRSpec>

export const clusterCIDR = struct(
  'ClusterCIDR',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, clusterCIDRSpec, { default: {} }),
  },
  { typeMeta: true },
)
export type ClusterCIDR = Infer<typeof clusterCIDR>

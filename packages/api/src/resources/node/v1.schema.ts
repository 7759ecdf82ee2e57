// The types of node/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import * as core from '../../resources/core/v1.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.node.v1')

export const overhead = struct('Overhead', {
  podFixed: s.field(1, s.map(s.quantity)),
})
export type Overhead = Infer<typeof overhead>

export const scheduling = struct('Scheduling', {
  nodeSelector: s.field(1, s.map(s.string, { mapType: 'atomic' })),
  tolerations: s.field(2, s.list(core.toleration, { listType: 'atomic' })),
})
export type Scheduling = Infer<typeof scheduling>

export const runtimeClass = struct(
  'RuntimeClass',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    handler: s.field(2, s.string, { always: true, required: true, default: '' }),
    overhead: s.field(3, overhead, { pointer: true }),
    scheduling: s.field(4, scheduling, { pointer: true }),
  },
  { typeMeta: true },
)
export type RuntimeClass = Infer<typeof runtimeClass>

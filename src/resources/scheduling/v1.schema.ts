// The types of scheduling/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.scheduling.v1')

export const priorityClass = struct(
  'PriorityClass',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    value: s.field(2, s.int32, { always: true, required: true, default: 0 }),
    globalDefault: s.field(3, s.boolean),
    description: s.field(4, s.string),
    preemptionPolicy: s.field(5, s.string, { pointer: true }),
  },
  { typeMeta: true },
)
export type PriorityClass = Infer<typeof priorityClass>

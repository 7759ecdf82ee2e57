// The types of storage/v1beta1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.storage.v1beta1')

export const csiStorageCapacity = struct(
  'CSIStorageCapacity',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    nodeTopology: s.field(2, meta.labelSelector, { pointer: true }),
    storageClassName: s.field(3, s.string, { always: true, required: true, default: '' }),
    capacity: s.field(4, s.quantity, { pointer: true }),
    maximumVolumeSize: s.field(5, s.quantity, { pointer: true }),
  },
  { typeMeta: true, inList: { listType: 'map', keys: ['name'] } },
)
export type CSIStorageCapacity = Infer<typeof csiStorageCapacity>

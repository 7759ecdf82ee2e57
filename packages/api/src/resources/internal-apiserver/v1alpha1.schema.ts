// The types of internal-apiserver/v1alpha1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.apiserverinternal.v1alpha1')

export const serverStorageVersion = struct('ServerStorageVersion', {
  apiServerID: s.field(1, s.string),
  encodingVersion: s.field(2, s.string),
  decodableVersions: s.field(3, s.list(s.string, { listType: 'set' })),
})
export type ServerStorageVersion = Infer<typeof serverStorageVersion>

export const storageVersionSpec = struct('StorageVersionSpec', {})
export type StorageVersionSpec = Infer<typeof storageVersionSpec>

export const storageVersionCondition = struct('StorageVersionCondition', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  status: s.field(2, s.string, { always: true, required: true, default: '' }),
  observedGeneration: s.field(3, s.int64),
  lastTransitionTime: s.field(4, s.time, { default: {} }),
  reason: s.field(5, s.string, { always: true, required: true, default: '' }),
  message: s.field(6, s.string),
})
export type StorageVersionCondition = Infer<typeof storageVersionCondition>

export const storageVersionStatus = struct('StorageVersionStatus', {
  storageVersions: s.field(1, s.list(serverStorageVersion, { listType: 'map', keys: ['apiServerID'] })),
  commonEncodingVersion: s.field(2, s.string, { pointer: true }),
  conditions: s.field(3, s.list(storageVersionCondition, { listType: 'map', keys: ['type'] })),
})
export type StorageVersionStatus = Infer<typeof storageVersionStatus>

export const storageVersion = struct(
  'StorageVersion',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, storageVersionSpec, { always: true, required: true, default: {} }),
    status: s.field(3, storageVersionStatus, { always: true, required: true, default: {} }),
  },
  { typeMeta: true },
)
export type StorageVersion = Infer<typeof storageVersion>

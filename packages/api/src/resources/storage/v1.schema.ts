// The types of storage/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import * as core from '../../resources/core/v1.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.storage.v1')

export const tokenRequest = struct('TokenRequest', {
  audience: s.field(1, s.string, { always: true, required: true, default: '' }),
  expirationSeconds: s.field(2, s.int64, { pointer: true }),
})
export type TokenRequest = Infer<typeof tokenRequest>

export const csiDriverSpec = struct('CSIDriverSpec', {
  attachRequired: s.field(1, s.boolean, { pointer: true }),
  podInfoOnMount: s.field(2, s.boolean, { pointer: true }),
  volumeLifecycleModes: s.field(3, s.list(s.string, { listType: 'set' })),
  storageCapacity: s.field(4, s.boolean, { pointer: true }),
  fsGroupPolicy: s.field(5, s.string, { pointer: true }),
  tokenRequests: s.field(6, s.list(tokenRequest, { listType: 'atomic' })),
  requiresRepublish: s.field(7, s.boolean, { pointer: true }),
  seLinuxMount: s.field(8, s.boolean, { pointer: true }),
})
export type CSIDriverSpec = Infer<typeof csiDriverSpec>

export const csiDriver = struct(
  'CSIDriver',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, csiDriverSpec, { always: true, required: true, default: {} }),
  },
  { typeMeta: true },
)
export type CSIDriver = Infer<typeof csiDriver>

export const volumeNodeResources = struct('VolumeNodeResources', {
  count: s.field(1, s.int32, { pointer: true }),
})
export type VolumeNodeResources = Infer<typeof volumeNodeResources>

export const csiNodeDriver = struct('CSINodeDriver', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  nodeID: s.field(2, s.string, { always: true, required: true, default: '' }),
  topologyKeys: s.field(3, s.list(s.string), { always: true }),
  allocatable: s.field(4, volumeNodeResources, { pointer: true }),
})
export type CSINodeDriver = Infer<typeof csiNodeDriver>

export const csiNodeSpec = struct('CSINodeSpec', {
  drivers: s.field(1, s.list(csiNodeDriver, { patchStrategy: 'merge', patchMergeKey: 'name' }), { always: true, required: true }),
})
export type CSINodeSpec = Infer<typeof csiNodeSpec>

export const csiNode = struct(
  'CSINode',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, csiNodeSpec, { always: true, required: true, default: {} }),
  },
  { typeMeta: true },
)
export type CSINode = Infer<typeof csiNode>

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

export const storageClass = struct(
  'StorageClass',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    provisioner: s.field(2, s.string, { always: true, required: true, default: '' }),
    parameters: s.field(3, s.map(s.string)),
    reclaimPolicy: s.field(4, s.string, { pointer: true }),
    mountOptions: s.field(5, s.list(s.string)),
    allowVolumeExpansion: s.field(6, s.boolean, { pointer: true }),
    volumeBindingMode: s.field(7, s.string, { pointer: true }),
    allowedTopologies: s.field(8, s.list(core.topologySelectorTerm, { listType: 'atomic' })),
  },
  { typeMeta: true },
)
export type StorageClass = Infer<typeof storageClass>

export const volumeAttachmentSource = struct('VolumeAttachmentSource', {
  persistentVolumeName: s.field(1, s.string, { pointer: true }),
  inlineVolumeSpec: s.field(2, core.persistentVolumeSpec, { pointer: true }),
})
export type VolumeAttachmentSource = Infer<typeof volumeAttachmentSource>

export const volumeAttachmentSpec = struct('VolumeAttachmentSpec', {
  attacher: s.field(1, s.string, { always: true, required: true, default: '' }),
  source: s.field(2, volumeAttachmentSource, { always: true, required: true, default: {} }),
  nodeName: s.field(3, s.string, { always: true, required: true, default: '' }),
})
export type VolumeAttachmentSpec = Infer<typeof volumeAttachmentSpec>

export const volumeError = struct('VolumeError', {
  time: s.field(1, s.time, { default: {} }),
  message: s.field(2, s.string),
})
export type VolumeError = Infer<typeof volumeError>

export const volumeAttachmentStatus = struct('VolumeAttachmentStatus', {
  attached: s.field(1, s.boolean, { always: true, required: true, default: false }),
  attachmentMetadata: s.field(2, s.map(s.string)),
  attachError: s.field(3, volumeError, { pointer: true }),
  detachError: s.field(4, volumeError, { pointer: true }),
})
export type VolumeAttachmentStatus = Infer<typeof volumeAttachmentStatus>

export const volumeAttachment = struct(
  'VolumeAttachment',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, volumeAttachmentSpec, { always: true, required: true, default: {} }),
    status: s.field(3, volumeAttachmentStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type VolumeAttachment = Infer<typeof volumeAttachment>

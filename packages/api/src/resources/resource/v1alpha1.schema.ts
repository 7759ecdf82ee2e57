// The types of resource/v1alpha1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import * as core from '../../resources/core/v1.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.resource.v1alpha1')

export const allocationResult = struct('AllocationResult', {
  resourceHandle: s.field(1, s.string),
  availableOnNodes: s.field(2, core.nodeSelector, { pointer: true }),
  shareable: s.field(3, s.boolean),
})
export type AllocationResult = Infer<typeof allocationResult>

export const podSchedulingSpec = struct('PodSchedulingSpec', {
  selectedNode: s.field(1, s.string),
  potentialNodes: s.field(2, s.list(s.string, { listType: 'set' })),
})
export type PodSchedulingSpec = Infer<typeof podSchedulingSpec>

export const resourceClaimSchedulingStatus = struct('ResourceClaimSchedulingStatus', {
  name: s.field(1, s.string),
  unsuitableNodes: s.field(2, s.list(s.string, { listType: 'set' })),
})
export type ResourceClaimSchedulingStatus = Infer<typeof resourceClaimSchedulingStatus>

export const podSchedulingStatus = struct('PodSchedulingStatus', {
  resourceClaims: s.field(1, s.list(resourceClaimSchedulingStatus, { listType: 'map', keys: ['name'] })),
})
export type PodSchedulingStatus = Infer<typeof podSchedulingStatus>

export const podScheduling = struct(
  'PodScheduling',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, podSchedulingSpec, { always: true, required: true, default: {} }),
    status: s.field(3, podSchedulingStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type PodScheduling = Infer<typeof podScheduling>

export const resourceClaimParametersReference = struct('ResourceClaimParametersReference', {
  apiGroup: s.field(1, s.string),
  kind: s.field(2, s.string, { always: true, required: true, default: '' }),
  name: s.field(3, s.string, { always: true, required: true, default: '' }),
})
export type ResourceClaimParametersReference = Infer<typeof resourceClaimParametersReference>

export const resourceClaimSpec = struct('ResourceClaimSpec', {
  resourceClassName: s.field(1, s.string, { always: true, required: true, default: '' }),
  parametersRef: s.field(2, resourceClaimParametersReference, { pointer: true }),
  allocationMode: s.field(3, s.string),
})
export type ResourceClaimSpec = Infer<typeof resourceClaimSpec>

export const resourceClaimConsumerReference = struct('ResourceClaimConsumerReference', {
  apiGroup: s.field(1, s.string),
  resource: s.field(3, s.string, { always: true, required: true, default: '' }),
  name: s.field(4, s.string, { always: true, required: true, default: '' }),
  uid: s.field(5, s.string, { always: true, required: true, default: '' }),
})
export type ResourceClaimConsumerReference = Infer<typeof resourceClaimConsumerReference>

export const resourceClaimStatus = struct('ResourceClaimStatus', {
  driverName: s.field(1, s.string),
  allocation: s.field(2, allocationResult, { pointer: true }),
  reservedFor: s.field(3, s.list(resourceClaimConsumerReference, { listType: 'map', keys: ['uid'] })),
  deallocationRequested: s.field(4, s.boolean),
})
export type ResourceClaimStatus = Infer<typeof resourceClaimStatus>

export const resourceClaim = struct(
  'ResourceClaim',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, resourceClaimSpec, { always: true, required: true, default: {} }),
    status: s.field(3, resourceClaimStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type ResourceClaim = Infer<typeof resourceClaim>

export const resourceClaimTemplateSpec = struct('ResourceClaimTemplateSpec', {
  metadata: s.field(1, meta.objectMeta, { default: {} }),
  spec: s.field(2, resourceClaimSpec, { always: true, required: true, default: {} }),
})
export type ResourceClaimTemplateSpec = Infer<typeof resourceClaimTemplateSpec>

export const resourceClaimTemplate = struct(
  'ResourceClaimTemplate',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, resourceClaimTemplateSpec, { always: true, required: true, default: {} }),
  },
  { typeMeta: true },
)
export type ResourceClaimTemplate = Infer<typeof resourceClaimTemplate>

export const resourceClassParametersReference = struct('ResourceClassParametersReference', {
  apiGroup: s.field(1, s.string),
  kind: s.field(2, s.string, { always: true, required: true, default: '' }),
  name: s.field(3, s.string, { always: true, required: true, default: '' }),
  namespace: s.field(4, s.string),
})
export type ResourceClassParametersReference = Infer<typeof resourceClassParametersReference>

export const resourceClass = struct(
  'ResourceClass',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    driverName: s.field(2, s.string, { always: true, required: true, default: '' }),
    parametersRef: s.field(3, resourceClassParametersReference, { pointer: true }),
    suitableNodes: s.field(4, core.nodeSelector, { pointer: true }),
  },
  { typeMeta: true },
)
export type ResourceClass = Infer<typeof resourceClass>

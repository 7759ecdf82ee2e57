// The types of apiregistration/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('aggregator.pkg.apis.apiregistration.v1')

export const serviceReference = struct('ServiceReference', {
  namespace: s.field(1, s.string),
  name: s.field(2, s.string),
  port: s.field(3, s.int32, { pointer: true }),
})
export type ServiceReference = Infer<typeof serviceReference>

export const apiServiceSpec = struct('APIServiceSpec', {
  service: s.field(1, serviceReference, { pointer: true }),
  group: s.field(2, s.string),
  version: s.field(3, s.string),
  insecureSkipTLSVerify: s.field(4, s.boolean),
  caBundle: s.field(5, s.bytes, { listType: 'atomic' }),
  groupPriorityMinimum: s.field(7, s.int32, { always: true, required: true }),
  versionPriority: s.field(8, s.int32, { always: true, required: true }),
})
export type APIServiceSpec = Infer<typeof apiServiceSpec>

export const apiServiceCondition = struct('APIServiceCondition', {
  type: s.field(1, s.string, { always: true, required: true }),
  status: s.field(2, s.string, { always: true, required: true }),
  lastTransitionTime: s.field(3, s.time),
  reason: s.field(4, s.string),
  message: s.field(5, s.string),
})
export type APIServiceCondition = Infer<typeof apiServiceCondition>

export const apiServiceStatus = struct('APIServiceStatus', {
  conditions: s.field(1, s.list(apiServiceCondition, { listType: 'map', keys: ['type'], patchStrategy: 'merge', patchMergeKey: 'type' })),
})
export type APIServiceStatus = Infer<typeof apiServiceStatus>

export const apiService = struct(
  'APIService',
  {
    metadata: s.field(1, meta.objectMeta),
    spec: s.field(2, apiServiceSpec),
    status: s.field(3, apiServiceStatus),
  },
  { typeMeta: true },
)
export type APIService = Infer<typeof apiService>

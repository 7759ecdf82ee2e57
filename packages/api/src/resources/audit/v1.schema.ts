// The types of audit/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import * as authentication from '../../resources/authentication/v1.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

export const objectReference = s.struct('ObjectReference', {
  resource: s.field(1, s.string),
  namespace: s.field(2, s.string),
  name: s.field(3, s.string),
  uid: s.field(4, s.string),
  apiGroup: s.field(5, s.string),
  apiVersion: s.field(6, s.string),
  resourceVersion: s.field(7, s.string),
  subresource: s.field(8, s.string),
})
export type ObjectReference = Infer<typeof objectReference>

export const event = s.struct(
  'Event',
  {
    level: s.field(1, s.string, { always: true, required: true, default: '' }),
    auditID: s.field(2, s.string, { always: true, required: true, default: '' }),
    stage: s.field(3, s.string, { always: true, required: true, default: '' }),
    requestURI: s.field(4, s.string, { always: true, required: true, default: '' }),
    verb: s.field(5, s.string, { always: true, required: true, default: '' }),
    user: s.field(6, authentication.userInfo, { always: true, required: true, default: {} }),
    impersonatedUser: s.field(7, authentication.userInfo, { pointer: true }),
    sourceIPs: s.field(8, s.list(s.string)),
    userAgent: s.field(16, s.string),
    objectRef: s.field(9, objectReference, { pointer: true }),
    responseStatus: s.field(10, meta.status, { pointer: true }),
    requestObject: s.field(11, s.any('unknown'), { pointer: true }),
    responseObject: s.field(12, s.any('unknown'), { pointer: true }),
    requestReceivedTimestamp: s.field(13, s.microTime, { always: true, default: {} }),
    stageTimestamp: s.field(14, s.microTime, { always: true, default: {} }),
    annotations: s.field(15, s.map(s.string)),
  },
  { typeMeta: true },
)
export type Event = Infer<typeof event>

export const groupResources = s.struct('GroupResources', {
  group: s.field(1, s.string),
  resources: s.field(2, s.list(s.string)),
  resourceNames: s.field(3, s.list(s.string)),
})
export type GroupResources = Infer<typeof groupResources>

export const policyRule = s.struct('PolicyRule', {
  level: s.field(1, s.string, { always: true, required: true, default: '' }),
  users: s.field(2, s.list(s.string)),
  userGroups: s.field(3, s.list(s.string)),
  verbs: s.field(4, s.list(s.string)),
  resources: s.field(5, s.list(groupResources)),
  namespaces: s.field(6, s.list(s.string)),
  nonResourceURLs: s.field(7, s.list(s.string)),
  omitStages: s.field(8, s.list(s.string)),
  omitManagedFields: s.field(9, s.boolean, { pointer: true }),
})
export type PolicyRule = Infer<typeof policyRule>

export const policy = s.struct(
  'Policy',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    rules: s.field(2, s.list(policyRule), { always: true, required: true }),
    omitStages: s.field(3, s.list(s.string)),
    omitManagedFields: s.field(4, s.boolean),
  },
  { typeMeta: true },
)
export type Policy = Infer<typeof policy>

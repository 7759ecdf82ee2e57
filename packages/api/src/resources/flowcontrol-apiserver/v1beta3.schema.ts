// The types of flowcontrol-apiserver/v1beta3 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.flowcontrol.v1beta3')

export const flowDistinguisherMethod = struct('FlowDistinguisherMethod', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
})
export type FlowDistinguisherMethod = Infer<typeof flowDistinguisherMethod>

export const priorityLevelConfigurationReference = struct('PriorityLevelConfigurationReference', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
})
export type PriorityLevelConfigurationReference = Infer<typeof priorityLevelConfigurationReference>

export const userSubject = struct('UserSubject', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
})
export type UserSubject = Infer<typeof userSubject>

export const groupSubject = struct('GroupSubject', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
})
export type GroupSubject = Infer<typeof groupSubject>

export const serviceAccountSubject = struct('ServiceAccountSubject', {
  namespace: s.field(1, s.string, { always: true, required: true, default: '' }),
  name: s.field(2, s.string, { always: true, required: true, default: '' }),
})
export type ServiceAccountSubject = Infer<typeof serviceAccountSubject>

export const subject = struct(
  'Subject',
  {
    kind: s.field(1, s.string, { always: true, required: true, default: '' }),
    user: s.field(2, userSubject, { pointer: true }),
    group: s.field(3, groupSubject, { pointer: true }),
    serviceAccount: s.field(4, serviceAccountSubject, { pointer: true }),
  },
  { unions: [{ discriminator: 'kind', values: { group: 'Group', serviceAccount: 'ServiceAccount', user: 'User' } }] },
)
export type Subject = Infer<typeof subject>

export const resourcePolicyRule = struct('ResourcePolicyRule', {
  verbs: s.field(1, s.list(s.string, { listType: 'set' }), { always: true, required: true }),
  apiGroups: s.field(2, s.list(s.string, { listType: 'set' }), { always: true, required: true }),
  resources: s.field(3, s.list(s.string, { listType: 'set' }), { always: true, required: true }),
  clusterScope: s.field(4, s.boolean),
  namespaces: s.field(5, s.list(s.string, { listType: 'set' }), { always: true }),
})
export type ResourcePolicyRule = Infer<typeof resourcePolicyRule>

export const nonResourcePolicyRule = struct('NonResourcePolicyRule', {
  verbs: s.field(1, s.list(s.string, { listType: 'set' }), { always: true, required: true }),
  nonResourceURLs: s.field(6, s.list(s.string, { listType: 'set' }), { always: true, required: true }),
})
export type NonResourcePolicyRule = Infer<typeof nonResourcePolicyRule>

export const policyRulesWithSubjects = struct('PolicyRulesWithSubjects', {
  subjects: s.field(1, s.list(subject, { listType: 'atomic' }), { always: true, required: true }),
  resourceRules: s.field(2, s.list(resourcePolicyRule, { listType: 'atomic' })),
  nonResourceRules: s.field(3, s.list(nonResourcePolicyRule, { listType: 'atomic' })),
})
export type PolicyRulesWithSubjects = Infer<typeof policyRulesWithSubjects>

export const flowSchemaSpec = struct('FlowSchemaSpec', {
  priorityLevelConfiguration: s.field(1, priorityLevelConfigurationReference, { always: true, required: true, default: {} }),
  matchingPrecedence: s.field(2, s.int32, { always: true, default: 0 }),
  distinguisherMethod: s.field(3, flowDistinguisherMethod, { pointer: true }),
  rules: s.field(4, s.list(policyRulesWithSubjects, { listType: 'atomic' })),
})
export type FlowSchemaSpec = Infer<typeof flowSchemaSpec>

export const flowSchemaCondition = struct('FlowSchemaCondition', {
  type: s.field(1, s.string),
  status: s.field(2, s.string),
  lastTransitionTime: s.field(3, s.time, { default: {} }),
  reason: s.field(4, s.string),
  message: s.field(5, s.string),
})
export type FlowSchemaCondition = Infer<typeof flowSchemaCondition>

export const flowSchemaStatus = struct('FlowSchemaStatus', {
  conditions: s.field(1, s.list(flowSchemaCondition, { listType: 'map', keys: ['type'], patchStrategy: 'merge', patchMergeKey: 'type' })),
})
export type FlowSchemaStatus = Infer<typeof flowSchemaStatus>

export const flowSchema = struct(
  'FlowSchema',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, flowSchemaSpec, { default: {} }),
    status: s.field(3, flowSchemaStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type FlowSchema = Infer<typeof flowSchema>

export const queuingConfiguration = struct('QueuingConfiguration', {
  queues: s.field(1, s.int32, { always: true, default: 0 }),
  handSize: s.field(2, s.int32, { always: true, default: 0 }),
  queueLengthLimit: s.field(3, s.int32, { always: true, default: 0 }),
})
export type QueuingConfiguration = Infer<typeof queuingConfiguration>

export const limitResponse = struct(
  'LimitResponse',
  {
    type: s.field(1, s.string, { always: true, required: true, default: '' }),
    queuing: s.field(2, queuingConfiguration, { pointer: true }),
  },
  { unions: [{ discriminator: 'type', values: { queuing: 'Queuing' } }] },
)
export type LimitResponse = Infer<typeof limitResponse>

export const limitedPriorityLevelConfiguration = struct('LimitedPriorityLevelConfiguration', {
  nominalConcurrencyShares: s.field(1, s.int32, { always: true, default: 0 }),
  limitResponse: s.field(2, limitResponse, { default: {} }),
  lendablePercent: s.field(3, s.int32, { pointer: true }),
  borrowingLimitPercent: s.field(4, s.int32, { pointer: true }),
})
export type LimitedPriorityLevelConfiguration = Infer<typeof limitedPriorityLevelConfiguration>

export const priorityLevelConfigurationSpec = struct(
  'PriorityLevelConfigurationSpec',
  {
    type: s.field(1, s.string, { always: true, required: true, default: '' }),
    limited: s.field(2, limitedPriorityLevelConfiguration, { pointer: true }),
  },
  { unions: [{ discriminator: 'type', values: { limited: 'Limited' } }] },
)
export type PriorityLevelConfigurationSpec = Infer<typeof priorityLevelConfigurationSpec>

export const priorityLevelConfigurationCondition = struct('PriorityLevelConfigurationCondition', {
  type: s.field(1, s.string),
  status: s.field(2, s.string),
  lastTransitionTime: s.field(3, s.time, { default: {} }),
  reason: s.field(4, s.string),
  message: s.field(5, s.string),
})
export type PriorityLevelConfigurationCondition = Infer<typeof priorityLevelConfigurationCondition>

export const priorityLevelConfigurationStatus = struct('PriorityLevelConfigurationStatus', {
  conditions: s.field(
    1,
    s.list(priorityLevelConfigurationCondition, { listType: 'map', keys: ['type'], patchStrategy: 'merge', patchMergeKey: 'type' }),
  ),
})
export type PriorityLevelConfigurationStatus = Infer<typeof priorityLevelConfigurationStatus>

export const priorityLevelConfiguration = struct(
  'PriorityLevelConfiguration',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, priorityLevelConfigurationSpec, { default: {} }),
    status: s.field(3, priorityLevelConfigurationStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type PriorityLevelConfiguration = Infer<typeof priorityLevelConfiguration>

// The types of admissionregistration/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.admissionregistration.v1')

export const serviceReference = struct('ServiceReference', {
  namespace: s.field(1, s.string, { always: true, required: true, default: '' }),
  name: s.field(2, s.string, { always: true, required: true, default: '' }),
  path: s.field(3, s.string, { pointer: true }),
  port: s.field(4, s.int32, { pointer: true }),
})
export type ServiceReference = Infer<typeof serviceReference>

export const webhookClientConfig = struct('WebhookClientConfig', {
  url: s.field(3, s.string, { pointer: true }),
  service: s.field(1, serviceReference, { pointer: true }),
  caBundle: s.field(2, s.bytes),
})
export type WebhookClientConfig = Infer<typeof webhookClientConfig>

export const rule = struct('Rule', {
  apiGroups: s.field(1, s.list(s.string, { listType: 'atomic' })),
  apiVersions: s.field(2, s.list(s.string, { listType: 'atomic' })),
  resources: s.field(3, s.list(s.string, { listType: 'atomic' })),
  scope: s.field(4, s.string, { pointer: true }),
})
export type Rule = Infer<typeof rule>

export const ruleWithOperations = struct('RuleWithOperations', {
  operations: s.field(1, s.list(s.string, { listType: 'atomic' })),
  ...s.embed(2, rule),
})
export type RuleWithOperations = Infer<typeof ruleWithOperations>

export const mutatingWebhook = struct('MutatingWebhook', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  clientConfig: s.field(2, webhookClientConfig, { always: true, required: true, default: {} }),
  rules: s.field(3, s.list(ruleWithOperations)),
  failurePolicy: s.field(4, s.string, { pointer: true }),
  matchPolicy: s.field(9, s.string, { pointer: true }),
  namespaceSelector: s.field(5, meta.labelSelector, { pointer: true }),
  objectSelector: s.field(11, meta.labelSelector, { pointer: true }),
  sideEffects: s.field(6, s.string, { pointer: true, always: true, required: true }),
  timeoutSeconds: s.field(7, s.int32, { pointer: true }),
  admissionReviewVersions: s.field(8, s.list(s.string), { always: true, required: true }),
  reinvocationPolicy: s.field(10, s.string, { pointer: true }),
})
export type MutatingWebhook = Infer<typeof mutatingWebhook>

export const mutatingWebhookConfiguration = struct(
  'MutatingWebhookConfiguration',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    webhooks: s.field(2, s.list(mutatingWebhook, { patchStrategy: 'merge', patchMergeKey: 'name' }), { protoName: 'Webhooks' }),
  },
  { typeMeta: true },
)
export type MutatingWebhookConfiguration = Infer<typeof mutatingWebhookConfiguration>

export const validatingWebhook = struct('ValidatingWebhook', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  clientConfig: s.field(2, webhookClientConfig, { always: true, required: true, default: {} }),
  rules: s.field(3, s.list(ruleWithOperations)),
  failurePolicy: s.field(4, s.string, { pointer: true }),
  matchPolicy: s.field(9, s.string, { pointer: true }),
  namespaceSelector: s.field(5, meta.labelSelector, { pointer: true }),
  objectSelector: s.field(10, meta.labelSelector, { pointer: true }),
  sideEffects: s.field(6, s.string, { pointer: true, always: true, required: true }),
  timeoutSeconds: s.field(7, s.int32, { pointer: true }),
  admissionReviewVersions: s.field(8, s.list(s.string), { always: true, required: true }),
})
export type ValidatingWebhook = Infer<typeof validatingWebhook>

export const validatingWebhookConfiguration = struct(
  'ValidatingWebhookConfiguration',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    webhooks: s.field(2, s.list(validatingWebhook, { patchStrategy: 'merge', patchMergeKey: 'name' }), { protoName: 'Webhooks' }),
  },
  { typeMeta: true },
)
export type ValidatingWebhookConfiguration = Infer<typeof validatingWebhookConfiguration>

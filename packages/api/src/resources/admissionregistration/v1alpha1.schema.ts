// The types of admissionregistration/v1alpha1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import * as admissionregistration from '../../resources/admissionregistration/v1.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.admissionregistration.v1alpha1')

export const namedRuleWithOperations = struct(
  'NamedRuleWithOperations',
  {
    resourceNames: s.field(1, s.list(s.string, { listType: 'atomic' })),
    ...s.embed(2, admissionregistration.ruleWithOperations),
  },
  { mapType: 'atomic' },
)
export type NamedRuleWithOperations = Infer<typeof namedRuleWithOperations>

export const matchResources = struct(
  'MatchResources',
  {
    namespaceSelector: s.field(1, meta.labelSelector, { pointer: true }),
    objectSelector: s.field(2, meta.labelSelector, { pointer: true }),
    resourceRules: s.field(3, s.list(namedRuleWithOperations, { listType: 'atomic' })),
    excludeResourceRules: s.field(4, s.list(namedRuleWithOperations, { listType: 'atomic' })),
    matchPolicy: s.field(7, s.string, { pointer: true }),
  },
  { mapType: 'atomic' },
)
export type MatchResources = Infer<typeof matchResources>

export const paramKind = struct(
  'ParamKind',
  {
    apiVersion: s.field(1, s.string),
    kind: s.field(2, s.string),
  },
  { mapType: 'atomic' },
)
export type ParamKind = Infer<typeof paramKind>

export const paramRef = struct(
  'ParamRef',
  {
    name: s.field(1, s.string),
    namespace: s.field(2, s.string),
  },
  { mapType: 'atomic' },
)
export type ParamRef = Infer<typeof paramRef>

export const validation = struct('Validation', {
  expression: s.field(1, s.string, { protoName: 'Expression', always: true, required: true, default: '' }),
  message: s.field(2, s.string),
  reason: s.field(3, s.string, { pointer: true }),
})
export type Validation = Infer<typeof validation>

export const validatingAdmissionPolicySpec = struct('ValidatingAdmissionPolicySpec', {
  paramKind: s.field(1, paramKind, { pointer: true }),
  matchConstraints: s.field(2, matchResources, { pointer: true }),
  validations: s.field(3, s.list(validation, { listType: 'atomic' }), { always: true, required: true }),
  failurePolicy: s.field(4, s.string, { pointer: true }),
})
export type ValidatingAdmissionPolicySpec = Infer<typeof validatingAdmissionPolicySpec>

export const validatingAdmissionPolicy = struct(
  'ValidatingAdmissionPolicy',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, validatingAdmissionPolicySpec, { default: {} }),
  },
  { typeMeta: true, inList: { optional: true } },
)
export type ValidatingAdmissionPolicy = Infer<typeof validatingAdmissionPolicy>

export const validatingAdmissionPolicyBindingSpec = struct('ValidatingAdmissionPolicyBindingSpec', {
  policyName: s.field(1, s.string),
  paramRef: s.field(2, paramRef, { pointer: true }),
  matchResources: s.field(3, matchResources, { pointer: true }),
})
export type ValidatingAdmissionPolicyBindingSpec = Infer<typeof validatingAdmissionPolicyBindingSpec>

export const validatingAdmissionPolicyBinding = struct(
  'ValidatingAdmissionPolicyBinding',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, validatingAdmissionPolicyBindingSpec, { default: {} }),
  },
  { typeMeta: true, inList: { optional: true } },
)
export type ValidatingAdmissionPolicyBinding = Infer<typeof validatingAdmissionPolicyBinding>

// The types of apiextensions/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('apiextensions-apiserver.pkg.apis.apiextensions.v1')

export const conversionRequest = struct('ConversionRequest', {
  uid: s.field(1, s.string, { always: true, required: true, default: '' }),
  desiredAPIVersion: s.field(2, s.string, { always: true, required: true, default: '' }),
  objects: s.field(3, s.list(s.any('raw')), { always: true, required: true }),
})
export type ConversionRequest = Infer<typeof conversionRequest>

export const conversionResponse = struct('ConversionResponse', {
  uid: s.field(1, s.string, { always: true, required: true, default: '' }),
  convertedObjects: s.field(2, s.list(s.any('raw')), { always: true, required: true }),
  result: s.field(3, meta.status, { always: true, required: true, default: {} }),
})
export type ConversionResponse = Infer<typeof conversionResponse>

export const conversionReview = struct(
  'ConversionReview',
  {
    request: s.field(1, conversionRequest, { pointer: true }),
    response: s.field(2, conversionResponse, { pointer: true }),
  },
  { typeMeta: true },
)
export type ConversionReview = Infer<typeof conversionReview>

export const customResourceColumnDefinition = struct('CustomResourceColumnDefinition', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  type: s.field(2, s.string, { always: true, required: true, default: '' }),
  format: s.field(3, s.string),
  description: s.field(4, s.string),
  priority: s.field(5, s.int32),
  jsonPath: s.field(6, s.string, { always: true, required: true, default: '' }),
})
export type CustomResourceColumnDefinition = Infer<typeof customResourceColumnDefinition>

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

export const webhookConversion = struct('WebhookConversion', {
  clientConfig: s.field(2, webhookClientConfig, { pointer: true }),
  conversionReviewVersions: s.field(3, s.list(s.string), { always: true, required: true }),
})
export type WebhookConversion = Infer<typeof webhookConversion>

export const customResourceConversion = struct('CustomResourceConversion', {
  strategy: s.field(1, s.string, { always: true, required: true, default: '' }),
  webhook: s.field(2, webhookConversion, { pointer: true }),
})
export type CustomResourceConversion = Infer<typeof customResourceConversion>

export const customResourceDefinitionNames = struct('CustomResourceDefinitionNames', {
  plural: s.field(1, s.string, { always: true, required: true, default: '' }),
  singular: s.field(2, s.string),
  shortNames: s.field(3, s.list(s.string)),
  kind: s.field(4, s.string, { always: true, required: true, default: '' }),
  listKind: s.field(5, s.string),
  categories: s.field(6, s.list(s.string)),
})
export type CustomResourceDefinitionNames = Infer<typeof customResourceDefinitionNames>

export const externalDocumentation = struct('ExternalDocumentation', {
  description: s.field(1, s.string),
  url: s.field(2, s.string),
})
export type ExternalDocumentation = Infer<typeof externalDocumentation>

export const validationRule = struct('ValidationRule', {
  rule: s.field(1, s.string, { always: true, required: true, default: '' }),
  message: s.field(2, s.string),
})
export type ValidationRule = Infer<typeof validationRule>

export const jsonSchemaProps: s.StructNode = struct('JSONSchemaProps', {
  id: s.field(1, s.string),
  $schema: s.field(2, s.string, { protoName: 'schema' }),
  $ref: s.field(3, s.string, { protoName: 'ref', pointer: true }),
  description: s.field(4, s.string),
  type: s.field(5, s.string),
  format: s.field(6, s.string),
  title: s.field(7, s.string),
  default: s.field(8, s.any('json'), { pointer: true }),
  maximum: s.field(9, s.number, { pointer: true }),
  exclusiveMaximum: s.field(10, s.boolean),
  minimum: s.field(11, s.number, { pointer: true }),
  exclusiveMinimum: s.field(12, s.boolean),
  maxLength: s.field(13, s.int64, { pointer: true }),
  minLength: s.field(14, s.int64, { pointer: true }),
  pattern: s.field(15, s.string),
  maxItems: s.field(16, s.int64, { pointer: true }),
  minItems: s.field(17, s.int64, { pointer: true }),
  uniqueItems: s.field(18, s.boolean),
  multipleOf: s.field(19, s.number, { pointer: true }),
  enum: s.field(20, s.list(s.any('json'))),
  maxProperties: s.field(21, s.int64, { pointer: true }),
  minProperties: s.field(22, s.int64, { pointer: true }),
  required: s.field(23, s.list(s.string)),
  items: s.field(
    24,
    s.any(
      'schemaOrArray',
      s.lazy(() => jsonSchemaProps),
    ),
    { pointer: true },
  ),
  allOf: s.field(25, s.list(s.lazy(() => jsonSchemaProps))),
  oneOf: s.field(26, s.list(s.lazy(() => jsonSchemaProps))),
  anyOf: s.field(27, s.list(s.lazy(() => jsonSchemaProps))),
  not: s.field(
    28,
    s.lazy(() => jsonSchemaProps),
    { pointer: true },
  ),
  properties: s.field(29, s.map(s.lazy(() => jsonSchemaProps))),
  additionalProperties: s.field(
    30,
    s.any(
      'schemaOrBool',
      s.lazy(() => jsonSchemaProps),
    ),
    { pointer: true },
  ),
  patternProperties: s.field(31, s.map(s.lazy(() => jsonSchemaProps))),
  dependencies: s.field(
    32,
    s.map(
      s.any(
        'schemaOrStrings',
        s.lazy(() => jsonSchemaProps),
      ),
    ),
  ),
  additionalItems: s.field(
    33,
    s.any(
      'schemaOrBool',
      s.lazy(() => jsonSchemaProps),
    ),
    { pointer: true },
  ),
  definitions: s.field(34, s.map(s.lazy(() => jsonSchemaProps))),
  externalDocs: s.field(35, externalDocumentation, { pointer: true }),
  example: s.field(36, s.any('json'), { pointer: true }),
  nullable: s.field(37, s.boolean),
  'x-kubernetes-preserve-unknown-fields': s.field(38, s.boolean, { protoName: 'xKubernetesPreserveUnknownFields', pointer: true }),
  'x-kubernetes-embedded-resource': s.field(39, s.boolean, { protoName: 'xKubernetesEmbeddedResource' }),
  'x-kubernetes-int-or-string': s.field(40, s.boolean, { protoName: 'xKubernetesIntOrString' }),
  'x-kubernetes-list-map-keys': s.field(41, s.list(s.string), { protoName: 'xKubernetesListMapKeys' }),
  'x-kubernetes-list-type': s.field(42, s.string, { protoName: 'xKubernetesListType', pointer: true }),
  'x-kubernetes-map-type': s.field(43, s.string, { protoName: 'xKubernetesMapType', pointer: true }),
  'x-kubernetes-validations': s.field(
    44,
    s.list(validationRule, { listType: 'map', keys: ['rule'], patchStrategy: 'merge', patchMergeKey: 'rule' }),
    { protoName: 'xKubernetesValidations' },
  ),
})
export type JSONSchemaProps = Infer<typeof jsonSchemaProps>

export const customResourceValidation = struct('CustomResourceValidation', {
  openAPIV3Schema: s.field(1, jsonSchemaProps, { pointer: true }),
})
export type CustomResourceValidation = Infer<typeof customResourceValidation>

export const customResourceSubresourceStatus = struct('CustomResourceSubresourceStatus', {})
export type CustomResourceSubresourceStatus = Infer<typeof customResourceSubresourceStatus>

export const customResourceSubresourceScale = struct('CustomResourceSubresourceScale', {
  specReplicasPath: s.field(1, s.string, { always: true, required: true, default: '' }),
  statusReplicasPath: s.field(2, s.string, { always: true, required: true, default: '' }),
  labelSelectorPath: s.field(3, s.string, { pointer: true }),
})
export type CustomResourceSubresourceScale = Infer<typeof customResourceSubresourceScale>

export const customResourceSubresources = struct('CustomResourceSubresources', {
  status: s.field(1, customResourceSubresourceStatus, { pointer: true }),
  scale: s.field(2, customResourceSubresourceScale, { pointer: true }),
})
export type CustomResourceSubresources = Infer<typeof customResourceSubresources>

export const customResourceDefinitionVersion = struct('CustomResourceDefinitionVersion', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  served: s.field(2, s.boolean, { always: true, required: true, default: false }),
  storage: s.field(3, s.boolean, { always: true, required: true, default: false }),
  deprecated: s.field(7, s.boolean),
  deprecationWarning: s.field(8, s.string, { pointer: true }),
  schema: s.field(4, customResourceValidation, { pointer: true }),
  subresources: s.field(5, customResourceSubresources, { pointer: true }),
  additionalPrinterColumns: s.field(6, s.list(customResourceColumnDefinition)),
})
export type CustomResourceDefinitionVersion = Infer<typeof customResourceDefinitionVersion>

export const customResourceDefinitionSpec = struct('CustomResourceDefinitionSpec', {
  group: s.field(1, s.string, { always: true, required: true, default: '' }),
  names: s.field(3, customResourceDefinitionNames, { always: true, required: true, default: {} }),
  scope: s.field(4, s.string, { always: true, required: true, default: '' }),
  versions: s.field(7, s.list(customResourceDefinitionVersion), { always: true, required: true }),
  conversion: s.field(9, customResourceConversion, { pointer: true }),
  preserveUnknownFields: s.field(10, s.boolean),
})
export type CustomResourceDefinitionSpec = Infer<typeof customResourceDefinitionSpec>

export const customResourceDefinitionCondition = struct('CustomResourceDefinitionCondition', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  status: s.field(2, s.string, { always: true, required: true, default: '' }),
  lastTransitionTime: s.field(3, s.time, { default: {} }),
  reason: s.field(4, s.string),
  message: s.field(5, s.string),
})
export type CustomResourceDefinitionCondition = Infer<typeof customResourceDefinitionCondition>

export const customResourceDefinitionStatus = struct('CustomResourceDefinitionStatus', {
  conditions: s.field(1, s.list(customResourceDefinitionCondition, { listType: 'map', keys: ['type'] }), { always: true }),
  acceptedNames: s.field(2, customResourceDefinitionNames, { always: true, default: {} }),
  storedVersions: s.field(3, s.list(s.string), { always: true }),
})
export type CustomResourceDefinitionStatus = Infer<typeof customResourceDefinitionStatus>

export const customResourceDefinition = struct(
  'CustomResourceDefinition',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, customResourceDefinitionSpec, { always: true, required: true, default: {} }),
    status: s.field(3, customResourceDefinitionStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type CustomResourceDefinition = Infer<typeof customResourceDefinition>

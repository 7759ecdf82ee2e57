// The types of autoscaling/v2 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.autoscaling.v2')

export const metricTarget = struct('MetricTarget', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  value: s.field(2, s.quantity, { pointer: true }),
  averageValue: s.field(3, s.quantity, { pointer: true }),
  averageUtilization: s.field(4, s.int32, { pointer: true }),
})
export type MetricTarget = Infer<typeof metricTarget>

export const containerResourceMetricSource = struct('ContainerResourceMetricSource', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  target: s.field(2, metricTarget, { always: true, required: true, default: {} }),
  container: s.field(3, s.string, { always: true, required: true, default: '' }),
})
export type ContainerResourceMetricSource = Infer<typeof containerResourceMetricSource>

export const metricValueStatus = struct('MetricValueStatus', {
  value: s.field(1, s.quantity, { pointer: true }),
  averageValue: s.field(2, s.quantity, { pointer: true }),
  averageUtilization: s.field(3, s.int32, { pointer: true }),
})
export type MetricValueStatus = Infer<typeof metricValueStatus>

export const containerResourceMetricStatus = struct('ContainerResourceMetricStatus', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  current: s.field(2, metricValueStatus, { always: true, required: true, default: {} }),
  container: s.field(3, s.string, { always: true, required: true, default: '' }),
})
export type ContainerResourceMetricStatus = Infer<typeof containerResourceMetricStatus>

export const crossVersionObjectReference = struct('CrossVersionObjectReference', {
  kind: s.field(1, s.string, { always: true, required: true, default: '' }),
  name: s.field(2, s.string, { always: true, required: true, default: '' }),
  apiVersion: s.field(3, s.string),
})
export type CrossVersionObjectReference = Infer<typeof crossVersionObjectReference>

export const metricIdentifier = struct('MetricIdentifier', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  selector: s.field(2, meta.labelSelector, { pointer: true }),
})
export type MetricIdentifier = Infer<typeof metricIdentifier>

export const externalMetricSource = struct('ExternalMetricSource', {
  metric: s.field(1, metricIdentifier, { always: true, required: true, default: {} }),
  target: s.field(2, metricTarget, { always: true, required: true, default: {} }),
})
export type ExternalMetricSource = Infer<typeof externalMetricSource>

export const externalMetricStatus = struct('ExternalMetricStatus', {
  metric: s.field(1, metricIdentifier, { always: true, required: true, default: {} }),
  current: s.field(2, metricValueStatus, { always: true, required: true, default: {} }),
})
export type ExternalMetricStatus = Infer<typeof externalMetricStatus>

export const hpaScalingPolicy = struct('HPAScalingPolicy', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  value: s.field(2, s.int32, { always: true, required: true, default: 0 }),
  periodSeconds: s.field(3, s.int32, { always: true, required: true, default: 0 }),
})
export type HPAScalingPolicy = Infer<typeof hpaScalingPolicy>

export const hpaScalingRules = struct('HPAScalingRules', {
  stabilizationWindowSeconds: s.field(3, s.int32, { pointer: true }),
  selectPolicy: s.field(1, s.string, { pointer: true }),
  policies: s.field(2, s.list(hpaScalingPolicy, { listType: 'atomic' })),
})
export type HPAScalingRules = Infer<typeof hpaScalingRules>

export const objectMetricSource = struct('ObjectMetricSource', {
  describedObject: s.field(1, crossVersionObjectReference, { always: true, required: true, default: {} }),
  target: s.field(2, metricTarget, { always: true, required: true, default: {} }),
  metric: s.field(3, metricIdentifier, { always: true, required: true, default: {} }),
})
export type ObjectMetricSource = Infer<typeof objectMetricSource>

export const podsMetricSource = struct('PodsMetricSource', {
  metric: s.field(1, metricIdentifier, { always: true, required: true, default: {} }),
  target: s.field(2, metricTarget, { always: true, required: true, default: {} }),
})
export type PodsMetricSource = Infer<typeof podsMetricSource>

export const resourceMetricSource = struct('ResourceMetricSource', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  target: s.field(2, metricTarget, { always: true, required: true, default: {} }),
})
export type ResourceMetricSource = Infer<typeof resourceMetricSource>

export const metricSpec = struct('MetricSpec', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  object: s.field(2, objectMetricSource, { pointer: true }),
  pods: s.field(3, podsMetricSource, { pointer: true }),
  resource: s.field(4, resourceMetricSource, { pointer: true }),
  containerResource: s.field(7, containerResourceMetricSource, { pointer: true }),
  external: s.field(5, externalMetricSource, { pointer: true }),
})
export type MetricSpec = Infer<typeof metricSpec>

export const horizontalPodAutoscalerBehavior = struct('HorizontalPodAutoscalerBehavior', {
  scaleUp: s.field(1, hpaScalingRules, { pointer: true }),
  scaleDown: s.field(2, hpaScalingRules, { pointer: true }),
})
export type HorizontalPodAutoscalerBehavior = Infer<typeof horizontalPodAutoscalerBehavior>

export const horizontalPodAutoscalerSpec = struct('HorizontalPodAutoscalerSpec', {
  scaleTargetRef: s.field(1, crossVersionObjectReference, { always: true, required: true, default: {} }),
  minReplicas: s.field(2, s.int32, { pointer: true }),
  maxReplicas: s.field(3, s.int32, { always: true, required: true, default: 0 }),
  metrics: s.field(4, s.list(metricSpec, { listType: 'atomic' })),
  behavior: s.field(5, horizontalPodAutoscalerBehavior, { pointer: true }),
})
export type HorizontalPodAutoscalerSpec = Infer<typeof horizontalPodAutoscalerSpec>

export const objectMetricStatus = struct('ObjectMetricStatus', {
  metric: s.field(1, metricIdentifier, { always: true, required: true, default: {} }),
  current: s.field(2, metricValueStatus, { always: true, required: true, default: {} }),
  describedObject: s.field(3, crossVersionObjectReference, { always: true, required: true, default: {} }),
})
export type ObjectMetricStatus = Infer<typeof objectMetricStatus>

export const podsMetricStatus = struct('PodsMetricStatus', {
  metric: s.field(1, metricIdentifier, { always: true, required: true, default: {} }),
  current: s.field(2, metricValueStatus, { always: true, required: true, default: {} }),
})
export type PodsMetricStatus = Infer<typeof podsMetricStatus>

export const resourceMetricStatus = struct('ResourceMetricStatus', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  current: s.field(2, metricValueStatus, { always: true, required: true, default: {} }),
})
export type ResourceMetricStatus = Infer<typeof resourceMetricStatus>

export const metricStatus = struct('MetricStatus', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  object: s.field(2, objectMetricStatus, { pointer: true }),
  pods: s.field(3, podsMetricStatus, { pointer: true }),
  resource: s.field(4, resourceMetricStatus, { pointer: true }),
  containerResource: s.field(7, containerResourceMetricStatus, { pointer: true }),
  external: s.field(5, externalMetricStatus, { pointer: true }),
})
export type MetricStatus = Infer<typeof metricStatus>

export const horizontalPodAutoscalerCondition = struct('HorizontalPodAutoscalerCondition', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  status: s.field(2, s.string, { always: true, required: true, default: '' }),
  lastTransitionTime: s.field(3, s.time, { default: {} }),
  reason: s.field(4, s.string),
  message: s.field(5, s.string),
})
export type HorizontalPodAutoscalerCondition = Infer<typeof horizontalPodAutoscalerCondition>

export const horizontalPodAutoscalerStatus = struct('HorizontalPodAutoscalerStatus', {
  observedGeneration: s.field(1, s.int64, { pointer: true }),
  lastScaleTime: s.field(2, s.time, { pointer: true }),
  currentReplicas: s.field(3, s.int32),
  desiredReplicas: s.field(4, s.int32, { always: true, required: true, default: 0 }),
  currentMetrics: s.field(5, s.list(metricStatus, { listType: 'atomic' }), { always: true }),
  conditions: s.field(
    6,
    s.list(horizontalPodAutoscalerCondition, { listType: 'map', keys: ['type'], patchStrategy: 'merge', patchMergeKey: 'type' }),
  ),
})
export type HorizontalPodAutoscalerStatus = Infer<typeof horizontalPodAutoscalerStatus>

export const horizontalPodAutoscaler = struct(
  'HorizontalPodAutoscaler',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, horizontalPodAutoscalerSpec, { default: {} }),
    status: s.field(3, horizontalPodAutoscalerStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type HorizontalPodAutoscaler = Infer<typeof horizontalPodAutoscaler>

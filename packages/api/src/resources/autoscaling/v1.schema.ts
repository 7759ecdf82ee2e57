// The types of autoscaling/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.autoscaling.v1')

export const containerResourceMetricSource = struct('ContainerResourceMetricSource', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  targetAverageUtilization: s.field(2, s.int32, { pointer: true }),
  targetAverageValue: s.field(3, s.quantity, { pointer: true }),
  container: s.field(5, s.string, { always: true, required: true, default: '' }),
})
export type ContainerResourceMetricSource = Infer<typeof containerResourceMetricSource>

export const containerResourceMetricStatus = struct('ContainerResourceMetricStatus', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  currentAverageUtilization: s.field(2, s.int32, { pointer: true }),
  currentAverageValue: s.field(3, s.quantity, { always: true, required: true, default: {} }),
  container: s.field(4, s.string, { always: true, required: true, default: '' }),
})
export type ContainerResourceMetricStatus = Infer<typeof containerResourceMetricStatus>

export const crossVersionObjectReference = struct(
  'CrossVersionObjectReference',
  {
    kind: s.field(1, s.string, { always: true, required: true, default: '' }),
    name: s.field(2, s.string, { always: true, required: true, default: '' }),
    apiVersion: s.field(3, s.string),
  },
  { mapType: 'atomic' },
)
export type CrossVersionObjectReference = Infer<typeof crossVersionObjectReference>

export const externalMetricSource = struct('ExternalMetricSource', {
  metricName: s.field(1, s.string, { always: true, required: true, default: '' }),
  metricSelector: s.field(2, meta.labelSelector, { pointer: true }),
  targetValue: s.field(3, s.quantity, { pointer: true }),
  targetAverageValue: s.field(4, s.quantity, { pointer: true }),
})
export type ExternalMetricSource = Infer<typeof externalMetricSource>

export const externalMetricStatus = struct('ExternalMetricStatus', {
  metricName: s.field(1, s.string, { always: true, required: true, default: '' }),
  metricSelector: s.field(2, meta.labelSelector, { pointer: true }),
  currentValue: s.field(3, s.quantity, { always: true, required: true, default: {} }),
  currentAverageValue: s.field(4, s.quantity, { pointer: true }),
})
export type ExternalMetricStatus = Infer<typeof externalMetricStatus>

export const horizontalPodAutoscalerSpec = struct('HorizontalPodAutoscalerSpec', {
  scaleTargetRef: s.field(1, crossVersionObjectReference, { always: true, required: true, default: {} }),
  minReplicas: s.field(2, s.int32, { pointer: true }),
  maxReplicas: s.field(3, s.int32, { always: true, required: true, default: 0 }),
  targetCPUUtilizationPercentage: s.field(4, s.int32, { pointer: true }),
})
export type HorizontalPodAutoscalerSpec = Infer<typeof horizontalPodAutoscalerSpec>

export const horizontalPodAutoscalerStatus = struct('HorizontalPodAutoscalerStatus', {
  observedGeneration: s.field(1, s.int64, { pointer: true }),
  lastScaleTime: s.field(2, s.time, { pointer: true }),
  currentReplicas: s.field(3, s.int32, { always: true, required: true, default: 0 }),
  desiredReplicas: s.field(4, s.int32, { always: true, required: true, default: 0 }),
  currentCPUUtilizationPercentage: s.field(5, s.int32, { pointer: true }),
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

export const horizontalPodAutoscalerCondition = struct('HorizontalPodAutoscalerCondition', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  status: s.field(2, s.string, { always: true, required: true, default: '' }),
  lastTransitionTime: s.field(3, s.time, { default: {} }),
  reason: s.field(4, s.string),
  message: s.field(5, s.string),
})
export type HorizontalPodAutoscalerCondition = Infer<typeof horizontalPodAutoscalerCondition>

export const objectMetricSource = struct('ObjectMetricSource', {
  target: s.field(1, crossVersionObjectReference, { always: true, required: true, default: {} }),
  metricName: s.field(2, s.string, { always: true, required: true, default: '' }),
  targetValue: s.field(3, s.quantity, { always: true, required: true, default: {} }),
  selector: s.field(4, meta.labelSelector, { pointer: true }),
  averageValue: s.field(5, s.quantity, { pointer: true }),
})
export type ObjectMetricSource = Infer<typeof objectMetricSource>

export const podsMetricSource = struct('PodsMetricSource', {
  metricName: s.field(1, s.string, { always: true, required: true, default: '' }),
  targetAverageValue: s.field(2, s.quantity, { always: true, required: true, default: {} }),
  selector: s.field(3, meta.labelSelector, { pointer: true }),
})
export type PodsMetricSource = Infer<typeof podsMetricSource>

export const resourceMetricSource = struct('ResourceMetricSource', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  targetAverageUtilization: s.field(2, s.int32, { pointer: true }),
  targetAverageValue: s.field(3, s.quantity, { pointer: true }),
})
export type ResourceMetricSource = Infer<typeof resourceMetricSource>

export const metricSpec = struct('MetricSpec', {
  type: s.field(1, s.string, {
    always: true,
    required: true,
    default: '',
    enum: ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'],
  }),
  object: s.field(2, objectMetricSource, { pointer: true }),
  pods: s.field(3, podsMetricSource, { pointer: true }),
  resource: s.field(4, resourceMetricSource, { pointer: true }),
  containerResource: s.field(7, containerResourceMetricSource, { pointer: true }),
  external: s.field(5, externalMetricSource, { pointer: true }),
})
export type MetricSpec = Infer<typeof metricSpec>

export const objectMetricStatus = struct('ObjectMetricStatus', {
  target: s.field(1, crossVersionObjectReference, { always: true, required: true, default: {} }),
  metricName: s.field(2, s.string, { always: true, required: true, default: '' }),
  currentValue: s.field(3, s.quantity, { always: true, required: true, default: {} }),
  selector: s.field(4, meta.labelSelector, { pointer: true }),
  averageValue: s.field(5, s.quantity, { pointer: true }),
})
export type ObjectMetricStatus = Infer<typeof objectMetricStatus>

export const podsMetricStatus = struct('PodsMetricStatus', {
  metricName: s.field(1, s.string, { always: true, required: true, default: '' }),
  currentAverageValue: s.field(2, s.quantity, { always: true, required: true, default: {} }),
  selector: s.field(3, meta.labelSelector, { pointer: true }),
})
export type PodsMetricStatus = Infer<typeof podsMetricStatus>

export const resourceMetricStatus = struct('ResourceMetricStatus', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  currentAverageUtilization: s.field(2, s.int32, { pointer: true }),
  currentAverageValue: s.field(3, s.quantity, { always: true, required: true, default: {} }),
})
export type ResourceMetricStatus = Infer<typeof resourceMetricStatus>

export const metricStatus = struct('MetricStatus', {
  type: s.field(1, s.string, {
    always: true,
    required: true,
    default: '',
    enum: ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'],
  }),
  object: s.field(2, objectMetricStatus, { pointer: true }),
  pods: s.field(3, podsMetricStatus, { pointer: true }),
  resource: s.field(4, resourceMetricStatus, { pointer: true }),
  containerResource: s.field(7, containerResourceMetricStatus, { pointer: true }),
  external: s.field(5, externalMetricStatus, { pointer: true }),
})
export type MetricStatus = Infer<typeof metricStatus>

export const scaleSpec = struct('ScaleSpec', {
  replicas: s.field(1, s.int32),
})
export type ScaleSpec = Infer<typeof scaleSpec>

export const scaleStatus = struct('ScaleStatus', {
  replicas: s.field(1, s.int32, { always: true, required: true, default: 0 }),
  selector: s.field(2, s.string),
})
export type ScaleStatus = Infer<typeof scaleStatus>

export const scale = struct(
  'Scale',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, scaleSpec, { default: {} }),
    status: s.field(3, scaleStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type Scale = Infer<typeof scale>

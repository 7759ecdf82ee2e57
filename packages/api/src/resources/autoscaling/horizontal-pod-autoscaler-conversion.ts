// Conversion of HorizontalPodAutoscalers between v1 and v2. v1 keeps fields of v2 in annotations, so only the order of metrics is lost.

import type { Identity } from '../../api/identity.js'
import { withMetadata } from '../../api/object.js'
import { isRecord, readValue } from '../../schema/json/read.js'
import { writeAny, writeValue } from '../../schema/json/write.js'
import { list, type StructNode } from '../../schema/node.js'
import * as v1 from './v1.schema.js'
import type * as v2 from './v2.schema.js'
import type { HorizontalPodAutoscalerBehavior, HPAScalingPolicy, HPAScalingRules } from './v2.schema.js'

const writeBehavior = ({ scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior): string =>
  writeAny({ ScaleUp: rulesToAnnotation(scaleUp), ScaleDown: rulesToAnnotation(scaleDown) })

const rulesToAnnotation = (rules: HPAScalingRules | undefined): object | null =>
  rules === undefined
    ? null
    : {
        StabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
        SelectPolicy: rules.selectPolicy ?? null,
        Policies:
          rules.policies?.map(({ type = '', value = 0, periodSeconds = 0 }) => ({
            Type: type,
            Value: value,
            PeriodSeconds: periodSeconds,
          })) ?? null,
      }

function readBehavior(text: string): HorizontalPodAutoscalerBehavior | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const [scaleUp, scaleDown] = [readRules(memberOf(value, 'scaleUp')), readRules(memberOf(value, 'scaleDown'))]
  if (scaleUp === undefined && scaleDown === undefined) return undefined
  return { ...(scaleUp === undefined ? {} : { scaleUp }), ...(scaleDown === undefined ? {} : { scaleDown }) }
}

function memberOf(value: unknown, name: string): unknown {
  if (!isRecord(value)) return undefined
  const key = Object.keys(value).find((candidate) => candidate.toLowerCase() === name.toLowerCase())
  return key === undefined ? undefined : value[key]
}

const isInteger = (value: unknown): value is number => Number.isInteger(value)

function readRules(value: unknown): HPAScalingRules | undefined {
  if (!isRecord(value)) return undefined
  const window = memberOf(value, 'stabilizationWindowSeconds')
  const select = memberOf(value, 'selectPolicy')
  const policies = memberOf(value, 'policies')
  return {
    ...(isInteger(window) ? { stabilizationWindowSeconds: window } : {}),
    ...(typeof select === 'string' ? { selectPolicy: select } : {}),
    ...(Array.isArray(policies) ? { policies: policies.map(readPolicy) } : {}),
  }
}

function readPolicy(value: unknown): HPAScalingPolicy {
  const [type, amount, period] = ['type', 'value', 'periodSeconds'].map((name) => memberOf(value, name))
  return {
    ...(typeof type === 'string' ? { type } : {}),
    ...(isInteger(amount) ? { value: amount } : {}),
    ...(isInteger(period) ? { periodSeconds: period } : {}),
  }
}

function withoutUndefined<T extends object>(members: { readonly [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T
}

const zero = '0'

function metricToV1({ type, object, pods, resource, containerResource, external }: v2.MetricSpec): v1.MetricSpec {
  return withoutUndefined<v1.MetricSpec>({
    type,
    object: object && objectToV1(object),
    pods:
      pods && withoutUndefined<v1.PodsMetricSource>({ ...namedToV1(pods.metric), targetAverageValue: pods.target?.averageValue ?? zero }),
    resource: resource && withoutUndefined<v1.ResourceMetricSource>({ name: resource.name, ...averagesToV1(resource.target) }),
    containerResource:
      containerResource &&
      withoutUndefined<v1.ContainerResourceMetricSource>({
        name: containerResource.name,
        container: containerResource.container,
        ...averagesToV1(containerResource.target),
      }),
    external: external && externalToV1(external),
  })
}

const namedToV1 = (metric: v2.MetricIdentifier | undefined) => ({ metricName: metric?.name, selector: metric?.selector })

const averagesToV1 = (target: v2.MetricTarget | undefined) => ({
  targetAverageUtilization: target?.averageUtilization,
  targetAverageValue: target?.averageValue,
})

const objectToV1 = ({ describedObject, metric, target }: v2.ObjectMetricSource): v1.ObjectMetricSource =>
  withoutUndefined<v1.ObjectMetricSource>({
    target: describedObject,
    ...namedToV1(metric),
    targetValue: target?.value ?? zero,
    averageValue: target?.averageValue,
  })

const externalToV1 = ({ metric, target }: v2.ExternalMetricSource): v1.ExternalMetricSource =>
  withoutUndefined<v1.ExternalMetricSource>({
    metricName: metric?.name,
    metricSelector: metric?.selector,
    targetValue: target?.value,
    targetAverageValue: target?.averageValue,
  })

function metricToV2({ type, object, pods, resource, containerResource, external }: v1.MetricSpec): v2.MetricSpec {
  return withoutUndefined<v2.MetricSpec>({
    type,
    object: object && objectToV2(object),
    pods: pods && {
      metric: identifierToV2(pods.metricName, pods.selector),
      target: { type: 'AverageValue', averageValue: pods.targetAverageValue ?? zero },
    },
    resource: resource && withoutUndefined<v2.ResourceMetricSource>({ name: resource.name, target: averagesToV2(resource) }),
    containerResource:
      containerResource &&
      withoutUndefined<v2.ContainerResourceMetricSource>({
        name: containerResource.name,
        container: containerResource.container,
        target: averagesToV2(containerResource),
      }),
    external: external && externalToV2(external),
  })
}

const identifierToV2 = (name: string | undefined, selector: v2.MetricIdentifier['selector'] | undefined): v2.MetricIdentifier =>
  withoutUndefined<v2.MetricIdentifier>({ name, selector })

const averagesToV2 = (source: v1.ResourceMetricSource): v2.MetricTarget =>
  withoutUndefined<v2.MetricTarget>({
    type: source.targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization',
    averageValue: source.targetAverageValue,
    averageUtilization: source.targetAverageUtilization,
  })

const objectToV2 = ({ target, metricName, selector, targetValue, averageValue }: v1.ObjectMetricSource): v2.ObjectMetricSource => ({
  describedObject: target ?? {},
  metric: identifierToV2(metricName, selector),
  target: withoutUndefined<v2.MetricTarget>({
    type: averageValue === undefined ? 'Value' : 'AverageValue',
    value: targetValue ?? zero,
    averageValue,
  }),
})

const externalToV2 = ({
  metricName,
  metricSelector,
  targetValue,
  targetAverageValue,
}: v1.ExternalMetricSource): v2.ExternalMetricSource => ({
  metric: identifierToV2(metricName, metricSelector),
  target: withoutUndefined<v2.MetricTarget>({
    type: targetValue === undefined ? 'AverageValue' : 'Value',
    value: targetValue,
    averageValue: targetAverageValue,
  }),
})

function metricStatusToV1({ type, object, pods, resource, containerResource, external }: v2.MetricStatus): v1.MetricStatus {
  return withoutUndefined<v1.MetricStatus>({
    type,
    object:
      object &&
      withoutUndefined<v1.ObjectMetricStatus>({
        target: object.describedObject,
        ...namedToV1(object.metric),
        currentValue: object.current?.value ?? zero,
        averageValue: object.current?.averageValue,
      }),
    pods:
      pods && withoutUndefined<v1.PodsMetricStatus>({ ...namedToV1(pods.metric), currentAverageValue: pods.current?.averageValue ?? zero }),
    resource: resource && withoutUndefined<v1.ResourceMetricStatus>({ name: resource.name, ...currentToV1(resource.current) }),
    containerResource:
      containerResource &&
      withoutUndefined<v1.ContainerResourceMetricStatus>({
        name: containerResource.name,
        container: containerResource.container,
        ...currentToV1(containerResource.current),
      }),
    external:
      external &&
      withoutUndefined<v1.ExternalMetricStatus>({
        metricName: external.metric?.name,
        metricSelector: external.metric?.selector,
        currentValue: external.current?.value ?? zero,
        currentAverageValue: external.current?.averageValue,
      }),
  })
}

const currentToV1 = (current: v2.MetricValueStatus | undefined) => ({
  currentAverageUtilization: current?.averageUtilization,
  currentAverageValue: current?.averageValue ?? zero,
})

function metricStatusToV2({ type, object, pods, resource, containerResource, external }: v1.MetricStatus): v2.MetricStatus {
  return withoutUndefined<v2.MetricStatus>({
    type,
    object: object && {
      describedObject: object.target ?? {},
      metric: identifierToV2(object.metricName, object.selector),
      current: withoutUndefined<v2.MetricValueStatus>({
        value: object.currentValue ?? zero,
        averageValue: object.averageValue,
        averageUtilization: undefined,
      }),
    },
    pods: pods && {
      metric: identifierToV2(pods.metricName, pods.selector),
      current: { averageValue: pods.currentAverageValue ?? zero },
    },
    resource: resource && withoutUndefined<v2.ResourceMetricStatus>({ name: resource.name, current: currentToV2(resource) }),
    containerResource:
      containerResource &&
      withoutUndefined<v2.ContainerResourceMetricStatus>({
        name: containerResource.name,
        container: containerResource.container,
        current: currentToV2(containerResource),
      }),
    external: external && {
      metric: identifierToV2(external.metricName, external.metricSelector),
      current: withoutUndefined<v2.MetricValueStatus>({
        value: external.currentValue ?? zero,
        averageValue: external.currentAverageValue,
        averageUtilization: undefined,
      }),
    },
  })
}

const currentToV2 = (status: v1.ResourceMetricStatus): v2.MetricValueStatus =>
  withoutUndefined<v2.MetricValueStatus>({
    value: undefined,
    averageValue: status.currentAverageValue ?? zero,
    averageUtilization: status.currentAverageUtilization,
  })

interface Keys {
  readonly metrics: string
  readonly behavior: string
  readonly currentMetrics: string
  readonly conditions: string
}

const keysOf = (identity: Identity): Keys => ({
  metrics: identity.label('metrics', 'autoscaling.alpha'),
  behavior: identity.label('behavior', 'autoscaling.alpha'),
  currentMetrics: identity.label('current-metrics', 'autoscaling.alpha'),
  conditions: identity.label('conditions', 'autoscaling.alpha'),
})

export const conversionAnnotations = (identity: Identity): readonly string[] => Object.values(keysOf(identity))

type Annotations = { readonly [key: string]: string }

function withoutKeys(annotations: Annotations | undefined, keys: Keys): Annotations {
  const conversionKeys: readonly string[] = Object.values(keys)
  return Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => !conversionKeys.includes(key)))
}

export const hasConversionAnnotations = ({ metadata }: v1.HorizontalPodAutoscaler, identity: Identity): boolean =>
  Object.values(keysOf(identity)).some((key) => metadata?.annotations?.[key] !== undefined)

const metricsSchema = list(v1.metricSpec)
const currentMetricsSchema = list(v1.metricStatus)
const conditionsSchema = list(v1.horizontalPodAutoscalerCondition)

/** Returns undefined for an unreadable annotation, which is then dropped. */
function readList<T>(text: string | undefined, schema: ReturnType<typeof list<StructNode>>): readonly T[] | undefined {
  if (text === undefined) return undefined
  try {
    return readValue(schema, JSON.parse(text)).value as readonly T[]
  } catch {
    return undefined
  }
}

const cpuMetric = (averageUtilization: number): v2.MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
})

export const defaultMetrics: readonly v2.MetricSpec[] = [cpuMetric(80)]

export function toV2(object: v1.HorizontalPodAutoscaler, identity: Identity): v2.HorizontalPodAutoscaler {
  const keys = keysOf(identity)
  const annotations = object.metadata?.annotations ?? {}
  const { targetCPUUtilizationPercentage: cpu, ...spec } = object.spec ?? {}
  const others = (readList<v1.MetricSpec>(annotations[keys.metrics], metricsSchema) ?? []).map(metricToV2)
  const metrics = cpu === undefined ? others : [...others, cpuMetric(cpu)]
  const behavior = annotations[keys.behavior] === undefined ? undefined : readBehavior(annotations[keys.behavior] ?? '')
  return {
    ...withMetadata(object, { annotations: undefinedIfEmpty(withoutKeys(annotations, keys)) }),
    spec: { ...spec, metrics: metrics.length === 0 ? defaultMetrics : metrics, ...(behavior === undefined ? {} : { behavior }) },
    status: autoscalerStatusToV2(object.status ?? {}, annotations, keys),
  }
}

const undefinedIfEmpty = (annotations: Annotations): Annotations | undefined =>
  Object.keys(annotations).length === 0 ? undefined : annotations

function autoscalerStatusToV2(
  { currentCPUUtilizationPercentage: cpu, ...status }: v1.HorizontalPodAutoscalerStatus,
  annotations: Annotations,
  keys: Keys,
): v2.HorizontalPodAutoscalerStatus {
  const annotated = readList<v1.MetricStatus>(annotations[keys.currentMetrics], currentMetricsSchema)?.map(metricStatusToV2)
  const cpuStatus = { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: cpu ?? 0 } } }
  const currentMetrics = annotated ?? (cpu === undefined ? undefined : [cpuStatus])
  const conditions = readList<v2.HorizontalPodAutoscalerCondition>(annotations[keys.conditions], conditionsSchema)
  return {
    ...status,
    ...(currentMetrics === undefined ? {} : { currentMetrics }),
    ...(conditions === undefined || conditions.length === 0 ? {} : { conditions }),
  }
}

const isCpuUtilization = ({ type, resource }: v2.MetricSpec): boolean =>
  type === 'Resource' && isCpu(resource) && resource?.target?.averageUtilization !== undefined

const isCpu = (resource: { readonly name?: string } | undefined): boolean => resource?.name === 'cpu'

/** v1 has a field for one CPU utilization; all other metrics go to annotations. */
export function toV1(object: v2.HorizontalPodAutoscaler, identity: Identity): v1.HorizontalPodAutoscaler {
  const keys = keysOf(identity)
  const { metrics = [], behavior, ...spec } = object.spec ?? {}
  const { currentMetrics = [], conditions = [], ...status } = object.status ?? {}
  const cpu = metrics.find(({ type, resource }) => type === 'Resource' && isCpu(resource))?.resource?.target?.averageUtilization
  const current = currentMetrics.findLast(
    ({ type, resource }) => type === 'Resource' && isCpu(resource) && resource?.current?.averageUtilization !== undefined,
  )?.resource?.current?.averageUtilization
  const others = metrics.filter((metric) => !isCpuUtilization(metric))
  const annotated = {
    [keys.behavior]: behavior === undefined ? undefined : writeBehavior(behavior),
    [keys.conditions]: conditions.length === 0 ? undefined : writeValue(conditionsSchema, conditions),
    [keys.currentMetrics]: currentMetrics.length === 0 ? undefined : writeValue(currentMetricsSchema, currentMetrics.map(metricStatusToV1)),
    [keys.metrics]: others.length === 0 ? undefined : writeValue(metricsSchema, others.map(metricToV1)),
  }
  const present = Object.entries(annotated).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const annotations = { ...withoutKeys(object.metadata?.annotations, keys), ...Object.fromEntries(present) }
  return {
    ...withMetadata(object, { annotations: undefinedIfEmpty(annotations) }),
    spec: { ...spec, ...(cpu === undefined ? {} : { targetCPUUtilizationPercentage: cpu }) },
    status: { ...status, ...(current === undefined ? {} : { currentCPUUtilizationPercentage: current }) },
  }
}

/** Round trip through v1: the CPU utilization becomes the last metric, as in kube-apiserver. */
export const roundTripThroughV1 = (object: v2.HorizontalPodAutoscaler, identity: Identity): v2.HorizontalPodAutoscaler =>
  toV2(toV1(object, identity), identity)

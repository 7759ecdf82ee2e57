// Autoscalers between their two versions, without loss: what the first has no field for travels in annotations.

import type { Identity } from '../../api/identity.js'
import { withMetadata } from '../../api/object.js'
import { list, type StructNode } from '../../schema/node.js'
import { readValue } from '../../schema/read.js'
import { writeValue } from '../../schema/write.js'
import { readBehavior, writeBehavior } from './behavior-annotation.js'
import { metricToV1, metricToV2, statusToV1, statusToV2 } from './metric-conversion.js'
import * as v1 from './v1.schema.js'
import type * as v2 from './v2.schema.js'

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

/** The annotations in which the first version says what it has no fields for. */
export const autoscalerAnnotations = (identity: Identity): readonly string[] => Object.values(keysOf(identity))

type Annotations = { readonly [key: string]: string }

function withoutKeys(annotations: Annotations | undefined, keys: Keys): Annotations {
  const own: readonly string[] = Object.values(keys)
  return Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => !own.includes(key)))
}

/** Whether anything of an object in its first version travels in annotations. */
export const hasTravellers = ({ metadata }: v1.HorizontalPodAutoscaler, identity: Identity): boolean =>
  Object.values(keysOf(identity)).some((key) => metadata?.annotations?.[key] !== undefined)

const metricsSchema = list(v1.metricSpec)
const currentMetricsSchema = list(v1.metricStatus)
const conditionsSchema = list(v1.horizontalPodAutoscalerCondition)

/** Undefined where the text is no such list: what cannot be read is dropped. */
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
    ...withMetadata(object, { annotations: kept(withoutKeys(annotations, keys)) }),
    spec: { ...spec, metrics: metrics.length === 0 ? defaultMetrics : metrics, ...(behavior === undefined ? {} : { behavior }) },
    status: statusOfV1(object.status ?? {}, annotations, keys),
  }
}

/** A map without entries is none. */
const kept = (annotations: Annotations): Annotations | undefined => (Object.keys(annotations).length === 0 ? undefined : annotations)

function statusOfV1(
  { currentCPUUtilizationPercentage: cpu, ...status }: v1.HorizontalPodAutoscalerStatus,
  annotations: Annotations,
  keys: Keys,
): v2.HorizontalPodAutoscalerStatus {
  const read = readList<v1.MetricStatus>(annotations[keys.currentMetrics], currentMetricsSchema)?.map(statusToV2)
  const ofCpu = { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: cpu ?? 0 } } }
  const currentMetrics = read ?? (cpu === undefined ? undefined : [ofCpu])
  const conditions = readList<v2.HorizontalPodAutoscalerCondition>(annotations[keys.conditions], conditionsSchema)
  return {
    ...status,
    ...(currentMetrics === undefined ? {} : { currentMetrics }),
    ...(conditions === undefined || conditions.length === 0 ? {} : { conditions }),
  }
}

const isShareOfCpu = ({ type, resource }: v2.MetricSpec): boolean =>
  type === 'Resource' && isCpu(resource) && resource?.target?.averageUtilization !== undefined

const isCpu = (resource: { readonly name?: string } | undefined): boolean => resource?.name === 'cpu'

/** The first target for CPU has a field of its own, if it is a share; all other metrics travel. */
export function toV1(object: v2.HorizontalPodAutoscaler, identity: Identity): v1.HorizontalPodAutoscaler {
  const keys = keysOf(identity)
  const { metrics = [], behavior, ...spec } = object.spec ?? {}
  const { currentMetrics = [], conditions = [], ...status } = object.status ?? {}
  const cpu = metrics.find(({ type, resource }) => type === 'Resource' && isCpu(resource))?.resource?.target?.averageUtilization
  const current = currentMetrics.findLast(
    ({ type, resource }) => type === 'Resource' && isCpu(resource) && resource?.current?.averageUtilization !== undefined,
  )?.resource?.current?.averageUtilization
  const others = metrics.filter((metric) => !isShareOfCpu(metric))
  const travelling = {
    [keys.behavior]: behavior === undefined ? undefined : writeBehavior(behavior),
    [keys.conditions]: conditions.length === 0 ? undefined : writeValue(conditionsSchema, conditions),
    [keys.currentMetrics]: currentMetrics.length === 0 ? undefined : writeValue(currentMetricsSchema, currentMetrics.map(statusToV1)),
    [keys.metrics]: others.length === 0 ? undefined : writeValue(metricsSchema, others.map(metricToV1)),
  }
  const said = Object.entries(travelling).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const annotations = { ...withoutKeys(object.metadata?.annotations, keys), ...Object.fromEntries(said) }
  return {
    ...withMetadata(object, { annotations: kept(annotations) }),
    spec: { ...spec, ...(cpu === undefined ? {} : { targetCPUUtilizationPercentage: cpu }) },
    status: { ...status, ...(current === undefined ? {} : { currentCPUUtilizationPercentage: current }) },
  }
}

/** As an object comes back that the first version had to carry: its one field for a share of CPU makes that the last metric, and the only one. */
export const asCarriedByV1 = (object: v2.HorizontalPodAutoscaler, identity: Identity): v2.HorizontalPodAutoscaler =>
  toV2(toV1(object, identity), identity)

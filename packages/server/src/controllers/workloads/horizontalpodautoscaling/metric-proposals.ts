// Replicas that the metrics of an autoscaler propose: the highest proposal, the current values, and the first error.

import type { CompiledLabelSelector, LabelSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { fromSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { HorizontalPodAutoscaler, MetricSpec, MetricStatus } from '@cluster-apiserver/api/resources/autoscaling/v2.schema.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { parseQuantity, printQuantity, quantityMilliValue } from '@cluster-apiserver/api/schema/quantity.js'
import type { CustomMetricsSource, PodMetricsSource } from './metrics-source.js'
import {
  type PodValue,
  type PodValues,
  replicasForAverage,
  replicasForUtilization,
  replicasForValue,
  replicasForValuePerPod,
} from './replica-count.js'

export interface MetricSources {
  readonly podMetrics: PodMetricsSource
  readonly customMetrics: CustomMetricsSource
}

interface ScaledPods {
  readonly namespace: string
  readonly selector: CompiledLabelSelector
  readonly pods: readonly Pod[]
  readonly specReplicas: number
  readonly statusReplicas: number
  readonly nowMs: number
}

interface Proposed {
  readonly replicas: number
  /** Name of the metric in messages. */
  readonly name: string
  readonly status: MetricStatus
}

/** `reason`: of the condition ScalingActive and of the event. */
class MetricError extends Error {
  override readonly name = 'MetricError'
  readonly reason: string
  readonly prefix: string

  constructor(reason: string, prefix: string, message: string) {
    super(message)
    this.reason = reason
    this.prefix = prefix
  }
}

export interface Proposals {
  readonly replicas: number
  readonly metric: string
  readonly statuses: readonly MetricStatus[]
  readonly errors: readonly MetricError[]
}

/** In the place of a metric without a value, as in kube-controller-manager. */
const noStatus = { type: '' } as MetricStatus

export async function proposeReplicas({ spec }: HorizontalPodAutoscaler, sources: MetricSources, target: ScaledPods): Promise<Proposals> {
  let best: Proposed | undefined
  const statuses: MetricStatus[] = []
  const errors: MetricError[] = []
  for (const metric of spec?.metrics ?? []) {
    try {
      const proposed = await propose(metric, sources, target)
      statuses.push(proposed.status)
      if (best === undefined || proposed.replicas > best.replicas) best = proposed
    } catch (thrown) {
      if (!(thrown instanceof MetricError)) throw thrown
      errors.push(thrown)
      statuses.push(noStatus)
    }
  }
  return { replicas: best?.replicas ?? 0, metric: best?.name ?? '', statuses, errors }
}

const milli = (quantity: string): number => Number(quantityMilliValue(parseQuantity(quantity)))
const quantityOf = (milliUnits: number): string =>
  printQuantity({ unscaled: BigInt(Math.round(milliUnits)), exponent: -3, format: 'decimal' })

async function attempt<T>(reason: string, [prefix, inner]: readonly [string, string], work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    throw new MetricError(reason, prefix, `${inner}${errorMessage(thrown)}`)
  }
}

function propose(metric: MetricSpec, sources: MetricSources, target: ScaledPods): Promise<Proposed> {
  switch (metric.type) {
    case 'Resource':
    case 'ContainerResource':
      return proposeResource(metric, sources, target)
    case 'Pods':
      return proposePods(metric, sources, target)
    case 'Object':
      return proposeObject(metric, sources, target)
    case 'External':
      return proposeExternal(metric, sources, target)
    default:
      return Promise.reject(
        new MetricError('InvalidMetricSourceType', '', `unknown metric source type ${JSON.stringify(metric.type ?? '')}`),
      )
  }
}

function proposeResource({ type, resource, containerResource }: MetricSpec, { podMetrics }: MetricSources, target: ScaledPods) {
  const source = type === 'Resource' ? resource : containerResource
  const container = type === 'Resource' ? undefined : (containerResource?.container ?? '')
  const { name = '', target: goal } = source ?? {}
  const [reason, what] = type === 'Resource' ? ['FailedGetResourceMetric', 'resource'] : ['FailedGetContainerResourceMetric', 'container']
  const { averageValue, averageUtilization } = goal ?? {}
  const isUnset = averageValue === undefined && averageUtilization === undefined
  const inner = isUnset ? '' : `failed to get ${name} utilization: `
  return attempt(reason ?? '', [`failed to get ${container ?? name} ${what} metric value: `, inner], async (): Promise<Proposed> => {
    if (isUnset) throw new Error('invalid resource metric source: neither a utilization target nor a value target was set')
    const values = await resourceValues(podMetrics, target, { name, container })
    const rule = { ...target, values, currentReplicas: target.specReplicas, isCpu: name === 'cpu' }
    const proposal =
      averageValue === undefined
        ? replicasForUtilization(rule, {
            resource: name,
            target: averageUtilization ?? 0,
            ...(container === undefined ? {} : { container }),
          })
        : replicasForAverage(rule, milli(averageValue))
    const { replicas, average, utilization } = proposal
    const current = {
      ...(utilization === undefined ? {} : { averageUtilization: utilization }),
      averageValue: quantityOf(average),
    }
    const kind = averageValue === undefined ? ' utilization (percentage of request)' : ''
    return {
      replicas,
      name: container === undefined ? `${name} resource${kind}` : `${name} container resource${kind}`,
      status: (container === undefined
        ? { type, resource: { name, current } }
        : { type, containerResource: { name, container, current } }) as MetricStatus,
    }
  })
}

interface ResourceOf {
  readonly name: string
  /** Undefined: the sum of all containers. */
  readonly container: string | undefined
}

async function resourceValues(source: PodMetricsSource, target: ScaledPods, { name, container }: ResourceOf): Promise<PodValues> {
  const unable = (message: string): Error => new Error(`unable to get metrics for resource ${name}: ${message}`)
  const found = await source.usageOf(target.namespace, target.selector.text).catch((thrown: unknown) => {
    throw unable(`unable to fetch metrics from resource metrics API: ${errorMessage(thrown)}`)
  })
  if (found.length === 0) throw unable('no metrics returned from resource metrics API')
  const values = new Map<string, PodValue>()
  for (const { name: pod, atMs, windowMs, containers } of found) {
    const counted = container === undefined ? containers : containers.filter((each) => each.name === container)
    if (container !== undefined && counted.length === 0)
      throw unable(`container ${container} not present in metrics for pod ${target.namespace}/${pod}`)
    const usages = counted.map(({ usage }) => usage[name])
    // A pod with a container without a value counts as a pod without metrics.
    if (usages.length === 0 || usages.includes(undefined)) continue
    values.set(pod, { atMs, windowMs, value: usages.reduce((sum, usage) => sum + milli(usage ?? '0'), 0) })
  }
  return values
}

const selectorText = (selector: LabelSelectorObject | undefined): string =>
  selector === undefined ? '' : fromSelectorObject(selector).text

function proposePods({ pods }: MetricSpec, { customMetrics }: MetricSources, target: ScaledPods): Promise<Proposed> {
  const { metric, target: goal } = pods ?? {}
  const name = metric?.name ?? ''
  return attempt('FailedGetPodsMetric', ['failed to get pods metric value: ', ''], async () => {
    const query = { namespace: target.namespace, metric: name, metricSelector: selectorText(metric?.selector) }
    const found = await customMetrics.podValues(query, target.selector.text).catch((thrown: unknown) => {
      throw new Error(`unable to get metric ${name}: unable to fetch metrics from custom metrics API: ${errorMessage(thrown)}`)
    })
    const values: PodValues = new Map(Array.from(found, ([pod, value]) => [pod, { value }]))
    const rule = { ...target, values, currentReplicas: target.specReplicas, isCpu: false }
    const { replicas, average } = replicasForAverage(rule, milli(goal?.averageValue ?? '0'))
    return {
      replicas,
      name: `pods metric ${name}`,
      status: { type: 'Pods', pods: { metric, current: { averageValue: quantityOf(average) } } } as MetricStatus,
    }
  })
}

function proposeObject({ object }: MetricSpec, { customMetrics }: MetricSources, target: ScaledPods): Promise<Proposed> {
  const { metric, describedObject, target: goal } = object ?? {}
  const name = metric?.name ?? ''
  const { apiVersion = '', kind = '', name: objectName = '' } = describedObject ?? {}
  const inner = goal?.type === 'AverageValue' ? `failed to get ${name} object metric: ` : ''
  return attempt('FailedGetObjectMetric', [`failed to get object metric value: ${inner}`, ''], async () => {
    const query = { namespace: target.namespace, metric: name, metricSelector: selectorText(metric?.selector) }
    const value = await customMetrics.objectValue(query, { apiVersion, kind, name: objectName }).catch((thrown: unknown) => {
      throw new Error(
        `unable to get metric ${name}: ${kind} on ${target.namespace} ${objectName}/unable to fetch metrics from custom metrics API: ${errorMessage(thrown)}`,
      )
    })
    const { replicas, current, isAverage } = proposeValue(goal ?? {}, value, target)
    return {
      replicas,
      name: isAverage ? `external metric ${name}(${showSelector(metric?.selector)})` : `${kind} metric ${name}`,
      status: { type: 'Object', object: { metric, describedObject, current } } as MetricStatus,
    }
  })
}

function proposeExternal({ external }: MetricSpec, { customMetrics }: MetricSources, target: ScaledPods): Promise<Proposed> {
  const { metric, target: goal } = external ?? {}
  const name = metric?.name ?? ''
  const shown = showSelector(metric?.selector)
  const inner = goal?.averageValue === undefined ? `failed to get external metric ${name}: ` : `failed to get ${name} external metric: `
  return attempt('FailedGetExternalMetric', [`failed to get ${name} external metric value: ${inner}`, ''], async () => {
    const query = { namespace: target.namespace, metric: name, metricSelector: selectorText(metric?.selector) }
    const values = await customMetrics.externalValues(query).catch((thrown: unknown) => {
      const why = `unable to fetch metrics from external metrics API: ${errorMessage(thrown)}`
      throw new Error(`unable to get external metric ${target.namespace}/${name}/${shown}: ${why}`)
    })
    const value = values.reduce((sum, each) => sum + each, 0)
    const { replicas, current } = proposeValue(goal ?? {}, value, target)
    return {
      replicas,
      name: `external metric ${name}(${shown})`,
      status: { type: 'External', external: { metric, current } } as MetricStatus,
    }
  })
}

function proposeValue(goal: { readonly value?: string; readonly averageValue?: string }, value: number, target: ScaledPods) {
  if (goal.averageValue !== undefined) {
    const { replicas, average } = replicasForValuePerPod(value, milli(goal.averageValue), target.statusReplicas)
    return { replicas, current: { averageValue: quantityOf(average) }, isAverage: true }
  }
  const replicas = replicasForValue(value, milli(goal.value ?? '0'), { pods: target.pods, currentReplicas: target.specReplicas })
  return { replicas, current: { value: quantityOf(value) }, isAverage: false }
}

/** A selector as kube-controller-manager prints it. */
function showSelector(selector: LabelSelectorObject | undefined): string {
  if (selector === undefined) return 'nil'
  const labels = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => `${key}: ${value},`)
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key = '', operator = '', values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  )
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`
}

// Autoscalers: what they measure, and what they made of it.

import type { HorizontalPodAutoscaler } from '../../client/typed/types.js'
import { conditionsEntry, createdEntry, labelEntries, textOr } from './common.js'
import { block, type Entry } from './entry.js'

type Spec = NonNullable<HorizontalPodAutoscaler['spec']>
type Metric = NonNullable<Spec['metrics']>[number]
type Measured = NonNullable<NonNullable<HorizontalPodAutoscaler['status']>['currentMetrics']>[number]

export function describeAutoscaler(object: HorizontalPodAutoscaler): readonly Entry[] {
  const { spec = {}, status } = object
  const target = spec.scaleTargetRef
  return [
    ...labelEntries(object),
    createdEntry(object),
    ['Reference', `${target?.kind ?? ''}/${target?.name ?? ''}`],
    ['Metrics ( current / target )', block((spec.metrics ?? []).map((metric, i) => metricEntry(metric, status?.currentMetrics?.[i])))],
    ['Min replicas', textOr(spec.minReplicas, '<unset>')],
    ['Max replicas', String(spec.maxReplicas ?? 0)],
    [`${target?.kind ?? ''} pods`, `${status?.currentReplicas ?? 0} current / ${status?.desiredReplicas ?? 0} desired`],
    conditionsEntry(status?.conditions),
  ]
}

interface Amount {
  readonly averageUtilization?: number
  readonly averageValue?: unknown
  readonly value?: unknown
}

function metricEntry(metric: Metric, measured: Measured | undefined): Entry {
  const { resource, containerResource, pods, object, external } = metric
  const now = measured?.type === metric.type ? measured : undefined
  if (resource !== undefined) return [`resource ${resource.name ?? ''} on pods`, amounts(now?.resource?.current, resource.target)]
  if (containerResource !== undefined)
    return [
      `resource ${containerResource.name ?? ''} of container "${containerResource.container ?? ''}"`,
      amounts(now?.containerResource?.current, containerResource.target),
    ]
  if (pods !== undefined) return [`"${pods.metric?.name ?? ''}" on pods`, amounts(now?.pods?.current, pods.target)]
  if (object !== undefined) {
    const { kind = '', name = '' } = object.describedObject ?? {}
    return [`"${object.metric?.name ?? ''}" on ${kind}/${name}`, amounts(now?.object?.current, object.target)]
  }
  return [`"${external?.metric?.name ?? ''}" (external)`, amounts(now?.external?.current, external?.target)]
}

const amounts = (current: Amount | undefined, target: Amount | undefined): string =>
  `${amountText(current) ?? '<unknown>'} / ${amountText(target) ?? '<auto>'}`

function amountText({ averageUtilization, averageValue, value }: Amount = {}): string | undefined {
  if (averageUtilization !== undefined) return `${averageUtilization}%`
  if (averageValue !== undefined) return `${String(averageValue)} (average)`
  return value === undefined ? undefined : String(value)
}

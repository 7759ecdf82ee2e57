// An autoscaler as a row: what it scales, where its metrics stand against their targets, and within which bounds.

import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import type { HorizontalPodAutoscaler, MetricSpec, MetricStatus, MetricTarget, MetricValueStatus } from './v2.schema.js'

const unknown = '<unknown>'
const shownMetrics = 2

const percent = (share: number | undefined): string | undefined => (share === undefined ? undefined : `${share}%`)

/** Resources are shown as amounts where the target is one, else as shares. */
function resourceText(target: MetricTarget, current: MetricValueStatus | undefined): string {
  if (target.averageValue !== undefined) return `${current?.averageValue ?? unknown}/${target.averageValue}`
  return `${percent(current?.averageUtilization) ?? unknown}/${percent(target.averageUtilization) ?? '<auto>'}`
}

function valueText(target: MetricTarget, current: MetricValueStatus | undefined): string {
  if (target.averageValue !== undefined) return `${current?.averageValue ?? unknown}/${target.averageValue} (avg)`
  return `${current?.value ?? unknown}/${target.value ?? ''}`
}

function metricText(metric: MetricSpec, status: MetricStatus | undefined): string {
  switch (metric.type) {
    case 'External':
      return valueText(metric.external?.target ?? {}, status?.external?.current)
    case 'Object':
      return valueText(metric.object?.target ?? {}, status?.object?.current)
    case 'Pods':
      return `${status?.pods?.current?.averageValue ?? unknown}/${metric.pods?.target?.averageValue ?? ''}`
    case 'Resource':
      return resourceText(metric.resource?.target ?? {}, status?.resource?.current)
    case 'ContainerResource':
      return resourceText(metric.containerResource?.target ?? {}, status?.containerResource?.current)
    default:
      return '<unknown type>'
  }
}

function metricsText({ spec, status }: HorizontalPodAutoscaler): string {
  const { metrics = [] } = spec ?? {}
  if (metrics.length === 0) return '<none>'
  const shown = metrics
    .slice(0, shownMetrics)
    .map((metric, i) => metricText(metric, status?.currentMetrics?.[i]))
    .join(', ')
  return metrics.length > shownMetrics ? `${shown} + ${metrics.length - shownMetrics} more...` : shown
}

export const autoscalerColumns = [
  nameColumn,
  textColumn('Reference', 'What is scaled.'),
  textColumn('Targets', 'Where metrics stand, against their targets.'),
  textColumn('MinPods', 'How many pods there are at least.'),
  textColumn('MaxPods', 'How many pods there are at most.'),
  textColumn('Replicas', 'How many pods there are.'),
  ageColumn,
]

export function autoscalerCells(object: HorizontalPodAutoscaler, now: number): readonly unknown[] {
  const { metadata, spec, status } = object
  return [
    metadata?.name ?? '',
    `${spec?.scaleTargetRef?.kind ?? ''}/${spec?.scaleTargetRef?.name ?? ''}`,
    metricsText(object),
    `${spec?.minReplicas ?? '<unset>'}`,
    spec?.maxReplicas ?? 0,
    status?.currentReplicas ?? 0,
    ageOf(metadata?.creationTimestamp, now),
  ]
}

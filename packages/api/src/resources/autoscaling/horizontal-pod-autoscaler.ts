// HorizontalPodAutoscaler: validated as v2, shown as if stored in v1; defaults of both versions, printer columns.

import { ageColumn, nameColumn, textColumn } from '../../api/definition/printer-columns.js'
import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { ageOf } from '../../api/human-duration.js'
import type { Identity } from '../../api/identity.js'
import { dnsSubdomainProblems } from '../../api/validation/checks.js'
import { sameValue } from '../../api/validation/same-value.js'
import { isSentEmpty } from '../../schema/json/sent-empty.js'
import { withChanged, withMissing } from '../core/pod-spec/visit-containers.js'
import { statusSubresource } from '../status-subresource.js'
import {
  conversionAnnotations,
  defaultMetrics,
  hasConversionAnnotations,
  roundTripThroughV1,
  toV1,
  toV2,
} from './horizontal-pod-autoscaler-conversion.js'
import { validateAutoscaler, validateAutoscalerStatus } from './horizontal-pod-autoscaler-validation.js'
import * as v1 from './v1.schema.js'
import type { HorizontalPodAutoscaler, MetricSpec, MetricStatus, MetricTarget, MetricValueStatus } from './v2.schema.js'
import * as v2 from './v2.schema.js'

const unknown = '<unknown>'
const shownMetrics = 2

const percent = (share: number | undefined): string | undefined => (share === undefined ? undefined : `${share}%`)

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

const autoscalerColumns = [
  nameColumn,
  textColumn('Reference', 'Object that is scaled.'),
  textColumn('Targets', 'Current metrics and their targets.'),
  textColumn('MinPods', 'Minimum number of pods.'),
  textColumn('MaxPods', 'Maximum number of pods.'),
  textColumn('Replicas', 'Current number of pods.'),
  ageColumn,
]

function autoscalerCells(object: HorizontalPodAutoscaler, now: number): readonly unknown[] {
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

/** Sets minReplicas and the default CPU metric, and writes the conversion annotations canonically. */
export function withV1Defaults(object: v1.HorizontalPodAutoscaler, identity: Identity): v1.HorizontalPodAutoscaler {
  const spec = withMissing<v1.HorizontalPodAutoscalerSpec>(object.spec ?? {}, { minReplicas: 1 })
  const filled = spec === object.spec ? object : { ...object, spec }
  if (spec.targetCPUUtilizationPercentage !== undefined && !hasConversionAnnotations(object, identity)) return filled
  const canonical = toV1(toV2(filled, identity), identity)
  return sameValue(canonical, { status: {}, ...filled }) ? filled : canonical
}

const scaleUp: v2.HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
}
/** The default scale-down window is a setting of the controller. */
const scaleDown: v2.HPAScalingRules = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] }

function withBehaviorDefaults(behavior: v2.HorizontalPodAutoscalerBehavior): v2.HorizontalPodAutoscalerBehavior {
  const both = withMissing(behavior, { scaleUp, scaleDown })
  return withChanged(
    withChanged(both, 'scaleUp', (rules) => withRuleDefaults(rules, scaleUp)),
    'scaleDown',
    (rules) => withRuleDefaults(rules, scaleDown),
  )
}

/** Leaves an empty list of policies, which validation rejects. */
function withRuleDefaults(rules: v2.HPAScalingRules, { policies = [], ...rest }: v2.HPAScalingRules): v2.HPAScalingRules {
  return withMissing(rules, isSentEmpty(rules, 'policies') ? rest : { ...rest, policies })
}

export function withV2Defaults(object: v2.HorizontalPodAutoscaler): v2.HorizontalPodAutoscaler {
  const filled = withMissing<v2.HorizontalPodAutoscalerSpec>(object.spec ?? {}, { minReplicas: 1, metrics: defaultMetrics })
  const spec = withChanged(filled, 'behavior', withBehaviorDefaults)
  return spec === object.spec ? object : { ...object, spec }
}

type Autoscaler = v2.HorizontalPodAutoscaler

/** Without the feature gate, drops the source of container metrics, which validation then rejects, unless the old object uses them. */
function withoutGated(object: Autoscaler, old: Autoscaler | undefined, { gates }: RuleContext): Autoscaler {
  const uses = (candidate: Autoscaler | undefined): boolean =>
    candidate?.spec?.metrics?.some(({ containerResource }) => containerResource !== undefined) ?? false
  if (gates('HPAContainerMetrics') || !uses(object) || uses(old)) return object
  const metrics = object.spec?.metrics?.map(({ containerResource: _, ...metric }) => metric) ?? []
  return { ...object, spec: { ...object.spec, metrics } }
}

const prepareCreate = (object: Autoscaler, context: RuleContext): Autoscaler => ({
  ...withoutGated(object, undefined, context),
  status: {},
})

const prepareUpdate = (next: Autoscaler, old: Autoscaler, context: RuleContext): Autoscaler => ({
  ...withoutGated(next, old, context),
  status: old.status ?? {},
})

export const horizontalPodAutoscaler = defineResource<Autoscaler>({
  group: 'autoscaling',
  kind: 'HorizontalPodAutoscaler',
  resource: 'horizontalpodautoscalers',
  shortNames: ['hpa'],
  categories: ['all'],
  namespaced: true,
  hashedVersion: 'v1',
  versions: [
    {
      name: 'v2',
      schema: v2.horizontalPodAutoscaler,
      stored: true,
      defaults: (object) => withV2Defaults(object),
      fromStored: (object, identity) => roundTripThroughV1(object, identity),
    },
    {
      name: 'v1',
      schema: v1.horizontalPodAutoscaler,
      defaults: (object, { identity }) => withV1Defaults(object, identity),
      toStored: (object, identity) => toV2(object, identity),
      fromStored: (object, identity) => toV1(object, identity),
    },
  ],
  nameProblems: dnsSubdomainProblems,
  fieldAnnotations: conversionAnnotations,
  prepareCreate,
  prepareUpdate,
  validate: (object, { gates }) => validateAutoscaler(object, { gates }),
  validateUpdate: (next, old, { gates }) => validateAutoscaler(next, { gates, old }),
  resetFields: ['status'],
  subresources: [statusSubresource<Autoscaler>({ validateUpdate: (next) => validateAutoscalerStatus(next) })],
  table: { columns: autoscalerColumns, cells: (object, { now }) => autoscalerCells(object, now) },
})

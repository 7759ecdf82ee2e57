// Description of ResourceQuota, LimitRange, PodDisruptionBudget and PriorityClass.

import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import type { LimitRange, PodDisruptionBudget, PriorityClass, ResourceQuota } from '@cluster-apiserver/client/typed/types.js'
import { annotationsEntry, selectorText, textOr, yesNo } from './common-fields.js'
import { block, type Entry } from './description.js'

export const describeQuota = (object: ResourceQuota): readonly Entry[] => [
  ['Scopes', object.spec?.scopes === undefined ? undefined : object.spec.scopes.join(', ')],
  ['', { headers: ['Resource', 'Used', 'Hard'], rows: quotaRows(object).map(([, ...row]) => row), indent: 0 }],
]

export function quotaRows({ metadata, status, spec }: ResourceQuota): readonly (readonly string[])[] {
  const hard = status?.hard ?? spec?.hard ?? {}
  return sortTexts(Object.keys(hard)).map((name) => [metadata?.name ?? '', name, textOr(status?.used?.[name], '0'), String(hard[name])])
}

export const describeLimitRange = (object: LimitRange): readonly Entry[] => [
  ['', { headers: limitHeaders, rows: limitRows(object), indent: 0 }],
]

export const limitHeaders = ['Type', 'Resource', 'Min', 'Max', 'Default Request', 'Default Limit', 'Max Limit/Request Ratio'] as const

export const limitRows = ({ spec }: LimitRange): readonly (readonly string[])[] =>
  (spec?.limits ?? []).flatMap(({ type = '', min = {}, max = {}, default: limit = {}, defaultRequest = {}, maxLimitRequestRatio = {} }) => {
    const columns = [min, max, defaultRequest, limit, maxLimitRequestRatio]
    return [...new Set(columns.flatMap(Object.keys))].map((name) => [type, name, ...columns.map((values) => textOr(values[name], '-'))])
  })

export function describeBudget(object: PodDisruptionBudget): readonly Entry[] {
  const { spec = {}, status = {} } = object
  return [
    ['Min available', spec.minAvailable === undefined ? undefined : String(spec.minAvailable)],
    ['Max unavailable', spec.maxUnavailable === undefined ? undefined : String(spec.maxUnavailable)],
    ['Selector', selectorText(spec.selector)],
    ['Unhealthy Pod Eviction Policy', spec.unhealthyPodEvictionPolicy],
    [
      'Status',
      block(
        [
          ['Allowed disruptions', String(status.disruptionsAllowed ?? 0)],
          ['Current', String(status.currentHealthy ?? 0)],
          ['Desired', String(status.desiredHealthy ?? 0)],
          ['Total', String(status.expectedPods ?? 0)],
        ],
        4,
      ),
    ],
  ]
}

export const describePriorityClass = (object: PriorityClass): readonly Entry[] => [
  ['Value', String(object.value ?? 0)],
  ['GlobalDefault', yesNo(object.globalDefault)],
  ['PreemptionPolicy', textOr(object.preemptionPolicy)],
  ['Description', object.description ?? ''],
  annotationsEntry(object.metadata?.annotations),
]

// Description of HorizontalPodAutoscalers: metrics, targets, behavior, conditions.

import type { HorizontalPodAutoscaler } from '@cluster-apiserver/client/typed/types.js'
import { conditionsEntry, createdEntry, labelEntries, textOr } from './common-fields.js'
import { type Entry, heading } from './description.js'

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
    ['Metrics', '( current / target )'],
    ...(spec.metrics ?? []).map((metric, i): Entry => {
      const [title, value] = metricEntry(metric, status?.currentMetrics?.[i])
      return [`  ${title}`, value]
    }),
    ['Min replicas', textOr(spec.minReplicas, '<unset>')],
    ['Max replicas', String(spec.maxReplicas ?? 0)],
    ...behaviorEntries(spec.behavior),
    [`${target?.kind ?? ''} pods`, `${status?.currentReplicas ?? 0} current / ${status?.desiredReplicas ?? 0} desired`],
    conditionsEntry(status?.conditions),
  ]
}

type Behavior = Spec['behavior']
type Rules = NonNullable<Behavior>['scaleUp']

function behaviorEntries(behavior: Behavior): readonly Entry[] {
  if (behavior === undefined) return []
  const rulesOf = (title: string, rules: Rules): readonly Entry[] =>
    rules === undefined
      ? []
      : [
          [
            title,
            heading([
              [
                'Stabilization Window',
                rules.stabilizationWindowSeconds === undefined ? undefined : { inline: `${rules.stabilizationWindowSeconds} seconds` },
              ],
              ['Select Policy', { inline: rules.selectPolicy ?? 'Max' }],
              [
                'Policies',
                {
                  lines: (rules.policies ?? []).map(({ type, value, periodSeconds }) => [
                    `- Type: ${type ?? ''}`,
                    `Value: ${value ?? 0}`,
                    `Period: ${periodSeconds ?? 0} seconds`,
                  ]),
                },
              ],
            ]),
          ],
        ]
  return [['Behavior', heading([...rulesOf('Scale Up', behavior.scaleUp), ...rulesOf('Scale Down', behavior.scaleDown)])]]
}

interface Amount {
  readonly averageUtilization?: number
  readonly averageValue?: unknown
  readonly value?: unknown
}

function metricEntry(metric: Metric, measured: Measured | undefined): Entry {
  const { resource, containerResource, pods, object, external } = metric
  const current = measured?.type === metric.type ? measured : undefined
  if (resource !== undefined) {
    const share = resource.target?.averageUtilization === undefined ? '' : '  (as a percentage of request)'
    return [`resource ${resource.name ?? ''} on pods${share}`, amounts(current?.resource?.current, resource.target)]
  }
  if (containerResource !== undefined)
    return [
      `resource ${containerResource.name ?? ''} of container "${containerResource.container ?? ''}"`,
      amounts(current?.containerResource?.current, containerResource.target),
    ]
  if (pods !== undefined) return [`"${pods.metric?.name ?? ''}" on pods`, amounts(current?.pods?.current, pods.target)]
  if (object !== undefined) {
    const { kind = '', name = '' } = object.describedObject ?? {}
    return [
      `"${object.metric?.name ?? ''}" on ${kind}/${name}${targetWord(object.target)}`,
      amounts(current?.object?.current, object.target),
    ]
  }
  return [`"${external?.metric?.name ?? ''}"${targetWord(external?.target)}`, amounts(current?.external?.current, external?.target)]
}

const targetWord = ({ averageValue }: Amount = {}): string => (averageValue === undefined ? ' (target value)' : ' (target average value)')

const amounts = (current: Amount | undefined, target: Amount | undefined): string =>
  `${formatQuantity(current) ?? '<unknown>'} / ${formatQuantity(target) ?? '<auto>'}`

function formatQuantity({ averageUtilization, averageValue, value }: Amount = {}): string | undefined {
  if (averageUtilization !== undefined)
    return averageValue === undefined ? `${averageUtilization}%` : `${averageUtilization}% (${String(averageValue)})`
  if (averageValue !== undefined) return String(averageValue)
  return value === undefined ? undefined : String(value)
}

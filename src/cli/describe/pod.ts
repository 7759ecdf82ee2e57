// Pods and templates of pods.

import type { Pod } from '../../client/typed/types.js'
import { conditionsEntry, controllerEntry, deletionEntries, labelEntries, textOr, timeText } from './common.js'
import { containerEntries, volumeEntries } from './containers.js'
import { block, type Entry, listOrNone, pairsOf } from './entry.js'

export function describePod(pod: Pod): readonly Entry[] {
  const { spec = {}, status = {} } = pod
  const going = deletionEntries(pod)
  return [
    ['Priority', String(spec.priority ?? 0)],
    ['Priority Class Name', spec.priorityClassName],
    ['Service Account', textOr(spec.serviceAccountName)],
    ['Node', spec.nodeName === undefined || spec.nodeName === '' ? '<none>' : `${spec.nodeName}/${status.hostIP ?? ''}`],
    ['Start Time', status.startTime === undefined ? undefined : timeText(status.startTime)],
    ...labelEntries(pod),
    ...(going.length > 0 ? going : ([['Status', status.phase ?? '']] as const)),
    ['Reason', status.reason],
    ['Message', status.message],
    ['IP', status.podIP ?? ''],
    ['IPs', listOrNone((status.podIPs ?? []).map(({ ip }) => ip ?? ''))],
    controllerEntry(pod),
    ...containerEntries('Init Containers', spec.initContainers, status.initContainerStatuses),
    ...containerEntries('Containers', spec.containers, status.containerStatuses),
    conditionsEntry(status.conditions),
    ...volumeEntries(spec.volumes),
    ['QoS Class', textOr(status.qosClass)],
    ['Node-Selectors', pairsOf(spec.nodeSelector)],
    ['Tolerations', listOrNone((spec.tolerations ?? []).map(tolerationText))],
  ]
}

type PodSpec = NonNullable<Pod['spec']>

function tolerationText({
  key = '',
  operator,
  value = '',
  effect = '',
  tolerationSeconds,
}: NonNullable<PodSpec['tolerations']>[number]): string {
  const what = `${key}${value === '' ? '' : `=${value}`}${effect === '' ? '' : `:${effect}`}`
  return `${what}${operator === 'Exists' ? ' op=Exists' : ''}${tolerationSeconds === undefined ? '' : ` for ${tolerationSeconds}s`}`
}

export interface Template {
  readonly metadata?: Pod['metadata']
  readonly spec?: PodSpec
}

export const templateEntry = ({ metadata = {}, spec = {} }: Template = {}): Entry => [
  'Pod Template',
  block([
    ['Labels', pairsOf(metadata.labels)],
    ['Annotations', metadata.annotations === undefined ? undefined : pairsOf(metadata.annotations, ': ')],
    ['Service Account', spec.serviceAccountName],
    ...containerEntries('Init Containers', spec.initContainers),
    ...containerEntries('Containers', spec.containers),
    ...volumeEntries(spec.volumes),
  ]),
]

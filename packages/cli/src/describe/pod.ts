// Description of pods and pod templates.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { Pod } from '@cluster-apiserver/client/typed/types.js'
import { annotationsEntry, controllerEntry, deletionEntries, labelEntries, timeText } from './common-fields.js'
import { containerEntries } from './containers.js'
import { block, type Entry, type Grid, listOrNone, pairsOf } from './description.js'
import { volumeEntries } from './pod-volumes.js'

export function describePod(pod: Pod): readonly Entry[] {
  const { spec = {}, status = {} } = pod
  const terminating = deletionEntries(pod)
  return [
    ['Priority', spec.priority === undefined ? undefined : String(spec.priority)],
    ['Priority Class Name', spec.priorityClassName],
    ['Runtime Class Name', spec.runtimeClassName],
    ['Service Account', spec.serviceAccountName || undefined],
    ['Node', spec.nodeName === undefined || spec.nodeName === '' ? '<none>' : `${spec.nodeName}/${status.hostIP ?? ''}`],
    ['Start Time', status.startTime === undefined ? undefined : timeText(status.startTime)],
    ...labelEntries(pod),
    ...(terminating.length > 0 ? terminating : ([['Status', status.phase ?? '']] as const)),
    ['Reason', status.reason || undefined],
    ['Message', status.message || undefined],
    ['IP', status.podIP ?? ''],
    ['IPs', block((status.podIPs ?? []).map(({ ip }): Entry => ['IP', ip ?? '']))],
    controllerEntry(pod),
    ['NominatedNodeName', status.nominatedNodeName || undefined],
    ...containerEntries('Init Containers', spec.initContainers, { statuses: status.initContainerStatuses, pod }),
    ...containerEntries('Containers', spec.containers, { statuses: status.containerStatuses, pod }),
    ...containerEntries('Ephemeral Containers', spec.ephemeralContainers as never, { statuses: status.ephemeralContainerStatuses, pod }),
    ['Conditions', podConditions(status.conditions)],
    ...volumeEntries(spec.volumes),
    ['QoS Class', status.qosClass],
    ['Node-Selectors', pairsOf(spec.nodeSelector)],
    ['Tolerations', listOrNone((spec.tolerations ?? []).toSorted((a, b) => compareText(a.key ?? '', b.key ?? '')).map(tolerationText))],
  ]
}

function podConditions(conditions: NonNullable<Pod['status']>['conditions']): Grid | undefined {
  if (conditions === undefined || conditions.length === 0) return undefined
  const rows = conditions.map(({ type = '', status = '' }) => [`${type} `, `${status} `])
  return { headers: ['Type', 'Status'], rows, rules: [] }
}

type PodSpec = NonNullable<Pod['spec']>

function tolerationText({
  key = '',
  operator,
  value = '',
  effect = '',
  tolerationSeconds,
}: NonNullable<PodSpec['tolerations']>[number]): string {
  const match = `${key}${value === '' ? '' : `=${value}`}${effect === '' ? '' : `:${effect}`}`
  const exists = operator === 'Exists' && value === '' ? `${match === '' ? '' : ' '}op=Exists` : ''
  return `${match}${exists}${tolerationSeconds === undefined ? '' : ` for ${tolerationSeconds}s`}`
}

export interface Template {
  readonly metadata?: Pod['metadata']
  readonly spec?: PodSpec
}

export const templateEntry = ({ metadata = {}, spec = {} }: Template = {}): Entry => [
  'Pod Template',
  block([
    ['Labels', pairsOf(metadata.labels)],
    ...(Object.keys(metadata.annotations ?? {}).length === 0 ? [] : [annotationsEntry(metadata.annotations)]),
    ['Service Account', spec.serviceAccountName || undefined],
    ...containerEntries('Init Containers', spec.initContainers),
    ...containerEntries('Containers', spec.containers),
    ...volumeEntries(spec.volumes, true),
    ['Priority Class Name', spec.priorityClassName || undefined],
  ]),
]

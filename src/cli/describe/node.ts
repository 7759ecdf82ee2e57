// Nodes, with the pods on them and what these have asked for.

import { sortTexts } from '../../base/text-order.js'
import type { Node, Pod } from '../../client/typed/types.js'
import { ageText } from '../output/age.js'
import { amountOf, amountText } from './amounts.js'
import { conditionsEntry, createdEntry, labelEntries, quantities, timeText, yesNo } from './common.js'
import type { DescribeContext } from './context.js'
import { block, type Entry, heading, listOrNone, none } from './entry.js'

export async function describeNode(object: Node, context: DescribeContext): Promise<readonly Entry[]> {
  const { metadata, spec = {}, status = {} } = object
  const pods = await context.list<Pod>('pods', undefined, {
    fieldSelector: `spec.nodeName=${metadata?.name ?? ''},status.phase!=Succeeded,status.phase!=Failed`,
  })
  const [lease] =
    (await context.list<Lease>('leases', await context.prefixed('node-lease'), {
      fieldSelector: `metadata.name=${metadata?.name ?? ''}`,
    })) ?? []
  return [
    ['Roles', rolesOf(metadata?.labels)],
    ...labelEntries(object),
    createdEntry(object),
    ['Taints', listOrNone((spec.taints ?? []).map(({ key, value = '', effect }) => `${key}${value === '' ? '' : `=${value}`}:${effect}`))],
    ['Unschedulable', yesNo(spec.unschedulable)],
    ['Lease', lease === undefined ? undefined : heading(leaseEntries(lease))],
    conditionsEntry(status.conditions, ['Type', 'Status', 'LastHeartbeatTime', 'LastTransitionTime', 'Reason', 'Message']),
    ['Addresses', block((status.addresses ?? []).map(({ type, address }) => [type ?? '', address ?? '']))],
    ['Capacity', quantities(status.capacity)],
    ['Allocatable', quantities(status.allocatable)],
    [
      'System Info',
      status.nodeInfo === undefined
        ? undefined
        : heading(infoTitles.map(([field, title]): Entry => [title, status.nodeInfo?.[field] ?? ''])),
    ],
    ['PodCIDR', spec.podCIDR || undefined],
    ['PodCIDRs', spec.podCIDRs === undefined || spec.podCIDRs.length === 0 ? undefined : spec.podCIDRs.join(',')],
    ['ProviderID', spec.providerID || undefined],
    ...(pods === undefined ? [] : podEntries(pods, object)),
  ]
}

interface Lease {
  readonly metadata?: { readonly name?: string }
  readonly spec?: { readonly holderIdentity?: string; readonly acquireTime?: unknown; readonly renewTime?: unknown }
}

const leaseEntries = ({ spec }: Lease): readonly Entry[] => [
  ['HolderIdentity', spec?.holderIdentity ?? '<unset>'],
  ['AcquireTime', timeText(spec?.acquireTime)],
  ['RenewTime', timeText(spec?.renewTime)],
]

/** Labels say so. */
function rolesOf(labels: { readonly [name: string]: string } = {}): string {
  const roles = Object.entries(labels).flatMap(([name, value]) => {
    const role = /^node-role\.[^/]+\/(.+)$/.exec(name)?.[1]
    return role !== undefined ? [role] : name.endsWith('/role') && value !== '' ? [value] : []
  })
  return roles.length === 0 ? none : sortTexts(roles).join(',')
}

const infoTitles = [
  ['machineID', 'Machine ID'],
  ['systemUUID', 'System UUID'],
  ['bootID', 'Boot ID'],
  ['kernelVersion', 'Kernel Version'],
  ['osImage', 'OS Image'],
  ['operatingSystem', 'Operating System'],
  ['architecture', 'Architecture'],
  ['containerRuntimeVersion', 'Container Runtime Version'],
  ['kubeletVersion', 'Kubelet Version'],
  ['kubeProxyVersion', 'Kube-Proxy Version'],
] as const

const shownResources = ['cpu', 'memory', 'ephemeral-storage'] as const

function podEntries(pods: readonly Pod[], { status = {} }: Node): readonly Entry[] {
  const room = (name: string): number => amountOf(status.allocatable?.[name] ?? status.capacity?.[name])
  const share = (name: string, amount: number): string =>
    `${amountText(name, amount)} (${room(name) === 0 ? 0 : Math.trunc((amount / room(name)) * 100)}%)`
  const sums = pods.map((pod) => ({ pod, requests: sumOf(pod, 'requests'), limits: sumOf(pod, 'limits') }))
  const rows = sums.map(({ pod: { metadata }, requests, limits }) => [
    metadata?.namespace ?? '',
    metadata?.name ?? '',
    '',
    ...(['cpu', 'memory'] as const).flatMap((name) => [share(name, requests(name)), share(name, limits(name))]),
    ageText(Date.now() - Date.parse(String(metadata?.creationTimestamp))),
  ])
  const total = (name: string, of: 'requests' | 'limits'): number => sums.reduce((sum, one) => sum + one[of](name), 0)
  const headers = ['Namespace', 'Name', '', 'CPU Requests', 'CPU Limits', 'Memory Requests', 'Memory Limits', 'Age']
  return [
    ['Non-terminated Pods', `(${pods.length} in total)`],
    ['', { headers, rows }],
    [
      'Allocated resources',
      {
        lines: [
          ['(Total limits may be over 100 percent, i.e., overcommitted.)'],
          ['Resource', 'Requests', 'Limits'],
          ['--------', '--------', '------'],
          ...shownResources.map((name) => [name, share(name, total(name, 'requests')), share(name, total(name, 'limits'))]),
        ],
      },
    ],
  ]
}

/** Those that run before the others share what these have asked for. */
function sumOf({ spec = {} }: Pod, of: 'requests' | 'limits'): (name: string) => number {
  return (name) => {
    const amounts = (containers: typeof spec.containers): readonly number[] =>
      (containers ?? []).map(({ resources }) => amountOf(resources?.[of]?.[name]))
    const together = amounts(spec.containers).reduce((sum, one) => sum + one, 0)
    return Math.max(together, ...amounts(spec.initContainers)) + amountOf(spec.overhead?.[name])
  }
}

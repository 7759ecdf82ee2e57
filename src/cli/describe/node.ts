// Nodes, with the pods on them.

import type { Node, Pod } from '../../client/typed/types.js'
import { ageText } from '../output/age.js'
import { conditionsEntry, createdEntry, labelEntries, quantities, yesNo } from './common.js'
import type { DescribeContext } from './context.js'
import { block, type Entry, grid, listOrNone } from './entry.js'

export async function describeNode(object: Node, context: DescribeContext): Promise<readonly Entry[]> {
  const { metadata, spec = {}, status = {} } = object
  const pods = await context.list<Pod>('pods', undefined, {
    fieldSelector: `spec.nodeName=${metadata?.name ?? ''},status.phase!=Succeeded,status.phase!=Failed`,
  })
  return [
    ...labelEntries(object),
    createdEntry(object),
    ['Taints', listOrNone((spec.taints ?? []).map(({ key, value = '', effect }) => `${key}${value === '' ? '' : `=${value}`}:${effect}`))],
    ['Unschedulable', yesNo(spec.unschedulable)],
    conditionsEntry(status.conditions, true),
    ['Addresses', block((status.addresses ?? []).map(({ type, address }) => [type ?? '', address ?? '']))],
    ['Capacity', quantities(status.capacity)],
    ['Allocatable', quantities(status.allocatable)],
    [
      'System Info',
      status.nodeInfo === undefined
        ? undefined
        : block(Object.entries(status.nodeInfo).map(([name, value]): Entry => [name, String(value)])),
    ],
    ['PodCIDR', spec.podCIDR],
    ['PodCIDRs', spec.podCIDRs?.join(',')],
    ['ProviderID', spec.providerID],
    ['Non-terminated Pods', pods === undefined ? undefined : grid(['Namespace', 'Name', 'Phase', 'Age'], pods.map(podRow))],
  ]
}

const podRow = ({ metadata, status }: Pod): readonly string[] => [
  metadata?.namespace ?? '',
  metadata?.name ?? '',
  status?.phase ?? '',
  ageText(Date.now() - Date.parse(String(metadata?.creationTimestamp))),
]

// Node IPAM controller: pod ranges of nodes, if --allocate-node-cidrs is set.

import type { Node } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { partsOf } from '../../../objects/object-keys.js'
import { KeyedController } from '../../framework/controller.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { readAll, readObject, type WorkloadParts, workloadBackOff } from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'
import { freeSubnet, type PodRange } from './pod-ranges.js'

export const nodeIpam = (parts: WorkloadParts): Controller => {
  const writer = new Writer(parts, 'node-controller', 'cidrAllocator')
  const ranges = parts.flags?.podRanges ?? []
  return new KeyedController(parts, {
    name: 'node_ipam',
    // One at a time: two runs would choose the same range.
    concurrency: 1,
    backOff: workloadBackOff,
    sources: (catalog) => {
      const nodes = catalog.find('', 'v1', 'nodes')
      if (nodes === undefined || ranges.length === 0) return []
      return [
        {
          resource: nodes,
          namespace: '',
          // Deletions queue nothing: a node without a range is tried again with back-off.
          keyOf: ({ key }, type) => (type === 'ADDED' || type === 'LISTED' ? partsOf(nodes, key).name : undefined),
        },
      ]
    },
    work: (name) => assignRanges(parts, writer, { name, ranges }),
  })
}

async function assignRanges(
  parts: WorkloadParts,
  writer: Writer,
  { name, ranges }: { readonly name: string; readonly ranges: readonly PodRange[] },
): Promise<'again' | undefined> {
  const nodes = parts.catalogs.current.find('', 'v1', 'nodes')
  const node = nodes === undefined ? undefined : readObject<Node>(parts, { resource: nodes, namespace: '', name })
  if (nodes === undefined || node === undefined || (node.spec?.podCIDRs ?? []).length > 0) return undefined
  const used = [...readAll<Node>(parts, nodes, '')].flatMap(({ spec }) => spec?.podCIDRs ?? [])
  used.push(...(parts.flags?.serviceRanges ?? []))
  const podCIDRs = ranges.map((range) => freeSubnet(range, used))
  if (podCIDRs.includes(undefined)) {
    await writer.event(nodes, node, {
      type: 'Normal',
      reason: 'CIDRNotAvailable',
      message: `Node ${name} status is now: CIDRNotAvailable`,
    })
    return 'again'
  }
  await writer.patch(nodes, node, { type: 'merge', patch: { spec: { podCIDR: podCIDRs[0], podCIDRs } } })
  return undefined
}

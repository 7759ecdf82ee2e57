// How a table shows nodes: whether they are ready, what they are for, and what runs on them.

import type { RuleContext } from '../../api/definition.js'
import { ageOf } from '../../api/human-duration.js'
import type { Identity } from '../../api/identity.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { sortTexts } from '../../base/text-order.js'
import type { Node } from './v1.schema.js'

const unknown = '<unknown>'

function describeStatus({ spec, status }: Node): string {
  const ready = status?.conditions?.findLast(({ type }) => type === 'Ready')?.status
  const state = ready === undefined ? 'Unknown' : ready === 'True' ? 'Ready' : 'NotReady'
  return spec?.unschedulable === true ? `${state},SchedulingDisabled` : state
}

/** Roles are labels: one each under a common prefix, or a single one of old. */
function describeRoles({ metadata }: Node, identity: Identity): string {
  const prefix = identity.label('', 'node-role')
  const single = identity.label('role')
  const roles = Object.entries(metadata?.labels ?? {}).flatMap(([key, value]) =>
    key.startsWith(prefix) ? [key.slice(prefix.length)] : key === single ? [value] : [],
  )
  return sortTexts([...new Set(roles)].filter((role) => role !== '')).join(',') || '<none>'
}

const addressOf = ({ status }: Node, type: string): string =>
  status?.addresses?.find((address) => address.type === type)?.address ?? '<none>'

export const nodeTable = {
  columns: [
    nameColumn,
    textColumn('Status', 'Whether the node is ready and takes pods.'),
    textColumn('Roles', 'What the node is for.'),
    ageColumn,
    textColumn('Version', 'Version of the agent on the node.'),
    textColumn('Internal-IP', 'Address within the cluster.', 1),
    textColumn('External-IP', 'Address outside of the cluster.', 1),
    textColumn('OS-Image', 'Operating system.', 1),
    textColumn('Kernel-Version', 'Version of the kernel.', 1),
    textColumn('Container-Runtime', 'What runs containers, and its version.', 1),
  ],
  cells: (node: Node, { now, identity }: RuleContext): readonly unknown[] => {
    const { metadata, status: { nodeInfo = {} } = {} } = node
    return [
      metadata?.name ?? '',
      describeStatus(node),
      describeRoles(node, identity),
      ageOf(metadata?.creationTimestamp, now),
      nodeInfo.kubeletVersion ?? '',
      addressOf(node, 'InternalIP'),
      addressOf(node, 'ExternalIP'),
      nodeInfo.osImage || unknown,
      nodeInfo.kernelVersion || unknown,
      nodeInfo.containerRuntimeVersion || unknown,
    ]
  },
}

// Which pods that found no node may find one after a change.

import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import type { Node } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { nodeAffinity } from './plugins/node-affinity.js'
import { nodePorts } from './plugins/node-ports.js'
import { nodeResourcesFit } from './plugins/node-resources-fit.js'
import { nodeUnschedulable } from './plugins/node-unschedulable.js'
import type { Cluster, PendingPod } from './plugins/plugin.js'
import { taintToleration } from './plugins/taint-toleration.js'

/** A change of a node itself wakes the pods that the node could take now. */
export type Change = 'podAdded' | 'podGone' | 'nodeGone' | 'claim' | 'volume' | 'storageClass' | 'csi'

const volumeLimits: readonly Change[] = ['podGone', 'csi', 'claim', 'volume']

/** Changes that may help a pod that a plugin refused. `couldTake` checks changed nodes for the other plugins. */
const changesByPlugin: ReadonlyMap<string, readonly Change[]> = new Map([
  ['VolumeRestrictions', ['podGone', 'claim']],
  ['EBSLimits', volumeLimits],
  ['GCEPDLimits', volumeLimits],
  ['AzureDiskLimits', volumeLimits],
  ['NodeVolumeLimits', volumeLimits],
  ['VolumeBinding', ['claim', 'volume', 'storageClass', 'csi']],
  ['VolumeZone', ['claim', 'volume', 'storageClass']],
  ['PodTopologySpread', ['podAdded', 'podGone', 'nodeGone']],
  ['InterPodAffinity', ['podAdded', 'podGone']],
])

export function mayHelp(plugins: ReadonlySet<string>, changes: ReadonlySet<Change>): boolean {
  if (changes.size === 0) return false
  if (plugins.has('*')) return true
  for (const plugin of plugins) if (changesByPlugin.get(plugin)?.some((change) => changes.has(change)) === true) return true
  return false
}

const simpleFilters = [nodeUnschedulable, taintToleration, nodeAffinity, nodePorts, nodeResourcesFit]

/** True if one of the nodes could take the pod as far as the node alone decides. */
export function couldTake(pending: PendingPod, cluster: Cluster, nodeNames: ReadonlySet<string>): boolean {
  const filters = simpleFilters.map(({ prepare }) => prepare(pending, cluster)?.filter)
  for (const name of nodeNames) {
    const node = cluster.node(name)
    if (node !== undefined && filters.every((filter) => filter?.(node) === undefined)) return true
  }
  return false
}

/** False for changes that no filter or score reads, such as heartbeats. */
export const isNodeChanged = (before: Node, after: Node): boolean =>
  before.spec?.unschedulable !== after.spec?.unschedulable ||
  !sameValue(before.status?.allocatable, after.status?.allocatable) ||
  !sameValue(before.metadata?.labels, after.metadata?.labels) ||
  !sameValue(before.spec?.taints, after.spec?.taints) ||
  !sameValue(before.status?.images, after.status?.images)

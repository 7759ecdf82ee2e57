// Health of nodes: a node whose heartbeats stop for the grace period gets conditions of status Unknown.

import type { Node } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'

/** Defaults of --node-monitor-period, --node-monitor-grace-period and --node-startup-grace-period of kube-controller-manager. */
export const monitorPeriodMs = 5000
const graceMs = 40_000
const startupGraceMs = 60_000

/** The last heartbeat that was seen: of the Ready condition and of the Lease. */
export interface NodeProbe {
  readonly heartbeat: string
  readonly renewTime: string
  /** When one of them changed, by the clock of this server: clocks of nodes may differ. */
  readonly atMs: number
}

type NodeCondition = NonNullable<NonNullable<Node['status']>['conditions']>[number]

export const readyConditionOf = ({ status }: Node): NodeCondition | undefined => status?.conditions?.find(({ type }) => type === 'Ready')

/** A node that never reported counts from its creation. */
export function probeOf(
  node: Node,
  renewTime: string,
  { before, nowMs }: { readonly before: NodeProbe | undefined; readonly nowMs: number },
): NodeProbe {
  const ready = readyConditionOf(node)
  const heartbeat = ready === undefined ? '' : `at ${ready.lastHeartbeatTime ?? ''}`
  if (before !== undefined && before.heartbeat === heartbeat && before.renewTime === renewTime) return before
  const hasNeverReported = before === undefined && ready === undefined && renewTime === ''
  return { heartbeat, renewTime, atMs: hasNeverReported ? Date.parse(node.metadata?.creationTimestamp ?? '') || nowMs : nowMs }
}

export const isSilent = (node: Node, { atMs }: NodeProbe, nowMs: number): boolean =>
  nowMs > atMs + (readyConditionOf(node) === undefined ? startupGraceMs : graceMs)

const watchedConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']

/** The conditions of a silent node; undefined if they say so already. */
export function unknownConditions({ metadata, status }: Node, nowMs: number): readonly NodeCondition[] | undefined {
  const conditions = [...(status?.conditions ?? [])]
  const lastTransitionTime = timeOf(nowMs)
  let isChanged = false
  for (const type of watchedConditions) {
    const at = conditions.findIndex((condition) => condition.type === type)
    const before = conditions[at]
    if (before?.status === 'Unknown') continue
    isChanged = true
    if (before === undefined) {
      const { creationTimestamp } = metadata ?? {}
      conditions.push({
        type,
        status: 'Unknown',
        reason: 'NodeStatusNeverUpdated',
        message: 'Kubelet never posted node status.',
        ...(creationTimestamp === undefined ? {} : { lastHeartbeatTime: creationTimestamp }),
        lastTransitionTime,
      })
    } else
      conditions[at] = {
        ...before,
        status: 'Unknown',
        reason: 'NodeStatusUnknown',
        message: 'Kubelet stopped posting node status.',
        lastTransitionTime,
      }
  }
  return isChanged ? conditions : undefined
}

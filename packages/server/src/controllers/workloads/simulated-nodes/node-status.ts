// Status of a simulated node: capacity, addresses and conditions, as a kubelet reports them.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { Node, NodeStatus } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { annotationsOf, defaultCapacity } from './node-template.js'

type NodeCondition = NonNullable<NodeStatus['conditions']>[number]

/** What the simulation knows of a node between two runs. */
export interface SimulatedNode {
  readonly hostIP: string
  readonly podCidr: string | undefined
  /** The kubelet does nothing: it renews no lease, writes no status and runs no pods. */
  readonly isSilent: boolean
}

/** `Silent`, `NotReady` or the type of a condition; empty: the node has no failure. */
export const failureOf = ({ metadata }: Node, identity: Identity): string => metadata?.annotations?.[annotationsOf(identity).failure] ?? ''

export const isSimulated = ({ metadata }: Node, identity: Identity): boolean =>
  metadata?.annotations?.[annotationsOf(identity).node] === 'true'

interface StatusInput {
  readonly node: Node
  readonly identity: Identity
  readonly hostIP: string
  readonly nowMs: number
  /** Renews the heartbeat times even if nothing changed. */
  readonly isHeartbeat: boolean
}

/** Undefined if there is nothing to write. */
export function nodeStatusOf(input: StatusInput): NodeStatus | undefined {
  const { node, hostIP, isHeartbeat } = input
  const { metadata, status = {} } = node
  const conditions = conditionsOf(input)
  const capacity = { ...defaultCapacity, ...status.capacity }
  const isReported = status.addresses !== undefined && status.allocatable !== undefined
  if (isReported && conditions === status.conditions && !isHeartbeat) return undefined
  return {
    ...status,
    capacity,
    allocatable: { ...capacity, ...status.allocatable },
    conditions: conditions.map((condition) => (isOwn(condition) ? { ...condition, lastHeartbeatTime: timeOf(input.nowMs) } : condition)),
    addresses: [
      { type: 'InternalIP', address: hostIP },
      { type: 'Hostname', address: metadata?.name ?? '' },
    ],
    nodeInfo: status.nodeInfo?.kubeletVersion ? status.nodeInfo : nodeInfoOf(metadata?.uid ?? ''),
  }
}

const ownConditions = {
  MemoryPressure: [
    'KubeletHasInsufficientMemory',
    'KubeletHasSufficientMemory',
    'kubelet has insufficient memory available',
    'kubelet has sufficient memory available',
  ],
  DiskPressure: ['KubeletHasDiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has disk pressure', 'kubelet has no disk pressure'],
  PIDPressure: [
    'KubeletHasInsufficientPID',
    'KubeletHasSufficientPID',
    'kubelet has insufficient PID available',
    'kubelet has sufficient PID available',
  ],
} as const

const isOwn = ({ type = '' }: NodeCondition): boolean => type === 'Ready' || Object.hasOwn(ownConditions, type)

/** Returns the same list if nothing changed. */
function conditionsOf({ node, identity, nowMs }: StatusInput): readonly NodeCondition[] {
  const failure = failureOf(node, identity)
  const before = node.status?.conditions ?? []
  const wanted: readonly NodeCondition[] = [
    ...Object.entries(ownConditions).map(([type, [bad, good, badMessage, goodMessage]]) =>
      type === failure
        ? { type, status: 'True', reason: bad, message: badMessage }
        : { type, status: 'False', reason: good, message: goodMessage },
    ),
    failure === 'NotReady'
      ? { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: 'container runtime is down (simulated)' }
      : { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
  ]
  const own = wanted.map((condition) => {
    const found = before.find(({ type }) => type === condition.type)
    const isSameStatus = found?.status === condition.status
    if (found !== undefined && isSameStatus && found.reason === condition.reason) return found
    return { ...condition, lastTransitionTime: (isSameStatus ? found?.lastTransitionTime : undefined) ?? timeOf(nowMs) }
  })
  if (own.every((condition) => before.includes(condition))) return before
  return [...before.filter((condition) => !isOwn(condition)), ...own]
}

const nodeInfoOf = (uid: string): NonNullable<NodeStatus['nodeInfo']> => ({
  machineID: uid.replaceAll('-', ''),
  systemUUID: uid,
  bootID: uid,
  kernelVersion: 'simulated',
  osImage: 'Simulated',
  containerRuntimeVersion: 'simulated://1.0.0',
  kubeletVersion: 'v1.26.8',
  kubeProxyVersion: 'v1.26.8',
  operatingSystem: 'linux',
  architecture: 'amd64',
})

// Interface of the scheduler's plugins: functions of a pod and the cluster. Functions that read the pods of all nodes yield to the event loop.

import type { FeatureGates } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { CompiledLabelSelector, Labels } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { CSIDriver, CSINode, CSIStorageCapacity, StorageClass } from '@cluster-apiserver/api/resources/storage/v1.schema.js'
import type { NodeState } from '../node-state.js'
import type { PodShape } from '../pod-shape.js'

export interface PendingPod {
  readonly key: string
  readonly pod: Pod
  readonly shape: PodShape
}

/** Objects of volumes, read from the store when a pod with claims is judged. */
export interface VolumeObjects {
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined
  volume(name: string): PersistentVolume | undefined
  volumesOfClass(className: string): readonly PersistentVolume[]
  storageClass(name: string): StorageClass | undefined
  csiNode(name: string): CSINode | undefined
  csiDriver(name: string): CSIDriver | undefined
  storageCapacities(): readonly CSIStorageCapacity[]
  /** True if another pod that is being bound takes this volume. */
  isReserved(volumeName: string): boolean
}

export interface Cluster {
  /** Existing nodes by name. */
  readonly nodes: readonly NodeState[]
  node(name: string): NodeState | undefined
  /** Shapes of all pods on nodes: far fewer than pods. */
  placedShapes(): Iterable<PodShape>
  readonly identity: Identity
  readonly gates: FeatureGates
  readonly volumes: VolumeObjects
  /** False if no placed pod has affinity or anti-affinity to pods. */
  readonly hasAffinities: boolean
  namespaceLabels(namespace: string): Labels | undefined
  namespacesMatching(selector: CompiledLabelSelector): readonly string[]
  /** Selector of the Services and of the controller that the pod belongs to; undefined: none. */
  groupSelector(pod: Pod): CompiledLabelSelector | undefined
}

export interface Refusal {
  readonly reasons: readonly string[]
  /** No eviction of pods can change it. */
  readonly isFinal: boolean
}

export type NodeFilter = (node: NodeState) => Refusal | undefined

/** What a plugin says about a pod before it sees a node. */
export interface Preparation {
  /** The pod fits nowhere. */
  readonly refused?: string
  /** The pod cannot be judged. */
  readonly failed?: string
  readonly nodeNames?: ReadonlySet<string>
  readonly filter?: NodeFilter
}

type NowOrLater<T> = T | Promise<T>

export interface Plugin {
  readonly name: string
  /** Undefined: every node passes. */
  readonly prepare?: (pod: PendingPod, cluster: Cluster, budget: TurnBudget) => NowOrLater<Preparation | undefined>
  readonly weight?: number
  /** Score from 0 to 100 of each node; undefined: all the same. */
  readonly score?: (
    pod: PendingPod,
    cluster: Cluster,
    nodes: readonly NodeState[],
    budget: TurnBudget,
  ) => NowOrLater<readonly number[] | undefined>
}

/** A plugin that decides by the pod and one node alone. */
export interface NodePlugin extends Plugin {
  readonly prepare: (pod: PendingPod, cluster: Cluster) => Preparation | undefined
}

export const maxScore = 100

export const refuse = (reason: string): Refusal => ({ reasons: [reason], isFinal: false })
export const refuseFinally = (reason: string): Refusal => ({ reasons: [reason], isFinal: true })

/** Scales to 0 to 100 by the highest; reversed, the lowest is best. */
export function scaledToHighest(scores: readonly number[], isReversed = false): readonly number[] {
  const highest = Math.max(0, ...scores)
  if (highest === 0) return scores.map(() => (isReversed ? maxScore : 0))
  return scores.map((score) => {
    const scaled = Math.trunc((maxScore * score) / highest)
    return isReversed ? maxScore - scaled : scaled
  })
}

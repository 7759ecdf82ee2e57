// Decides which pods a DaemonSet creates and deletes: one per eligible node, replaced by the update strategy; counts of its status.

import type { DaemonSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { withoutZeros } from '../kit/conditions.js'
import { resolveIntOrPercent } from '../kit/int-or-percent.js'
import { isAvailablePod, isReadyPod } from '../kit/pod-state.js'
import { isTerminating } from '../kit/workload-parts.js'
import { type Eligibility, hashLabel, isUnscheduled, isUpdatedPod, sortPods } from './daemon-pods.js'

export interface PlanInput {
  readonly set: DaemonSet
  readonly nodes: ReadonlyMap<string, Eligibility>
  readonly podsByNode: ReadonlyMap<string, readonly Pod[]>
  readonly hash: string
  readonly nowMs: number
}

export interface Deletion {
  readonly pod: Pod
  readonly node: string
  /** Set if the pod finished; an event reports it. */
  readonly finished?: 'Failed' | 'Succeeded'
}

export interface DaemonPlan {
  /** Names of nodes. */
  readonly create: readonly string[]
  readonly remove: readonly Deletion[]
}

const ofRollingUpdate = (value: number | string | undefined, { spec }: DaemonSet, nodes: number): number =>
  spec?.updateStrategy?.type === 'RollingUpdate' ? resolveIntOrPercent(value, nodes, 'up') : 0

const maxSurgeOf = (set: DaemonSet, nodes: number): number => ofRollingUpdate(set.spec?.updateStrategy?.rollingUpdate?.maxSurge, set, nodes)

const maxUnavailableOf = (set: DaemonSet, nodes: number): number =>
  ofRollingUpdate(set.spec?.updateStrategy?.rollingUpdate?.maxUnavailable, set, nodes)

const isAvailable = ({ set, nowMs }: PlanInput, pod: Pod): boolean => isAvailablePod(pod, set.spec?.minReadySeconds ?? 0, nowMs)

/** Missing and superfluous pods. `isBackedOff`: true while failed pods of a node must not be deleted yet. */
export function planNodes(input: PlanInput, isBackedOff: (node: string) => boolean): DaemonPlan {
  const create: string[] = []
  const remove: Deletion[] = []
  const { set, nodes, podsByNode } = input
  const isSurging = maxSurgeOf(set, 1) > 0
  for (const [node, { shouldRun, shouldContinue }] of nodes) {
    const pods = podsByNode.get(node)
    if (pods === undefined) {
      if (shouldRun) create.push(node)
      continue
    }
    const living = pods.filter((pod) => !isTerminating(pod))
    if (!shouldContinue) {
      remove.push(...living.map((pod) => ({ pod, node })))
      continue
    }
    const running: Pod[] = []
    for (const pod of living) {
      const { phase } = pod.status ?? {}
      if (phase === 'Succeeded' || (phase === 'Failed' && !isBackedOff(node))) remove.push({ pod, node, finished: phase })
      else if (phase !== 'Failed') running.push(pod)
    }
    const excess = isSurging ? excessWhileSurging(input, running) : sortPods(running).slice(1)
    remove.push(...excess.map((pod) => ({ pod, node })))
    if (isSurging && running.length === 0 && shouldRun) create.push(node)
  }
  for (const [node, pods] of podsByNode)
    if (!nodes.has(node)) remove.push(...pods.filter((pod) => isUnscheduled(pod) && !isTerminating(pod)).map((pod) => ({ pod, node })))
  return { create, remove }
}

/** Two pods may run on a node: a ready one of the old template, and one of the new template that is not available yet. */
function excessWhileSurging(input: PlanInput, running: readonly Pod[]): readonly Pod[] {
  if (running.length <= 1) return []
  const sorted = sortPods(running)
  const isNew = ({ metadata }: Pod): boolean => metadata?.labels?.[hashLabel] === input.hash
  const [newest, old] = [sorted.find(isNew), sorted.find((pod) => !isNew(pod))]
  const excess = sorted.filter((pod) => pod !== newest && pod !== old)
  const isReplaced = newest !== undefined && old !== undefined && (!isReadyPod(old) || isAvailable(input, newest))
  return isReplaced ? [...excess, old] : excess
}

interface NodePods {
  readonly node: string
  readonly newPod: Pod | undefined
  readonly oldPod: Pod | undefined
  /** Several pods of the same template: `planNodes` deletes all but one. */
  readonly isCrowded: boolean
}

/** Next pods of a rolling update; called while `planNodes` has nothing to do. */
export function planRollingUpdate(input: PlanInput): DaemonPlan {
  const { set, nodes, podsByNode } = input
  const wanted = [...nodes].filter(([, { shouldRun }]) => shouldRun).map(([node]) => node)
  const maxSurge = maxSurgeOf(set, wanted.length)
  const found = [...new Set([...podsByNode.keys(), ...wanted])].map((node) => podsOnNode(input, node))
  return maxSurge > 0 ? planSurge(input, found, maxSurge) : planReplacement(input, found, Math.max(1, maxUnavailableOf(set, wanted.length)))
}

function podsOnNode({ set, podsByNode, hash }: PlanInput, node: string): NodePods {
  const living = (podsByNode.get(node) ?? []).filter((pod) => !isTerminating(pod))
  const updated = living.filter((pod) => isUpdatedPod(set, pod, hash))
  const outdated = living.filter((pod) => !updated.includes(pod))
  return { node, newPod: updated[0], oldPod: outdated[0], isCrowded: updated.length > 1 || outdated.length > 1 }
}

/** Deletes old pods: unavailable ones at once, others up to maxUnavailable. */
function planReplacement(input: PlanInput, nodes: readonly NodePods[], maxUnavailable: number): DaemonPlan {
  let unavailable = 0
  const broken: Deletion[] = []
  const candidates: Deletion[] = []
  for (const { node, newPod, oldPod, isCrowded } of nodes) {
    if (isCrowded || (oldPod === undefined) === (newPod === undefined)) unavailable++
    else if (newPod !== undefined) unavailable += isAvailable(input, newPod) ? 0 : 1
    else if (oldPod !== undefined) (isAvailable(input, oldPod) ? candidates : broken).push({ pod: oldPod, node })
  }
  return { create: [], remove: [...broken, ...candidates.slice(0, Math.max(0, maxUnavailable - unavailable))] }
}

/** Creates new pods next to old ones: up to maxSurge, and on every node whose old pod is not available. */
function planSurge(input: PlanInput, nodes: readonly NodePods[], maxSurge: number): DaemonPlan {
  let surging = 0
  const broken: string[] = []
  const candidates: string[] = []
  const remove: Deletion[] = []
  for (const { node, newPod, oldPod, isCrowded } of nodes) {
    if (isCrowded) surging++
    else if (oldPod === undefined) continue
    else if (newPod === undefined) (isAvailable(input, oldPod) ? candidates : broken).push(node)
    else if (isAvailable(input, newPod)) remove.push({ pod: oldPod, node })
    else surging++
  }
  return { create: [...broken, ...candidates.slice(0, Math.max(0, maxSurge - surging))], remove }
}

/** The status counts the oldest pod of each node. */
export function daemonStatus(input: PlanInput, collisionCount: number): NonNullable<DaemonSet['status']> {
  const { set, nodes, podsByNode, hash } = input
  let [desired, misscheduled] = [0, 0]
  const counted: Pod[] = []
  for (const [node, { shouldRun }] of nodes) {
    const [pod] = sortPods(podsByNode.get(node) ?? [])
    if (shouldRun) desired++
    if (pod === undefined) continue
    if (shouldRun) counted.push(pod)
    else misscheduled++
  }
  const ready = counted.filter(isReadyPod)
  const available = ready.filter((pod) => isAvailable(input, pod)).length
  return {
    currentNumberScheduled: counted.length,
    numberMisscheduled: misscheduled,
    desiredNumberScheduled: desired,
    numberReady: ready.length,
    ...withoutZeros({
      observedGeneration: set.metadata?.generation ?? 0,
      updatedNumberScheduled: counted.filter((pod) => isUpdatedPod(set, pod, hash)).length,
      numberAvailable: available,
      numberUnavailable: desired - available,
      collisionCount,
    }),
  } as NonNullable<DaemonSet['status']>
}

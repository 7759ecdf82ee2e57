// State of a pod as workload controllers see it: active, ready, available; its claims.

import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { isTerminating } from './workload-parts.js'

type PodCondition = NonNullable<NonNullable<Pod['status']>['conditions']>[number]

export const podConditionOf = ({ status }: Pod, type: string): PodCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type)

export const isFinishedPod = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'

/** Neither finished nor terminating. */
export const isActivePod = (pod: Pod): boolean => !isFinishedPod(pod) && !isTerminating(pod)

export const isReadyPod = (pod: Pod): boolean => podConditionOf(pod, 'Ready')?.status === 'True'

/** Time since which the pod is ready, in milliseconds since 1970; undefined if it is not ready or the time is unknown. */
export function readySinceMs(pod: Pod): number | undefined {
  const condition = podConditionOf(pod, 'Ready')
  return condition?.status === 'True' && condition.lastTransitionTime != null ? Date.parse(condition.lastTransitionTime) : undefined
}

/** Time at which a ready pod becomes or became available; undefined if it is not ready. */
function availableAtMs(pod: Pod, minReadySeconds: number): number | undefined {
  if (!isReadyPod(pod)) return undefined
  if (minReadySeconds === 0) return Number.NEGATIVE_INFINITY
  const sinceMs = readySinceMs(pod)
  return sinceMs === undefined ? undefined : sinceMs + minReadySeconds * 1000
}

export function isAvailablePod(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  const atMs = availableAtMs(pod, minReadySeconds)
  return atMs !== undefined && atMs <= nowMs
}

/** Milliseconds until the next ready pod becomes available; undefined if none will. */
export function untilNextAvailableMs(pods: readonly Pod[], minReadySeconds: number, nowMs: number): number | undefined {
  let nextMs: number | undefined
  for (const pod of pods) {
    const atMs = availableAtMs(pod, minReadySeconds)
    if (atMs !== undefined && atMs > nowMs) nextMs = Math.min(nextMs ?? atMs, atMs)
  }
  return nextMs === undefined ? undefined : nextMs - nowMs
}

export const maxContainerRestarts = ({ status }: Pod): number =>
  (status?.containerStatuses ?? []).reduce((most, { restartCount = 0 }) => Math.max(most, restartCount), 0)

/** Names of the claims that a pod uses; the claim of an ephemeral volume has a derived name. */
export const claimNamesOf = ({ metadata, spec }: Pod): readonly string[] =>
  (spec?.volumes ?? []).flatMap((volume) => {
    if (volume.persistentVolumeClaim !== undefined) return volume.persistentVolumeClaim.claimName ?? ''
    return volume.ephemeral === undefined ? [] : `${metadata?.name}-${volume.name}`
  })

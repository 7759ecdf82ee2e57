// Sizes of the ReplicaSets of a Deployment: limits of a rolling update, the next steps of a rollout, and proportional scaling. Pure.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { Deployment, ReplicaSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import { resolveIntOrPercent } from '../kit/int-or-percent.js'
import { byAge, desiredReplicasOf, maxReplicasOf, replicasOf } from './replica-sets.js'

interface Resize {
  readonly replicaSet: ReplicaSet
  readonly replicas: number
}

export const isRollingUpdate = ({ spec }: Deployment): boolean => spec?.strategy?.type === 'RollingUpdate'

interface RollingLimits {
  readonly maxSurge: number
  readonly maxUnavailable: number
}

/** Surge rounds up, unavailability down; both 0 would block the rollout. */
export function rollingLimits(deployment: Deployment): RollingLimits {
  if (!isRollingUpdate(deployment)) return { maxSurge: 0, maxUnavailable: 0 }
  const { maxSurge: surge, maxUnavailable: unavailable } = (deployment.spec?.strategy?.rollingUpdate ?? {}) as {
    readonly maxSurge?: number | string
    readonly maxUnavailable?: number | string
  }
  const replicas = replicasOf(deployment)
  const maxSurge = resolveIntOrPercent(surge, replicas, 'up')
  const rounded = resolveIntOrPercent(unavailable, replicas, 'down')
  const maxUnavailable = maxSurge === 0 && rounded === 0 ? 1 : rounded
  return { maxSurge, maxUnavailable: Math.min(maxUnavailable, replicas) }
}

export const sizeOf = (replicaSets: readonly ReplicaSet[]): number => replicaSets.reduce((sum, each) => sum + replicasOf(each), 0)

/** The status may be older than the spec: a ReplicaSet that was scaled down keeps at most its new size. */
const availableOf = (replicaSet: ReplicaSet): number => Math.min(replicaSet.status?.availableReplicas ?? 0, replicasOf(replicaSet))

/** Size of the new ReplicaSet: as far as the surge allows. `all` includes it. */
export function newReplicaSetSize(deployment: Deployment, all: readonly ReplicaSet[], current: number): number {
  const wanted = replicasOf(deployment)
  if (!isRollingUpdate(deployment) || current > wanted) return wanted
  const free = wanted + rollingLimits(deployment).maxSurge - sizeOf(all)
  return free <= 0 ? current : current + Math.min(free, wanted - current)
}

/** Steps that shrink the old ReplicaSets: first unavailable replicas, then available ones, oldest ReplicaSets first. */
export function oldReplicaSetSizes(deployment: Deployment, newReplicaSet: ReplicaSet, old: readonly ReplicaSet[]): readonly Resize[] {
  const minAvailable = replicasOf(deployment) - rollingLimits(deployment).maxUnavailable
  const newUnavailable = replicasOf(newReplicaSet) - availableOf(newReplicaSet)
  let removable = sizeOf(old) + replicasOf(newReplicaSet) - minAvailable - newUnavailable
  if (removable <= 0) return []
  const targets = old.filter((each) => replicasOf(each) > 0).toSorted(byAge)
  const sizes = new Map(targets.map((each) => [each, replicasOf(each)]))
  const steps: Resize[] = []
  const shrink = (replicaSet: ReplicaSet, count: number): number => {
    const before = sizes.get(replicaSet) ?? 0
    const removed = Math.min(before, count)
    if (removed <= 0) return 0
    sizes.set(replicaSet, before - removed)
    steps.push({ replicaSet, replicas: before - removed })
    return removed
  }
  for (const each of targets) removable -= shrink(each, Math.min(removable, replicasOf(each) - availableOf(each)))
  let excess = [newReplicaSet, ...targets].reduce((sum, each) => sum + availableOf(each), 0) - minAvailable
  for (const each of targets) excess -= shrink(each, excess)
  return steps
}

/** The only ReplicaSet with replicas; without one, the newest. Undefined while several have replicas. */
export function activeOrLatest(newReplicaSet: ReplicaSet | undefined, old: readonly ReplicaSet[]): ReplicaSet | undefined {
  const all = newReplicaSet === undefined ? old : [...old, newReplicaSet]
  const active = all.filter((each) => replicasOf(each) > 0)
  if (active.length > 1) return undefined
  return active[0] ?? newReplicaSet ?? old.toSorted(byAge).at(-1)
}

/** True if the new ReplicaSet has all its replicas, and all are available. */
export function isSaturated(identity: Identity, deployment: Deployment, newReplicaSet: ReplicaSet | undefined): boolean {
  const wanted = replicasOf(deployment)
  return (
    newReplicaSet !== undefined &&
    replicasOf(newReplicaSet) === wanted &&
    desiredReplicasOf(identity, newReplicaSet) === wanted &&
    (newReplicaSet.status?.availableReplicas ?? 0) === wanted
  )
}

/** Spreads a change of `spec.replicas` over the active ReplicaSets of a rolling update, in proportion to their sizes. */
export function proportionalSizes(identity: Identity, deployment: Deployment, active: readonly ReplicaSet[]): readonly Resize[] {
  const wanted = replicasOf(deployment)
  const allowed = wanted > 0 ? wanted + rollingLimits(deployment).maxSurge : 0
  const toAdd = allowed - sizeOf(active)
  // Largest first. Of equal ones the newer grow first, and the older shrink first.
  const sorted = active.toSorted((one, other) => replicasOf(other) - replicasOf(one) || (toAdd > 0 ? byAge(other, one) : byAge(one, other)))
  let added = 0
  const sizes = sorted.map((replicaSet): Resize => {
    const share = shareOf(identity, deployment, replicaSet)
    const left = toAdd - added
    const change = left === 0 ? 0 : toAdd > 0 ? Math.min(share, left) : Math.max(share, left)
    added += change
    return { replicaSet, replicas: replicasOf(replicaSet) + change }
  })
  // The largest takes what rounding leaves over.
  return sizes.map((size, i) => (i === 0 && toAdd !== 0 ? { ...size, replicas: Math.max(0, size.replicas + toAdd - added) } : size))
}

/** Change of size that keeps the fraction which the ReplicaSet had of the Deployment when it was last scaled. */
function shareOf(identity: Identity, deployment: Deployment, replicaSet: ReplicaSet): number {
  const [wanted, size] = [replicasOf(deployment), replicasOf(replicaSet)]
  if (wanted === 0) return -size
  const before = maxReplicasOf(identity, replicaSet) ?? deployment.status?.replicas ?? 0
  return before === 0 ? 0 : Math.round((size * (wanted + rollingLimits(deployment).maxSurge)) / before) - size
}

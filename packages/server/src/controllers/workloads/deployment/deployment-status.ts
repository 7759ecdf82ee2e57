// Status of a Deployment: counts, and the conditions Available, Progressing and ReplicaFailure. Pure.

import type { Deployment, DeploymentStatus, ReplicaSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { conditionOf, withCondition, withoutCondition, withoutZeros } from '../kit/conditions.js'
import { replicasOf } from './replica-sets.js'
import { rollingLimits, sizeOf } from './rollout-plan.js'

type Conditions = NonNullable<DeploymentStatus['conditions']>
type Condition = Conditions[number]

/** The largest 32-bit integer means no deadline and no limit. */
const unlimited = 2 ** 31 - 1

export const hasProgressDeadline = ({ spec }: Deployment): boolean =>
  spec?.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== unlimited

export const historyLimitOf = ({ spec }: Deployment): number | undefined =>
  spec?.revisionHistoryLimit === unlimited ? undefined : spec?.revisionHistoryLimit

export const newCondition = (type: string, status: string, reason: string, message: string, nowMs: number): Condition => ({
  type,
  status,
  reason,
  message,
  lastUpdateTime: timeOf(nowMs),
  lastTransitionTime: timeOf(nowMs),
})

export const progressingOf = ({ conditions }: DeploymentStatus): Condition | undefined => conditionOf(conditions, 'Progressing')

export const withDeploymentCondition = (status: DeploymentStatus, condition: Condition): DeploymentStatus => ({
  ...status,
  conditions: withCondition(status.conditions, condition),
})

interface Owned {
  readonly current: ReplicaSet | undefined
  readonly all: readonly ReplicaSet[]
  readonly nowMs: number
}

const sumOf = (replicaSets: readonly ReplicaSet[], count: 'replicas' | 'readyReplicas' | 'availableReplicas'): number =>
  replicaSets.reduce((sum, { status }) => sum + (status?.[count] ?? 0), 0)

/** Counts and the condition Available. */
export function countedStatus(deployment: Deployment, { current, all, nowMs }: Owned): DeploymentStatus {
  const { collisionCount, conditions } = deployment.status ?? {}
  const available = sumOf(all, 'availableReplicas')
  const isAvailable = available >= replicasOf(deployment) - rollingLimits(deployment).maxUnavailable
  const condition = isAvailable
    ? newCondition('Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.', nowMs)
    : newCondition('Available', 'False', 'MinimumReplicasUnavailable', 'Deployment does not have minimum availability.', nowMs)
  return {
    ...withoutZeros({
      observedGeneration: deployment.metadata?.generation ?? 0,
      replicas: sumOf(all, 'replicas'),
      updatedReplicas: current === undefined ? 0 : sumOf([current], 'replicas'),
      readyReplicas: sumOf(all, 'readyReplicas'),
      availableReplicas: available,
      unavailableReplicas: Math.max(0, sizeOf(all) - available),
    }),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    conditions: withCondition(conditions, condition),
  }
}

/** The counted status with the conditions of a rollout. */
export function rolloutStatus(deployment: Deployment, owned: Owned): DeploymentStatus {
  const counted = countedStatus(deployment, owned)
  const progressed = withProgress(deployment, counted, owned)
  const failure = failureOf(owned)
  const conditions =
    failure === undefined ? withoutCondition(progressed.conditions, 'ReplicaFailure') : withCondition(progressed.conditions, failure)
  return { ...progressed, conditions }
}

function withProgress(deployment: Deployment, status: DeploymentStatus, { current, nowMs }: Owned): DeploymentStatus {
  if (!hasProgressDeadline(deployment)) return { ...status, conditions: withoutCondition(status.conditions, 'Progressing') }
  const before = progressingOf(deployment.status ?? {})
  if ((status.replicas ?? 0) === (status.updatedReplicas ?? 0) && before?.reason === 'NewReplicaSetAvailable') return status
  const subject =
    current === undefined
      ? `Deployment ${JSON.stringify(deployment.metadata?.name)}`
      : `ReplicaSet ${JSON.stringify(current.metadata?.name)}`
  if (isComplete(deployment, status)) {
    const message = `${subject} has successfully progressed.`
    return withDeploymentCondition(status, newCondition('Progressing', 'True', 'NewReplicaSetAvailable', message, nowMs))
  }
  if (isProgressing(deployment.status ?? {}, status)) {
    const condition = newCondition('Progressing', 'True', 'ReplicaSetUpdated', `${subject} is progressing.`, nowMs)
    const kept =
      before?.status === 'True' && before.lastTransitionTime !== undefined ? { lastTransitionTime: before.lastTransitionTime } : {}
    // Replaced even if status and reason stay: lastUpdateTime says when there was progress.
    return { ...status, conditions: [...withoutCondition(status.conditions, 'Progressing'), { ...condition, ...kept }] }
  }
  if (!isTimedOut(deployment, status, nowMs)) return status
  const message = `${subject} has timed out progressing.`
  return withDeploymentCondition(status, newCondition('Progressing', 'False', 'ProgressDeadlineExceeded', message, nowMs))
}

/** True if all replicas are updated and available, and no old ones are left. */
export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const wanted = replicasOf(deployment)
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration = 0 } = status
  return (
    updatedReplicas === wanted &&
    replicas === wanted &&
    availableReplicas === wanted &&
    Number(observedGeneration) >= Number(deployment.metadata?.generation ?? 0)
  )
}

/** More updated, ready or available replicas than before, or fewer old ones. */
function isProgressing(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const oldReplicas = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus): number => replicas - updatedReplicas
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    oldReplicas(after) < oldReplicas(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  )
}

const deadlineMs = ({ spec }: Deployment, { lastUpdateTime }: Condition): number =>
  Date.parse(lastUpdateTime ?? '') + (spec?.progressDeadlineSeconds ?? 0) * 1000

function isTimedOut(deployment: Deployment, status: DeploymentStatus, nowMs: number): boolean {
  const condition = progressingOf(status)
  if (condition === undefined || condition.reason === 'NewReplicaSetAvailable') return false
  return condition.reason === 'ProgressDeadlineExceeded' || deadlineMs(deployment, condition) < nowMs
}

/** Milliseconds until the deadline of an unfinished rollout must be checked; undefined if there is none. */
export function untilDeadlineMs(deployment: Deployment, status: DeploymentStatus, nowMs: number): number | undefined {
  const condition = progressingOf(deployment.status ?? {})
  if (!hasProgressDeadline(deployment) || condition === undefined || condition.reason === 'ProgressDeadlineExceeded') return undefined
  if (isComplete(deployment, status)) return undefined
  return Math.max(0, deadlineMs(deployment, condition) - nowMs) + deadlineSlackMs
}

/** Times in a status have whole seconds. */
const deadlineSlackMs = 1000

/** The failure of the new ReplicaSet, or else of an old one. */
function failureOf({ current, all }: Owned): Condition | undefined {
  for (const replicaSet of current === undefined ? all : [current, ...all]) {
    const failure = conditionOf(replicaSet.status?.conditions, 'ReplicaFailure')
    if (failure === undefined) continue
    const { status = '', reason = '', message = '', lastTransitionTime } = failure
    const times = lastTransitionTime === undefined ? {} : { lastTransitionTime, lastUpdateTime: lastTransitionTime }
    return { type: 'ReplicaFailure', status, reason, message, ...times }
  }
  return undefined
}

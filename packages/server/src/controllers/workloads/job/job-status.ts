// Status of a Job: finished pods first become uncounted, then lose their finalizer, then are counted; so no pod counts twice.

import type { Job, JobStatus } from '@cluster-apiserver/api/resources/batch/v1.schema.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { conditionOf } from '../kit/conditions.js'
import { isFinishedPod } from '../kit/pod-state.js'
import { isTerminating } from '../kit/workload-parts.js'
import { countIndexes, hasIndex, type Indexes, printIndexes, withIndexes } from './completion-indexes.js'
import {
  completionIndexOf,
  type Ending,
  isCountable,
  isFailedPod,
  isIndexed,
  isTracked,
  type JobCondition,
  type JobNames,
} from './job-state.js'
import { judgeFailedPod } from './pod-failure-policy.js'

/** Maximum number of uncounted pods in a status. */
const maxUncounted = 500

interface TrackingInput {
  readonly pods: readonly Pod[]
  readonly ending: Ending | undefined
  readonly countedIndexes: Indexes
  readonly names: JobNames
}

interface Tracking {
  readonly status: JobStatus
  /** Pods whose finalizer can be removed once the status is written. */
  readonly release: readonly Pod[]
  /** The status has the maximum of uncounted pods; other pods wait for the next run. */
  readonly isFull: boolean
}

/** Adds finished pods to the uncounted ones of `status`. If the Job ends, its other pods count as failed. */
export function trackPods(job: Job, status: JobStatus, { pods, ending, countedIndexes, names }: TrackingInput): Tracking {
  const succeeded = [...(status.uncountedTerminatedPods?.succeeded ?? [])]
  const failed = [...(status.uncountedTerminatedPods?.failed ?? [])]
  const [knownSucceeded, knownFailed] = [new Set(succeeded), new Set(failed)]
  const newIndexes = new Set<number>()
  const release: Pod[] = []
  let isFull = false
  for (const pod of pods) {
    if (!isTracked(pod, names)) continue
    const { uid = '' } = pod.metadata ?? {}
    const isFailed = isFailedPod(job, pod)
    if (isFailed || isFinishedPod(pod) || ending !== undefined || isTerminating(job)) release.push(pod)
    if (pod.status?.phase === 'Succeeded' && !knownFailed.has(uid)) {
      const index = completionIndexOf(pod, names)
      if (!isIndexed(job)) {
        if (!knownSucceeded.has(uid)) succeeded.push(uid)
      } else if (index !== undefined && isCountable(job, pod, names) && !hasIndex(countedIndexes, index)) newIndexes.add(index)
    } else if ((isFailed || ending !== undefined) && !knownFailed.has(uid) && isCountable(job, pod, names)) {
      if (judgeFailedPod(job.spec?.podFailurePolicy, pod).isCounted) failed.push(uid)
    }
    isFull = succeeded.length + failed.length + newIndexes.size >= maxUncounted
    if (isFull) break
  }
  const indexes = withIndexes(countedIndexes, newIndexes)
  return {
    status: {
      ...status,
      uncountedTerminatedPods: uncountedOf(succeeded, failed),
      ...(isIndexed(job) ? { succeeded: countIndexes(indexes), completedIndexes: printIndexes(indexes) } : {}),
    },
    release,
    isFull,
  }
}

const uncountedOf = (succeeded: readonly string[], failed: readonly string[]): NonNullable<JobStatus['uncountedTerminatedPods']> => ({
  ...(succeeded.length === 0 ? {} : { succeeded: [...succeeded] }),
  ...(failed.length === 0 ? {} : { failed: [...failed] }),
})

/** Counts uncounted pods that have no finalizer any more. */
export function withCounted(status: JobStatus, uidsWithFinalizer: ReadonlySet<string>): JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {}
  const isUncounted = (uid: string): boolean => uidsWithFinalizer.has(uid)
  const [leftSucceeded, leftFailed] = [succeeded.filter(isUncounted), failed.filter(isUncounted)]
  return {
    ...status,
    succeeded: (status.succeeded ?? 0) + succeeded.length - leftSucceeded.length,
    failed: (status.failed ?? 0) + failed.length - leftFailed.length,
    uncountedTerminatedPods: uncountedOf(leftSucceeded, leftFailed),
  }
}

export const hasUncounted = ({ uncountedTerminatedPods: { succeeded = [], failed = [] } = {} }: JobStatus): boolean =>
  succeeded.length + failed.length > 0

/** Sets a condition. A condition that is missing is not added with the status False. */
export function withJobCondition(status: JobStatus, condition: Omit<JobCondition, 'lastProbeTime'>, nowMs: number): JobStatus {
  const { conditions = [] } = status
  const before = conditionOf(conditions, condition.type ?? '')
  if (before === undefined && condition.status === 'False') return status
  if (before?.status === condition.status && before?.reason === condition.reason && before?.message === condition.message) return status
  const now = timeOf(nowMs)
  const added = { ...condition, lastProbeTime: now, lastTransitionTime: now }
  return {
    ...status,
    conditions: before === undefined ? [...conditions, added] : conditions.map((each) => (each === before ? added : each)),
  }
}

/** The status of a Job that ended. */
export function withEnding(status: JobStatus, { type, reason, message }: Ending, nowMs: number): JobStatus {
  const condition = { type, status: 'True', ...(reason === undefined ? {} : { reason }), ...(message === undefined ? {} : { message }) }
  const ended = withJobCondition(status, condition, nowMs)
  return type === 'Complete' ? { ...ended, completionTime: timeOf(nowMs) } : ended
}

/** The status as it is stored: counters of 0 are omitted, except `ready`. */
export function printedStatus({ active = 0, succeeded = 0, failed = 0, completedIndexes = '', ...rest }: JobStatus): JobStatus {
  return {
    ...rest,
    ...(active === 0 ? {} : { active }),
    ...(succeeded === 0 ? {} : { succeeded }),
    ...(failed === 0 ? {} : { failed }),
    ...(completedIndexes === '' ? {} : { completedIndexes }),
  }
}

// State of a Job: its pods by their outcome, and whether it has failed. Pure functions of the Job and its pods.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { Job } from '@cluster-apiserver/api/resources/batch/v1.schema.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { conditionOf } from '../kit/conditions.js'
import { isActivePod, isReadyPod } from '../kit/pod-state.js'
import { isTerminating } from '../kit/workload-parts.js'
import { countIndexes, type Indexes, parseIndexes, withIndexes } from './completion-indexes.js'
import { judgeFailedPod } from './pod-failure-policy.js'

/** Names on the pods of Jobs: finalizer of pods that are not counted yet; annotation with the completion index. */
export interface JobNames {
  readonly tracking: string
  readonly index: string
}

export const jobNamesOf = (identity: Identity): JobNames => ({
  tracking: identity.label('job-tracking', 'batch'),
  index: identity.label('job-completion-index', 'batch'),
})

export type JobCondition = NonNullable<NonNullable<Job['status']>['conditions']>[number]

export const isIndexed = ({ spec }: Job): boolean => spec?.completionMode === 'Indexed'

export const isSuspended = ({ spec }: Job): boolean => spec?.suspend === true

/** The condition Complete or Failed. */
export const finishedConditionOf = ({ status }: Job): JobCondition | undefined =>
  status?.conditions?.find(({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True')

export const isTracked = ({ metadata }: Pod, { tracking }: JobNames): boolean => metadata?.finalizers?.includes(tracking) === true

/** Undefined if the annotation is missing or no index. */
export function completionIndexOf({ metadata }: Pod, { index }: JobNames): number | undefined {
  const text = metadata?.annotations?.[index]
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

/** Pods of Indexed Jobs without a valid index count for nothing. */
export function isCountable(job: Job, pod: Pod, names: JobNames): boolean {
  if (!isIndexed(job)) return true
  const index = completionIndexOf(pod, names)
  return index !== undefined && index < (job.spec?.completions ?? 0)
}

/** Terminating pods count as failed, because they may never reach a phase; with a failure policy their phase decides. */
export function isFailedPod({ spec }: Job, pod: Pod): boolean {
  if (pod.status?.phase === 'Failed') return true
  return spec?.podFailurePolicy === undefined && isTerminating(pod) && pod.status?.phase !== 'Succeeded'
}

export interface JobCounts {
  readonly active: readonly Pod[]
  readonly ready: number
  /** Includes pods that `status` does not count yet. */
  readonly succeeded: number
  readonly failed: number
  /** Completed indexes in `status`, and those with the indexes of pods that `status` does not count yet. */
  readonly countedIndexes: Indexes
  readonly indexes: Indexes
}

export function countJobPods(job: Job, pods: readonly Pod[], names: JobNames): JobCounts {
  const { status = {}, spec } = job
  const uncountedSucceeded = new Set(status.uncountedTerminatedPods?.succeeded)
  const uncountedFailed = new Set(status.uncountedTerminatedPods?.failed)
  const isNew = (pod: Pod, uncounted: ReadonlySet<string>): boolean =>
    isTracked(pod, names) && isCountable(job, pod, names) && !uncounted.has(pod.metadata?.uid ?? '')
  const newFailed = pods.filter(
    (pod) => isNew(pod, uncountedFailed) && isFailedPod(job, pod) && judgeFailedPod(spec?.podFailurePolicy, pod).isCounted,
  )
  const newSucceeded = pods.filter((pod) => isNew(pod, uncountedSucceeded) && pod.status?.phase === 'Succeeded')
  const countedIndexes = isIndexed(job) ? parseIndexes(status.completedIndexes ?? '', spec?.completions ?? 0) : []
  const newIndexes = isIndexed(job) ? newSucceeded.map((pod) => completionIndexOf(pod, names) ?? 0) : []
  const indexes = withIndexes(countedIndexes, newIndexes)
  const active = pods.filter(isActivePod)
  return {
    active,
    ready: active.filter(isReadyPod).length,
    succeeded: isIndexed(job) ? countIndexes(indexes) : (status.succeeded ?? 0) + uncountedSucceeded.size + newSucceeded.length,
    failed: (status.failed ?? 0) + uncountedFailed.size + newFailed.length,
    countedIndexes,
    indexes,
  }
}

/** How a Job ends. FailureTarget is the condition of a Job that will be Failed when its pods are counted. */
export interface Ending {
  readonly type: 'Complete' | 'Failed' | 'FailureTarget'
  readonly reason?: string
  readonly message?: string
}

interface FailureInput {
  readonly pods: readonly Pod[]
  readonly counts: JobCounts
  readonly startedMs: number | undefined
  readonly nowMs: number
}

export function failureOf(job: Job, input: FailureInput): Ending | undefined {
  const { pods, counts } = input
  const target = conditionOf(job.status?.conditions, 'FailureTarget')
  if (target !== undefined) {
    const { reason, message } = target
    return { type: 'Failed', ...(reason === undefined ? {} : { reason }), ...(message === undefined ? {} : { message }) }
  }
  for (const pod of pods) {
    if (job.spec?.podFailurePolicy === undefined || !isFailedPod(job, pod)) continue
    const { failJobMessage: message } = judgeFailedPod(job.spec.podFailurePolicy, pod)
    if (message !== undefined) return { type: 'FailureTarget', reason: 'PodFailurePolicy', message }
  }
  if (exceedsBackoffLimit(job, counts) || exceedsRestartLimit(job, pods))
    return { type: 'Failed', reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' }
  if ((untilDeadlineMs(job, input) ?? 1) <= 0)
    return { type: 'Failed', reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' }
  return undefined
}

const backoffLimitOf = ({ spec }: Job): number => spec?.backoffLimit ?? 6

/** Only new failures count: a full set of active pods shows that an earlier run replaced the failed ones. */
function exceedsBackoffLimit(job: Job, { active, failed }: JobCounts): boolean {
  const hasNewFailure = failed > (job.status?.failed ?? 0)
  return hasNewFailure && active.length !== (job.spec?.parallelism ?? 1) && failed > backoffLimitOf(job)
}

/** Restarts of containers, if the kubelet restarts them in place. */
function exceedsRestartLimit(job: Job, pods: readonly Pod[]): boolean {
  if (job.spec?.template?.spec?.restartPolicy !== 'OnFailure') return false
  let restarts = 0
  for (const { status } of pods) {
    if (status?.phase !== 'Running' && status?.phase !== 'Pending') continue
    for (const { restartCount = 0 } of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])])
      restarts += restartCount
  }
  return restarts >= Math.max(1, backoffLimitOf(job))
}

/** Milliseconds until `activeDeadlineSeconds` have passed; undefined without a deadline or while it does not run. */
export function untilDeadlineMs(job: Job, { startedMs, nowMs }: Pick<FailureInput, 'startedMs' | 'nowMs'>): number | undefined {
  const seconds = job.spec?.activeDeadlineSeconds
  return seconds === undefined || startedMs === undefined || isSuspended(job) ? undefined : startedMs + Number(seconds) * 1000 - nowMs
}

/** Without `completions`, one success ends the Job when the other pods are done. */
export const isComplete = ({ spec }: Job, succeeded: number, active: number): boolean =>
  active === 0 && (spec?.completions === undefined ? succeeded > 0 : succeeded >= spec.completions)

/** Number of active pods that the Job should have. */
export function wantedActive({ spec }: Job, { active, succeeded }: JobCounts): number {
  const parallelism = spec?.parallelism ?? 1
  if (spec?.completions === undefined) return succeeded > 0 ? active.length : parallelism
  return Math.max(0, Math.min(parallelism, spec.completions - succeeded))
}

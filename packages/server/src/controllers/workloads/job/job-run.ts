// One run of the Job controller: creates and deletes pods, counts finished pods and sets the conditions of a Job.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { fromSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { inParallel } from '@cluster-apiserver/api/base/async/in-parallel.js'
import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import type { Job, JobStatus } from '@cluster-apiserver/api/resources/batch/v1.schema.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import type { ObjectAddress } from '../../../objects/object-store.js'
import { isNamespaceTerminating } from '../../framework/internal-call.js'
import type { Outcome } from '../../framework/work-queue.js'
import { type ClaimRequest, claimObjects } from '../kit/claim-objects.js'
import { conditionOf } from '../kit/conditions.js'
import { createPod, deletePod, inSlowStartBatches } from '../kit/pod-control.js'
import { isTerminating, readObject, type WorkloadParts } from '../kit/workload-parts.js'
import type { Writer } from '../kit/writer.js'
import { podsToCreate, podsToRemove } from './job-pods.js'
import {
  countJobPods,
  type Ending,
  failureOf,
  finishedConditionOf,
  isComplete,
  isSuspended,
  isTracked,
  type JobCounts,
  type JobNames,
  untilDeadlineMs,
  wantedActive,
} from './job-state.js'
import { hasUncounted, printedStatus, trackPods, withCounted, withEnding, withJobCondition } from './job-status.js'

export interface JobContext {
  readonly parts: WorkloadParts
  readonly writer: Writer
  readonly names: JobNames
  readonly jobs: Resource
  readonly pods: Resource
  /** Delay after a failed pod of the Job with this key. */
  readonly retryDelayMs: (key: string) => number
  readonly retries: Map<string, number>
}

/** Maximum number of pods created or deleted in one run. */
const maxPods = 500
const maxParallel = 50

export const podClaimOf = ({ names, jobs, pods }: JobContext, job: Job): ClaimRequest<Pod> => ({
  owner: job,
  ownerResource: jobs,
  resource: pods,
  selector: fromSelectorObject(job.spec?.selector ?? {}),
  finalizer: names.tracking,
})

export async function reconcileJob(context: JobContext, key: string, address: ObjectAddress): Promise<Outcome> {
  const { parts, retries } = context
  const job = readObject<Job>(parts, address)
  if (job === undefined || finishedConditionOf(job) !== undefined) {
    retries.delete(key)
    return undefined
  }
  const pods = await claimObjects(parts, context.writer, podClaimOf(context, job))
  const counts = countJobPods(job, pods, context.names)
  const nowMs = parts.engine.clock.now()
  const startTime = job.status?.startTime ?? (isSuspended(job) ? undefined : timeOf(nowMs))
  const times = { startedMs: startTime === undefined ? undefined : isResumed(job) ? nowMs : Date.parse(startTime), nowMs }
  const before: JobStatus = { ...job.status, ...(startTime === undefined ? {} : { startTime }) }
  const failure = failureOf(job, { pods, counts, ...times })
  const step =
    failure === undefined ? await advance(context, job, { before, counts, nowMs }) : await stop(context, job, { before, counts, failure })
  const isFinished = await writeStatus(context, job, { pods, counts, nowMs, step })
  const hasNewFailure = counts.failed > (job.status?.failed ?? 0)
  if (hasNewFailure ? !isFinished : step.error !== undefined) retries.set(key, (retries.get(key) ?? 0) + 1)
  else if (counts.succeeded > (job.status?.succeeded ?? 0) || hasToggled(job, step.status)) retries.delete(key)
  if (isFinished) return undefined
  const delays = [untilDeadlineMs(job, times), step.error === undefined ? undefined : context.retryDelayMs(key)]
  const delayMs = Math.min(...delays.filter((delay) => delay !== undefined))
  return Number.isFinite(delayMs) ? { afterMs: timerMs(delayMs) } : undefined
}

/** True in the run that resumes a Job; the deadline begins again. */
const isResumed = (job: Job): boolean => !isSuspended(job) && conditionOf(job.status?.conditions, 'Suspended')?.status === 'True'

/** True in the run that suspends or resumes a Job. */
const hasToggled = ({ status }: Job, after: JobStatus): boolean =>
  conditionOf(status?.conditions, 'Suspended')?.status !== conditionOf(after.conditions, 'Suspended')?.status

/** What a run did before it counts the pods. */
interface Step {
  readonly status: JobStatus
  /** Deleted pods that do not count. */
  readonly removed?: readonly Pod[]
  readonly ending: Ending | undefined
  /** First failed write of a pod, which an event has reported. */
  readonly error: unknown
}

interface StopInput {
  readonly before: JobStatus
  readonly counts: JobCounts
  readonly failure: Ending
}

/** Deletes the active pods of a Job that failed; they keep their finalizer until they are counted. */
async function stop(context: JobContext, job: Job, { before, counts, failure }: StopInput): Promise<Step> {
  const { writer, pods, jobs } = context
  const { done, error } = await forEachPod(counts.active, (pod) => deletePod(writer, pods, { owner: job, resource: jobs }, pod))
  const active = counts.active.length - done
  return { status: { ...before, active }, ending: active === 0 ? failure : undefined, error }
}

interface AdvanceInput {
  readonly before: JobStatus
  readonly counts: JobCounts
  readonly nowMs: number
}

/** Creates and deletes pods of a Job that did not fail. */
async function advance(context: JobContext, job: Job, { before, counts, nowMs }: AdvanceInput): Promise<Step> {
  const { change, removed = [], error } = isTerminating(job) ? unchanged : await scale(context, job, counts, nowMs)
  const active = counts.active.length + change
  const status = { ...before, active }
  if (isComplete(job, counts.succeeded, active)) return { status, removed, ending: { type: 'Complete' }, error }
  return { status: isTerminating(job) ? status : await withSuspension(context, job, status, nowMs), removed, ending: undefined, error }
}

/** Sets the condition Suspended and records its event. A resumed Job gets a new startTime. */
async function withSuspension({ writer, jobs }: JobContext, job: Job, status: JobStatus, nowMs: number): Promise<JobStatus> {
  const isPaused = isSuspended(job)
  const word = isPaused ? 'suspended' : 'resumed'
  const [reason, value] = isPaused ? ['Suspended', 'True'] : ['Resumed', 'False']
  const condition = { type: 'Suspended', status: value, reason: `Job${reason}`, message: `Job ${word}` }
  const changed = withJobCondition(status, condition, nowMs)
  if (changed === status) return status
  await writer.event(jobs, job, { type: 'Normal', reason, message: `Job ${word}` })
  return isPaused ? changed : { ...changed, startTime: timeOf(nowMs) }
}

/** By how much the number of active pods changed. */
interface Change {
  readonly change: number
  readonly removed?: readonly Pod[]
  readonly error?: unknown
}

const unchanged: Change = { change: 0 }

async function scale(context: JobContext, job: Job, counts: JobCounts, nowMs: number): Promise<Change> {
  const { parts, names } = context
  const wanted = isSuspended(job) ? 0 : wantedActive(job, counts)
  const excess = Math.max(0, counts.active.length - wanted)
  const { identity } = parts.engine
  const removed = podsToRemove(job, counts.active, { count: excess, names, identity, nowMs }).slice(
    0,
    isSuspended(job) ? undefined : maxPods,
  )
  if (removed.length > 0) return removePods(context, job, removed)
  return counts.active.length < wanted ? addPods(context, job, counts, Math.min(wanted - counts.active.length, maxPods)) : unchanged
}

/** The finalizer is removed first, so that the pods do not count as failed. */
async function removePods(context: JobContext, job: Job, removed: readonly Pod[]): Promise<Change> {
  const { writer, pods, jobs } = context
  const { done, error } = await forEachPod(removed, async (pod) => {
    await releasePod(context, pod)
    await deletePod(writer, pods, { owner: job, resource: jobs }, pod)
  })
  return { change: -done, removed, error }
}

async function addPods(context: JobContext, job: Job, counts: JobCounts, count: number): Promise<Change> {
  const { writer, pods, jobs: resource, names } = context
  const podOwner = { owner: job, resource }
  const created = podsToCreate(job, { resource, counts, count, names })
  let change = 0
  const failed = await inSlowStartBatches(created.length, async (index) => {
    await createPod(writer, pods, podOwner, created[index] as Pod)
    change += 1
  })
  return failed === undefined || isNamespaceTerminating(failed.failure) ? { change } : { change, error: failed.failure }
}

interface StatusInput {
  readonly pods: readonly Pod[]
  readonly counts: JobCounts
  readonly nowMs: number
  readonly step: Step
}

/** Writes the status, releases the counted pods and writes their number. Returns true if the Job is finished. */
async function writeStatus(context: JobContext, job: Job, { pods: all, counts, nowMs, step }: StatusInput): Promise<boolean> {
  const { names } = context
  const removed = new Set(step.removed)
  const pods = all.filter((pod) => !removed.has(pod))
  const uidsWithFinalizer = new Set(pods.filter((pod) => isTracked(pod, names)).map(uidOf))
  const counted = withCounted({ ...step.status, ready: counts.ready }, uidsWithFinalizer)
  const input = { pods, ending: step.ending, countedIndexes: counts.countedIndexes, names }
  const tracking = trackPods(job, counted, input)
  const isTarget = step.ending?.type === 'FailureTarget'
  const tracked = isTarget ? withEnding(tracking.status, step.ending as Ending, nowMs) : tracking.status
  const written = await putStatus(context, job, tracked)
  const { released, error } = await releaseTracked(context, tracking.release)
  for (const uid of released) uidsWithFinalizer.delete(uid)
  const final = withCounted(tracked, uidsWithFinalizer)
  const ending: Ending | undefined = isTarget ? { ...(step.ending as Ending), type: 'Failed' } : step.ending
  const isFinished = ending !== undefined && error === undefined && !tracking.isFull && !hasUncounted(final)
  await putStatus(context, written, isFinished ? withEnding(final, ending, nowMs) : final)
  if (error !== undefined) throw error
  if (isFinished) await recordEnding(context, job, { ending, succeeded: final.succeeded ?? 0 })
  return isFinished
}

const uidOf = ({ metadata }: Pod): string => metadata?.uid ?? ''

async function putStatus({ writer, jobs }: JobContext, job: Job, status: JobStatus): Promise<Job> {
  const printed = printedStatus(status)
  return sameValue(job.status ?? {}, printed) ? job : writer.update<Job>(jobs, { ...job, status: printed }, 'status')
}

interface EndedJob {
  readonly ending: Ending
  readonly succeeded: number
}

async function recordEnding({ writer, jobs }: JobContext, job: Job, { ending, succeeded }: EndedJob): Promise<void> {
  const { type, reason = '', message = '' } = ending
  if (type !== 'Complete') return writer.event(jobs, job, { type: 'Warning', reason, message })
  if (job.spec?.completions !== undefined && succeeded > job.spec.completions) {
    const tooMany = 'Too many succeeded pods running after completion count reached'
    await writer.event(jobs, job, { type: 'Warning', reason: 'TooManySucceededPods', message: tooMany })
  }
  return writer.event(jobs, job, { type: 'Normal', reason: 'Completed', message: 'Job completed' })
}

/** Removes the finalizer of pods that no Job counts. */
export async function releasePods(context: JobContext, pods: readonly Pod[]): Promise<void> {
  const { error } = await releaseTracked(context, pods)
  if (error !== undefined) throw error
}

async function releaseTracked(context: JobContext, pods: readonly Pod[]): Promise<{ released: readonly string[]; error?: unknown }> {
  const released: string[] = []
  const { error } = await forEachPod(pods, async (pod) => {
    await releasePod(context, pod)
    released.push(uidOf(pod))
  })
  return { released, error }
}

/** Rejects if the pod may still have the finalizer: it would count twice. */
async function releasePod({ parts, writer, names, pods }: JobContext, pod: Pod): Promise<void> {
  if (!isTracked(pod, names)) return
  const patch = { metadata: { '$deleteFromPrimitiveList/finalizers': [names.tracking] } }
  try {
    await writer.patch(pods, pod, { type: 'strategic', patch })
  } catch (error) {
    const { namespace = '', name = '', uid } = pod.metadata ?? {}
    const stored = readObject<Pod>(parts, { resource: pods, namespace, name })
    if (stored !== undefined && stored.metadata?.uid === uid && isTracked(stored, names)) throw error
  }
}

/** Continues after errors; returns the first of them and the number of pods without error. */
async function forEachPod(pods: readonly Pod[], work: (pod: Pod) => Promise<void>): Promise<{ done: number; error?: unknown }> {
  let done = 0
  let first: { readonly error: unknown } | undefined
  await inParallel(pods, maxParallel, async (pod) => {
    try {
      await work(pod)
      done += 1
    } catch (error) {
      first ??= { error }
    }
  })
  return { done, ...first }
}

// Jobs of a CronJob: which are active, which exceed the history limits, and the Job of a start time. Pure functions.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { CronJob, Job } from '@cluster-apiserver/api/resources/batch/v1.schema.js'
import { finishedConditionOf } from '../job/job-state.js'
import { newControllerRef } from '../kit/workload-parts.js'
import type { WorkloadEvent } from '../kit/writer.js'

type JobReference = NonNullable<NonNullable<CronJob['status']>['active']>[number]

/** The Job has the minute of its start in its name, so that no start time has two Jobs. */
export function jobOfTemplate(owners: Resource, cronJob: CronJob, startMs: number): Job {
  const { metadata, spec } = cronJob.spec?.jobTemplate ?? {}
  const { name, namespace } = cronJob.metadata ?? {}
  return {
    metadata: {
      name: `${name}-${Math.floor(startMs / 60_000)}`,
      ...(namespace === undefined ? {} : { namespace }),
      ...(metadata?.labels === undefined ? {} : { labels: metadata.labels }),
      ...(metadata?.annotations === undefined ? {} : { annotations: metadata.annotations }),
      ownerReferences: [newControllerRef(cronJob, owners)],
    },
    spec: spec ?? {},
  } as Job
}

export function referenceTo({ apiVersion, kind }: Pick<Resource, 'apiVersion' | 'kind'>, { metadata }: Job): JobReference {
  const { namespace, name, uid, resourceVersion } = metadata ?? {}
  return { kind, namespace, name, uid, apiVersion, resourceVersion } as JobReference
}

interface ActiveJobs {
  readonly active: JobReference[]
  readonly events: readonly WorkloadEvent[]
}

/** Active Jobs without finished and missing ones. `read` finds a Job that has another controller now. */
export function activeAfter(
  before: readonly JobReference[],
  jobs: readonly Job[],
  read: (reference: JobReference) => Job | undefined,
): ActiveJobs {
  const events: WorkloadEvent[] = []
  const activeUids = new Set(before.map(({ uid }) => uid))
  const doneUids = new Set<string | undefined>()
  for (const job of jobs) {
    const { uid, name } = job.metadata ?? {}
    const finished = finishedConditionOf(job)
    if (!activeUids.has(uid) && finished === undefined) {
      const message = `Saw a job that the controller did not create or forgot: ${name}`
      events.push({ type: 'Warning', reason: 'UnexpectedJob', message })
    }
    if (!activeUids.has(uid) || finished === undefined) continue
    doneUids.add(uid)
    events.push({ type: 'Normal', reason: 'SawCompletedJob', message: `Saw completed job: ${name}, status: ${finished.type}` })
  }
  const knownUids = new Set(jobs.map(({ metadata }) => metadata?.uid))
  for (const reference of before) {
    if (knownUids.has(reference.uid) || read(reference) !== undefined) continue
    doneUids.add(reference.uid)
    events.push({ type: 'Normal', reason: 'MissingJob', message: `Active job went missing: ${reference.name}` })
  }
  return { active: before.filter(({ uid }) => !doneUids.has(uid)), events }
}

/** The latest completion of a successful Job. A Job that was active before counts in the next run, if it still exists then. */
export function lastSuccessOf(
  { active = [], lastSuccessfulTime }: NonNullable<CronJob['status']>,
  jobs: readonly Job[],
): string | undefined {
  const activeUids = new Set(active.map(({ uid }) => uid))
  let latest = lastSuccessfulTime
  for (const job of jobs) {
    if (finishedConditionOf(job)?.type !== 'Complete' || activeUids.has(job.metadata?.uid)) continue
    const time = job.status?.completionTime
    if (time !== undefined && (latest === undefined || Date.parse(time) > Date.parse(latest))) latest = time
  }
  return latest
}

/** Finished Jobs beyond the history limits, the oldest first. */
export function expiredJobs({ spec = {} }: CronJob, jobs: readonly Job[]): readonly Job[] {
  const excess = (type: 'Complete' | 'Failed', limit: number | undefined): readonly Job[] => {
    const finished = jobs.filter((job) => finishedConditionOf(job)?.type === type)
    return limit === undefined ? [] : finished.toSorted(compareStarts).slice(0, Math.max(0, finished.length - limit))
  }
  return [...excess('Complete', spec.successfulJobsHistoryLimit), ...excess('Failed', spec.failedJobsHistoryLimit)]
}

const startedMs = ({ status }: Job): number => (status?.startTime === undefined ? Number.POSITIVE_INFINITY : Date.parse(status.startTime))

function compareStarts(one: Job, other: Job): number {
  const [first, second] = [startedMs(one), startedMs(other)]
  return first === second ? compareText(one.metadata?.name ?? '', other.metadata?.name ?? '') : Math.sign(first - second)
}

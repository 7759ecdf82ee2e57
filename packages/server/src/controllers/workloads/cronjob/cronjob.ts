// CronJob controller: starts Jobs by a schedule, and deletes finished ones beyond the history limits.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { type CronSchedule, isTimeZone, parseSchedule } from '@cluster-apiserver/api/resources/batch/cron-schedule.js'
import type { CronJob, Job } from '@cluster-apiserver/api/resources/batch/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import type { StoredObject } from '../../../objects/entry/stored-object.js'
import { partsOf } from '../../../objects/object-keys.js'
import type { ObjectAddress } from '../../../objects/object-store.js'
import { KeyedController, type Source } from '../../framework/controller.js'
import { isNamespaceTerminating } from '../../framework/internal-call.js'
import type { Outcome } from '../../framework/work-queue.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { finishedConditionOf } from '../job/job-state.js'
import { dependentsSource, orphanOf } from '../kit/owner-keys.js'
import { addressOfKey, controllerRefOf, isTerminating, readObject, type WorkloadParts, workloadBackOff } from '../kit/workload-parts.js'
import { type WorkloadEvent, Writer } from '../kit/writer.js'
import { activeAfter, expiredJobs, jobOfTemplate, lastSuccessOf, referenceTo } from './cronjob-jobs.js'
import { missedStart, type ScheduledCronJob, untilNextStartMs } from './missed-starts.js'

export const cronJobs = (parts: WorkloadParts): Controller => {
  const writer = new Writer(parts, 'cronjob-controller')
  const contextOf = (catalog: Catalog): Context | undefined => {
    const [owners, jobs] = [catalog.find('batch', 'v1', 'cronjobs'), catalog.find('batch', 'v1', 'jobs')]
    return owners === undefined || jobs === undefined ? undefined : { parts, writer, cronJobs: owners, jobs }
  }
  return new KeyedController(parts, {
    name: 'cronjob',
    concurrency: 5,
    backOff: workloadBackOff,
    sources: (catalog) => {
      const context = contextOf(catalog)
      return context === undefined ? [] : [cronJobsSource(context), jobsSource(context)]
    },
    work: async (key) => {
      const context = contextOf(parts.catalogs.current)
      return context === undefined ? undefined : reconcile(context, addressOfKey(context.cronJobs, key))
    },
  })
}

interface Context {
  readonly parts: WorkloadParts
  readonly writer: Writer
  readonly cronJobs: Resource
  readonly jobs: Resource
}

/** A changed schedule does not start runs that it would have missed: it waits for its next start time. */
const cronJobsSource = ({ parts, cronJobs: resource }: Context): Source => ({
  resource,
  namespace: '',
  keyOf: (stored: StoredObject, eventType, previous) => {
    const { namespace, name } = partsOf(resource, stored.key)
    const key = `${namespace}/${name}`
    if (eventType !== 'MODIFIED' || previous === undefined) return key
    const [cronJob, before] = [stored, previous].map((each) => each.decode(resource) as CronJob)
    if (cronJob?.spec?.schedule === before?.spec?.schedule && cronJob?.spec?.timeZone === before?.spec?.timeZone) return key
    const result = parseSchedule(cronJob?.spec?.schedule ?? '')
    if (cronJob === undefined || 'problem' in result) return key
    const afterMs = untilNextStartMs({ cronJob, schedule: result.parsed, nowMs: parts.engine.clock.now() })
    return afterMs === undefined ? key : { key, afterMs: timerMs(afterMs) }
  },
})

/** CronJobs do not adopt Jobs. */
function jobsSource({ parts, jobs, cronJobs: owners }: Context): Source {
  const source = dependentsSource(parts, jobs, owners)
  const isOwner = (key: string): boolean => orphanOf(key) === undefined
  return { ...source, keyOf: (...change) => (source.keyOf(...change) as readonly string[]).filter(isOwner) }
}

type Status = NonNullable<CronJob['status']>

async function reconcile(context: Context, address: ObjectAddress): Promise<Outcome> {
  const { parts, writer } = context
  const cronJob = readObject<CronJob>(parts, address)
  if (cronJob === undefined) return undefined
  const jobs = await parts.controlled.controlledBy<Job>(context.jobs, cronJob.metadata ?? {})
  const observed = await observeJobs(context, cronJob, jobs)
  const run: StartedRun = isTerminating(cronJob) ? { status: observed } : await startDueJob(context, { ...cronJob, status: observed })
  let { status } = run
  // Last: a Job that has just finished is reported before a history limit of 0 deletes it.
  if (run.error === undefined) for (const job of expiredJobs(cronJob, jobs)) status = await deleteJob(context, cronJob, { status, job })
  const { active = [], ...rest } = status
  const after = active.length === 0 ? rest : { ...rest, active }
  if (!sameValue(cronJob.status ?? {}, after)) await writer.update<CronJob>(context.cronJobs, { ...cronJob, status: after }, 'status')
  if (run.error !== undefined) throw run.error
  return run.nextMs === undefined ? undefined : { afterMs: timerMs(run.nextMs) }
}

/** Updates the active Jobs and the time of the last success. */
async function observeJobs(context: Context, cronJob: CronJob, jobs: readonly Job[]): Promise<Status> {
  const { metadata: { namespace = '' } = {}, status = {} } = cronJob
  const { active, events } = activeAfter(status.active ?? [], jobs, ({ name = '' }) =>
    readObject<Job>(context.parts, { resource: context.jobs, namespace, name }),
  )
  for (const event of events) await recordEvent(context, cronJob, event)
  const lastSuccessfulTime = lastSuccessOf(status, jobs)
  return { ...status, active, ...(lastSuccessfulTime === undefined ? {} : { lastSuccessfulTime }) }
}

interface StartedRun {
  readonly status: Status
  /** Milliseconds until the next run. */
  readonly nextMs?: number | undefined
  readonly error?: unknown
}

/** Starts the Job of the latest missed start time, if there is one. */
async function startDueJob(context: Context, cronJob: CronJob): Promise<StartedRun> {
  const status = cronJob.status ?? {}
  const schedule = await usableSchedule(context, cronJob)
  if (schedule === undefined) return { status }
  const nowMs = context.parts.engine.clock.now()
  const scheduled: ScheduledCronJob = { cronJob, schedule, nowMs }
  const missed = missedStart(scheduled)
  if ('problem' in missed) {
    const message = `invalid schedule: ${cronJob.spec?.schedule} : ${missed.problem}`
    await recordEvent(context, cronJob, { type: 'Warning', reason: 'InvalidSchedule', message })
    return { status }
  }
  if (missed.isTooMany) await recordEvent(context, cronJob, tooManyMissed)
  const nextMs = untilNextStartMs(scheduled)
  if (missed.latestMs === undefined || !(await canStart(context, scheduled, missed.latestMs))) return { status, nextMs }
  const started = await startJob(context, cronJob, missed.latestMs)
  const after = { ...cronJob, status: started.status }
  return { ...started, nextMs: untilNextStartMs({ cronJob: after, schedule, nowMs }) }
}

const tooManyMissed: WorkloadEvent = {
  type: 'Warning',
  reason: 'TooManyMissedTimes',
  message: 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
}

/** The schedule of a CronJob that is not suspended; undefined, with an event, if it cannot be read. */
async function usableSchedule(context: Context, cronJob: CronJob): Promise<CronSchedule | undefined> {
  const { timeZone, suspend, schedule = '' } = cronJob.spec ?? {}
  const warn = (reason: string, message: string): Promise<void> => recordEvent(context, cronJob, { type: 'Warning', reason, message })
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    await warn('UnknownTimeZone', `invalid timeZone: ${JSON.stringify(timeZone)}: unknown time zone ${timeZone}`)
    return undefined
  }
  if (suspend === true) return undefined
  if (schedule.includes('TZ')) {
    const guide = `https://${context.parts.engine.identity.label('docs')}/concepts/workloads/controllers/cron-jobs/`
    const problem = 'is not officially supported'
    await warn(
      'UnsupportedSchedule',
      `CRON_TZ or TZ used in schedule ${JSON.stringify(schedule)} ${problem}, see ${guide} for more details`,
    )
  }
  const result = parseSchedule(schedule)
  if ('parsed' in result) return result.parsed
  await warn('UnparseableSchedule', `unparseable schedule: ${JSON.stringify(schedule)} : ${result.problem}`)
  return undefined
}

/** False if the deadline of the start time is over, its Job was started already, or another Job forbids it. */
async function canStart(context: Context, { cronJob, nowMs }: ScheduledCronJob, startMs: number): Promise<boolean> {
  const { spec = {}, status = {} } = cronJob
  const { active = [], lastScheduleTime } = status
  const { startingDeadlineSeconds: deadline } = spec
  if (deadline !== undefined && startMs + Number(deadline) * 1000 < nowMs) {
    const date = new Date(startMs).toUTCString().replace('GMT', '+0000')
    await recordEvent(context, cronJob, {
      type: 'Warning',
      reason: 'MissSchedule',
      message: `Missed scheduled time to start a job: ${date}`,
    })
    return false
  }
  const { name } = jobOfTemplate(context.cronJobs, cronJob, startMs).metadata ?? {}
  if (active.some((reference) => reference.name === name) || lastScheduleTime === timeOf(startMs)) return false
  if (spec.concurrencyPolicy !== 'Forbid' || active.length === 0) return true
  const message = 'Not starting job because prior execution is running and concurrency policy is Forbid'
  await recordEvent(context, cronJob, { type: 'Normal', reason: 'JobAlreadyActive', message })
  return false
}

async function startJob(context: Context, cronJob: CronJob, startMs: number): Promise<StartedRun> {
  let status = cronJob.status ?? {}
  if (cronJob.spec?.concurrencyPolicy === 'Replace') {
    // Clients may write the status: its references must not lead to another namespace.
    const { namespace = '' } = cronJob.metadata ?? {}
    for (const { name = '' } of status.active ?? []) {
      const job = readObject<Job>(context.parts, { resource: context.jobs, namespace, name })
      if (job !== undefined) status = await deleteJob(context, cronJob, { status, job })
    }
    if ((status.active ?? []).length > 0) return { status, error: new Error('could not replace the active jobs') }
  }
  try {
    const job = await createJob(context, cronJob, startMs)
    if (job === undefined) return { status }
    const active = [...(status.active ?? []), referenceTo(context.jobs, job)]
    return { status: { ...status, active, lastScheduleTime: timeOf(startMs) } }
  } catch (error) {
    return isNamespaceTerminating(error) ? { status } : { status, error }
  }
}

/** Returns undefined if the Job exists, unless it is a running Job of this CronJob, whose status could not be written then. */
async function createJob(context: Context, cronJob: CronJob, startMs: number): Promise<Job | undefined> {
  const { parts, writer, jobs: resource } = context
  const wanted = jobOfTemplate(context.cronJobs, cronJob, startMs)
  try {
    const job = await writer.create(resource, wanted)
    await recordEvent(context, cronJob, { type: 'Normal', reason: 'SuccessfulCreate', message: `Created job ${job.metadata?.name}` })
    return job
  } catch (error) {
    if (error instanceof ApiError && error.status.reason === 'AlreadyExists') {
      const { namespace = '', name = '' } = wanted.metadata ?? {}
      const job = readObject<Job>(parts, { resource, namespace, name })
      const isOwn = job !== undefined && controllerRefOf(job)?.uid === cronJob.metadata?.uid
      return isOwn && finishedConditionOf(job) === undefined ? job : undefined
    }
    if (!isNamespaceTerminating(error))
      await recordEvent(context, cronJob, {
        type: 'Warning',
        reason: 'FailedCreate',
        message: `Error creating job: ${errorMessage(error)}`,
      })
    throw error
  }
}

interface Deletion {
  readonly status: Status
  readonly job: Job
}

/** Deletes a Job with its pods; returns the status without it. */
async function deleteJob(context: Context, cronJob: CronJob, { status, job }: Deletion): Promise<Status> {
  const { writer, jobs } = context
  try {
    await writer.delete(jobs, job, { propagationPolicy: 'Background' })
  } catch (error) {
    await recordEvent(context, cronJob, { type: 'Warning', reason: 'FailedDelete', message: `Deleted job: ${errorMessage(error)}` })
    return status
  }
  await recordEvent(context, cronJob, { type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted job ${job.metadata?.name}` })
  return { ...status, active: (status.active ?? []).filter(({ uid }) => uid !== job.metadata?.uid) }
}

const recordEvent = ({ writer, cronJobs: resource }: Context, cronJob: CronJob, event: WorkloadEvent): Promise<void> =>
  writer.event(resource, cronJob, event)

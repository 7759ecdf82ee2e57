// CronJobs: runs by the clock, concurrency policies, missed starts, history limits, unexpected and missing Jobs, restarts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CronJob, Job } from '@cluster-apiserver/api/resources/batch/v1.schema.js'
import type { Event } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { create } from '../../../verbs/create.js'
import { withDefaults } from '../../../verbs/version-conversion.js'
import { internalCall } from '../../framework/internal-call.js'
import { workloadCluster } from '../workload.fixture.js'

const target = { group: 'batch', plural: 'cronjobs', name: 'tick' }
const minuteMs = 60_000
/** The clock of the cluster starts at 2026-01-01T00:00:00Z. */
const startMinute = Date.parse('2026-01-01T00:00:00Z') / minuteMs

const jobSpec = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'app' }] } } }

async function setUp(spec: object) {
  const cluster = await workloadCluster(['cronjob'])
  const jobTemplate = { metadata: { labels: { app: 'tick' }, annotations: { note: 'yes' } }, spec: jobSpec }
  await cluster.create('batch', 'cronjobs', { metadata: { name: 'tick' }, spec: { schedule: '* * * * *', jobTemplate, ...spec } })
  await cluster.settle()
  const cronJob = () => cluster.list<CronJob>('batch', 'cronjobs')[0] as CronJob
  const jobs = () => cluster.list<Job>('batch', 'jobs')
  return {
    cluster,
    cronJob,
    jobs,
    /** Minutes after the start in the names of the Jobs. */
    started: () => jobs().map(({ metadata }) => Number(metadata?.name?.replace('tick-', '')) - startMinute),
    active: () => (cronJob().status?.active ?? []).map(({ name }) => Number(name?.replace('tick-', '')) - startMinute),
    events: () => cluster.list<Event>('', 'events').map(({ reason, message }) => `${reason}: ${message}`),
    finish: async (job: Job | undefined, type: 'Complete' | 'Failed' = 'Complete') => {
      const time = new Date(cluster.parts.engine.clock.now()).toISOString()
      const conditions = [{ type, status: 'True', lastProbeTime: time, lastTransitionTime: time }]
      const status = { conditions, startTime: time, ...(type === 'Complete' ? { completionTime: time, succeeded: 1 } : {}) }
      await cluster.patch({ group: 'batch', plural: 'jobs', name: job?.metadata?.name ?? '' }, { status }, 'status')
      await cluster.settle()
    },
  }
}

test('starts a Job at every start time, named by its minute, and records its success', async () => {
  const { cluster, cronJob, jobs, started, active, events, finish } = await setUp({ schedule: '*/2 * * * *' })
  await cluster.settle(119_000)
  assert.deepEqual(started(), [])
  await cluster.settle(2000)
  assert.deepEqual([started(), active()], [[2], [2]])
  const [job] = jobs()
  assert.deepEqual(job?.metadata?.annotations?.['note'], 'yes')
  assert.equal(job?.metadata?.labels?.['app'], 'tick')
  assert.deepEqual(
    job?.metadata?.ownerReferences?.map(({ kind, name, controller }) => ({ kind, name, controller })),
    [{ kind: 'CronJob', name: 'tick', controller: true }],
  )
  assert.equal(cronJob().status?.lastScheduleTime, '2026-01-01T00:02:00Z')
  await finish(job)
  assert.equal(cronJob().status?.active, undefined)
  assert.equal(cronJob().status?.lastSuccessfulTime, job && jobs()[0]?.status?.completionTime)
  const name = `tick-${startMinute + 2}`
  for (const event of [`SuccessfulCreate: Created job ${name}`, `SawCompletedJob: Saw completed job: ${name}, status: Complete`])
    assert.ok(events().includes(event), event)
  await cluster.settle(10 * minuteMs)
  assert.deepEqual(
    started(),
    [10, 12, 2, 4, 6, 8].toSorted((a, b) => a - b),
  )
  await cluster.close()
})

test('the time zone decides when a Job starts', async () => {
  const { cluster, started } = await setUp({ schedule: '0 9 * * *', timeZone: 'Asia/Tokyo' })
  await cluster.settle(24 * 60 * minuteMs + 1000)
  // The cluster starts at 9:00 in Tokyo.
  assert.deepEqual(started(), [24 * 60])
  await cluster.close()
})

test('concurrency policies: Allow starts more, Forbid waits, Replace deletes the active Job', async () => {
  for (const [concurrencyPolicy, expected, note] of [
    ['Allow', [1, 2, 3], undefined],
    ['Forbid', [1], 'JobAlreadyActive: Not starting job because prior execution is running and concurrency policy is Forbid'],
    ['Replace', [3], `SuccessfulDelete: Deleted job tick-${startMinute + 1}`],
  ] as const) {
    const { cluster, started, active, events, finish, jobs } = await setUp({ concurrencyPolicy })
    await cluster.settle(3 * minuteMs + 1000)
    assert.deepEqual([started(), active()], [expected, expected], concurrencyPolicy)
    if (note !== undefined) assert.ok(events().includes(note), note)
    if (concurrencyPolicy === 'Forbid') {
      await finish(jobs()[0])
      assert.deepEqual([started(), active()], [[1, 3], [3]], 'the missed start follows when the Job is done')
    }
    await cluster.close()
  }
})

test('a suspended CronJob starts nothing; a resumed one starts the latest missed run', async () => {
  const { cluster, started, events } = await setUp({ suspend: true })
  await cluster.settle(200 * minuteMs)
  assert.deepEqual(started(), [])
  await cluster.patch(target, { spec: { suspend: false } })
  await cluster.settle()
  assert.deepEqual(started(), [200])
  const warning = 'TooManyMissedTimes: too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew'
  assert.ok(events().includes(warning), String(events()))
  await cluster.close()
})

test('a starting deadline drops missed runs', async () => {
  const { cluster, started } = await setUp({ suspend: true, schedule: '*/10 * * * *', startingDeadlineSeconds: 30 })
  await cluster.settle(25 * minuteMs)
  await cluster.patch(target, { spec: { suspend: false } })
  await cluster.settle()
  assert.deepEqual(started(), [])
  await cluster.settle(6 * minuteMs)
  assert.deepEqual(started(), [30])
  await cluster.close()
})

test('a changed schedule waits for its next start time', async () => {
  const { cluster, started } = await setUp({ schedule: '0 0 29 2 *' })
  await cluster.settle(30 * minuteMs + 30_000)
  await cluster.patch(target, { spec: { schedule: '* * * * *' } })
  await cluster.settle(1000)
  assert.deepEqual(started(), [])
  await cluster.settle(minuteMs)
  assert.deepEqual(started(), [31])
  await cluster.close()
})

test('finished Jobs are kept up to the history limits', async () => {
  const { cluster, jobs, started, finish } = await setUp({ successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 1 })
  for (const type of ['Complete', 'Failed', 'Complete', 'Complete', 'Failed'] as const) {
    await cluster.settle(minuteMs)
    await finish(jobs().at(-1), type)
  }
  assert.deepEqual(started(), [3, 4, 5])
  await cluster.close()
})

test('a history limit of 0 deletes a Job when it finishes, after its event; its success is not recorded', async () => {
  const { cluster, cronJob, jobs, events, finish } = await setUp({ schedule: '0 * * * *', successfulJobsHistoryLimit: 0 })
  await cluster.settle(60 * minuteMs + 1000)
  const name = jobs()[0]?.metadata?.name
  await finish(jobs()[0])
  assert.deepEqual(jobs(), [])
  assert.deepEqual(cronJob().status, { lastScheduleTime: '2026-01-01T01:00:00Z' })
  for (const event of [`SawCompletedJob: Saw completed job: ${name}, status: Complete`, `SuccessfulDelete: Deleted job ${name}`])
    assert.ok(events().includes(event), event)
  await cluster.close()
})

test('a finished Job is not started again if a client sets back the time of the last start', async () => {
  const { cluster, cronJob, jobs, active, finish } = await setUp({ schedule: '0 * * * *' })
  await cluster.settle(60 * minuteMs + 1000)
  await finish(jobs()[0])
  const lastScheduleTime = '2026-01-01T00:00:00Z'
  await cluster.patch(target, { status: { lastScheduleTime } }, 'status')
  await cluster.settle(5000)
  assert.deepEqual([active(), cronJob().status?.lastScheduleTime], [[], lastScheduleTime])
  await cluster.close()
})

test('a Job of another creator is reported; a missing Job is no longer active', async () => {
  const { cluster, cronJob, jobs, active, events } = await setUp({ schedule: '*/5 * * * *' })
  const { uid } = cronJob().metadata ?? {}
  const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'tick', uid, controller: true }]
  await cluster.create('batch', 'jobs', { metadata: { name: 'by-hand', ownerReferences }, spec: jobSpec })
  await cluster.settle()
  assert.ok(events().includes('UnexpectedJob: Saw a job that the controller did not create or forgot: by-hand'))
  await cluster.settle(5 * minuteMs)
  assert.deepEqual(active(), [5])
  const { name = '' } = jobs().find(({ metadata }) => metadata?.name !== 'by-hand')?.metadata ?? {}
  await cluster.remove({ group: 'batch', plural: 'jobs', name })
  // Deleted Jobs leave their pods by default; no garbage collector runs here.
  await cluster.patch({ group: 'batch', plural: 'jobs', name }, { metadata: { finalizers: null } })
  await cluster.settle()
  assert.deepEqual(active(), [])
  assert.ok(events().includes(`MissingJob: Active job went missing: ${name}`))
  await cluster.close()
})

test('a Job that was created before the status was written becomes active; no start time has two Jobs', async () => {
  const { cluster, cronJob, started, active } = await setUp({})
  let fails = true
  Object.assign(cluster.parts.engine.admission, {
    validate: async ({ call }: { readonly call: { readonly resource: { readonly kind: string } } }) => {
      if (fails && call.resource.kind === 'CronJob') throw new Error('stopped')
    },
  })
  await cluster.settle(minuteMs + 150)
  assert.deepEqual([started(), active()], [[1], []])
  await cluster.restart()
  fails = false
  await cluster.settle(1000)
  assert.deepEqual([started(), active()], [[1], [1]])
  assert.equal(cronJob().status?.lastScheduleTime, '2026-01-01T00:01:00Z')
  await cluster.settle(minuteMs)
  assert.deepEqual(started(), [1, 2])
  await cluster.close()
})

test('a schedule that is never due gets an event', async () => {
  const { cluster, events } = await setUp({ schedule: '0 0 31 2 *' })
  assert.match(events()[0] ?? '', /^InvalidSchedule: invalid schedule: 0 0 31 2 \* : time difference/)
  await cluster.close()
})

test('Replace deletes no Job of another namespace that a client wrote into the status', async () => {
  const { cluster } = await setUp({ concurrencyPolicy: 'Replace' })
  const { engine } = cluster.parts
  const address = { resource: cluster.find('batch', 'jobs'), namespace: 'other', name: 'victim' }
  const call = internalCall(engine, address)
  await create(engine, call, { object: withDefaults(call, { metadata: { name: 'victim', namespace: 'other' }, spec: jobSpec } as object) })
  const active = [{ kind: 'Job', apiVersion: 'batch/v1', namespace: 'other', name: 'victim', uid: 'chosen' }]
  await cluster.patch(target, { status: { active } }, 'status')
  await cluster.settle(2 * minuteMs)
  assert.notEqual(engine.store.read(address), undefined)
  await cluster.close()
})

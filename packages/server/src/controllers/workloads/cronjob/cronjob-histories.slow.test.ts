// Random histories of a CronJob: time passes, Jobs end or are deleted, the spec changes, controllers restart. No start time has two Jobs,
// none is lost, and every Job has its event.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CronJob, Job } from '@cluster-apiserver/api/resources/batch/v1.schema.js'
import type { Event } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { finishedConditionOf } from '../job/job-state.js'
import { randomFrom, workloadCluster } from '../workload.fixture.js'

const histories = 6
const steps = 14
/** Long enough that the rate limit of events about one object drops none. */
const periodMs = 60 * 60_000
const target = { group: 'batch', plural: 'cronjobs', name: 'tick' }
const jobTemplate = { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'app' }] } } } }

async function playHistory(seed: number): Promise<void> {
  const random = randomFrom(seed)
  const concurrencyPolicy = ['Allow', 'Forbid', 'Replace'][seed % 3]
  const cluster = await workloadCluster(['cronjob'])
  const log: string[] = [`seed ${seed} ${concurrencyPolicy}`]
  const created: string[] = []
  const problems: string[] = []
  const jobs = (): readonly Job[] => cluster.list<Job>('batch', 'jobs')
  const open = (): readonly Job[] => jobs().filter((job) => finishedConditionOf(job) === undefined)
  const cronJob = (): CronJob => cluster.list<CronJob>('batch', 'cronjobs')[0] as CronJob
  const resource = cluster.find('batch', 'jobs')
  cluster.parts.engine.store.watch({
    resource,
    namespace: '',
    matches: undefined,
    deliver: ({ object, type }) => {
      if (type !== 'ADDED') return
      const name = object.decode(resource).metadata?.name ?? ''
      if (created.includes(name)) problems.push(`${name} was created twice`)
      if (Number(name.slice('tick-'.length)) % 60 !== 0) problems.push(`${name} is not due`)
      if (cronJob().spec?.suspend === true) problems.push(`${name} was created while suspended`)
      if (concurrencyPolicy !== 'Allow' && open().length > 1) problems.push(`${name} runs next to another Job`)
      created.push(name)
    },
  })
  await cluster.create('batch', 'cronjobs', {
    metadata: { name: 'tick' },
    spec: { schedule: '0 * * * *', concurrencyPolicy, successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 1, jobTemplate },
  })
  await cluster.settle()
  const finish = async (type: 'Complete' | 'Failed'): Promise<void> => {
    const job = open()[random(open().length)]
    if (job === undefined) return
    const time = new Date(cluster.parts.engine.clock.now()).toISOString()
    const conditions = [{ type, status: 'True', lastProbeTime: time, lastTransitionTime: time }]
    const status = { conditions, startTime: time, ...(type === 'Complete' ? { completionTime: time } : {}) }
    await cluster.patch({ group: 'batch', plural: 'jobs', name: job.metadata?.name ?? '' }, { status }, 'status')
  }
  const actions: readonly (readonly [string, () => Promise<void>])[] = [
    ['complete', () => finish('Complete')],
    ['complete', () => finish('Complete')],
    ['fail', () => finish('Failed')],
    ['suspend', () => cluster.patch(target, { spec: { suspend: true } })],
    ['resume', () => cluster.patch(target, { spec: { suspend: false } })],
    ['restart', () => cluster.restart()],
    [
      'delete',
      async () => {
        const job = jobs()[random(jobs().length)]
        if (job !== undefined) await cluster.remove({ group: 'batch', plural: 'jobs', name: job.metadata?.name ?? '' })
      },
    ],
  ]
  for (let step = 0; step < steps; step++) {
    const [name, act] = actions[random(actions.length)] as (typeof actions)[number]
    log.push(name)
    await act()
    await cluster.settle()
    const isDue = cronJob().spec?.suspend !== true && (concurrencyPolicy !== 'Forbid' || open().length === 0)
    const before = created.length
    await cluster.settle(periodMs)
    assert.ok(!isDue || created.length > before, `no Job was started: ${log}`)
  }
  const count = (type: string): number => jobs().filter((job) => finishedConditionOf(job)?.type === type).length
  assert.deepEqual(problems, [], log.join())
  assert.ok(count('Complete') <= 2 && count('Failed') <= 1, `history limits: ${log}`)
  assert.deepEqual(
    (cronJob().status?.active ?? []).map(({ name }) => name).sort(),
    open()
      .map(({ metadata }) => metadata?.name)
      .sort(),
  )
  const messages = new Set(cluster.list<Event>('', 'events').map(({ message }) => message))
  assert.deepEqual(
    created.filter((name) => !messages.has(`Created job ${name}`)),
    [],
    `lost events: ${log}`,
  )
  await cluster.close()
}

test('CronJobs of random histories start every due Job once', async () => {
  for (let seed = 1; seed <= histories; seed++) await playHistory(seed)
})

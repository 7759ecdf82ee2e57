// Jobs and CronJobs of a whole server: pods with admission, completion, garbage collection, TTL, and runs by a moved clock.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { expectStatus, until } from '../../../../test/kit/fixtures.js'
import { startWithFlags } from './start-with-flags.js'

/** The fields of lists, pods, Jobs and CronJobs that these tests read. */
interface Workload {
  readonly metadata: { readonly name: string; readonly finalizers?: readonly string[] }
  readonly items: readonly Workload[]
  readonly reason: string
  readonly spec: { readonly serviceAccountName?: string; readonly hostname?: string }
  readonly status?: {
    readonly phase?: string
    readonly succeeded?: number
    readonly failed?: number
    readonly completedIndexes?: string
    readonly active?: unknown
    readonly lastScheduleTime?: string
    readonly conditions?: readonly { readonly type: string }[]
  }
}

const template = { spec: { automountServiceAccountToken: false, restartPolicy: 'Never', containers: [{ name: 'main', image: 'app:1' }] } }

async function start(t: TestContext) {
  const { server, client, namespace, core, get } = await startWithFlags<Workload>(t, '--controllers=*,job,cronjob')
  const batch = `/apis/batch/v1/namespaces/${namespace}`
  const pods = async () => (await get(`${core}/pods`)).items
  const end = async ({ metadata }: Workload, phase: 'Succeeded' | 'Failed') => {
    const path = `${core}/pods/${metadata.name}/status`
    expectStatus(await client.patch(path, 'application/merge-patch+json', { status: { phase } }), 200)
  }
  const untilPods = (count: number) => until(pods, ({ length }) => length === count)
  return { server, client, core, batch, get, pods, end, untilPods }
}

test('Job: indexes run to completion, a failed pod is replaced, the TTL deletes the Job and its pods', async (t) => {
  const { server, client, core, batch, get, pods, end, untilPods } = await start(t)
  const spec = { completions: 2, parallelism: 2, completionMode: 'Indexed', ttlSecondsAfterFinished: 3600, template }
  expectStatus(await client.post(`${batch}/jobs`, { metadata: { name: 'calc' }, spec }), 201)
  const [first, second] = (await untilPods(2)) as [Workload, Workload]
  assert.deepEqual([first.spec.hostname, first.spec.serviceAccountName], ['calc-0', 'default'])
  await end(first, 'Failed')
  await end(second, 'Succeeded')
  const replaced = await untilPods(3)
  for (const pod of replaced) if (pod.status?.phase === 'Pending') await end(pod, 'Succeeded')
  const { status } = await until(
    () => get(`${batch}/jobs/calc`),
    (job) => job.status?.conditions !== undefined,
  )
  assert.deepEqual([status?.succeeded, status?.failed, status?.completedIndexes], [2, 1, '0,1'])
  assert.deepEqual(
    status?.conditions?.map(({ type }) => type),
    ['Complete'],
  )
  assert.deepEqual(
    (await pods()).flatMap(({ metadata }) => metadata.finalizers ?? []),
    [],
  )
  const reasons = (await get(`${core}/events`)).items.map(({ reason }) => reason)
  assert.ok(reasons.includes('SuccessfulCreate') && reasons.includes('Completed'), String(reasons))
  await server.clock.advance('61m')
  await until(
    () => get(`${batch}/jobs`),
    ({ items }) => items.length === 0,
  )
  await untilPods(0)
})

test('Job: deleting it deletes pods that are not counted yet', async (t) => {
  const { client, batch, get, untilPods } = await start(t)
  expectStatus(await client.post(`${batch}/jobs`, { metadata: { name: 'work' }, spec: { parallelism: 3, template } }), 201)
  await untilPods(3)
  expectStatus(await client.delete(`${batch}/jobs/work?propagationPolicy=Foreground`), 200)
  await untilPods(0)
  await until(
    () => get(`${batch}/jobs`),
    ({ items }) => items.length === 0,
  )
})

test('CronJob: the clock starts its Jobs', async (t) => {
  const { server, client, batch, get } = await start(t)
  const cronSpec = { schedule: '0 * * * *', concurrencyPolicy: 'Replace', jobTemplate: { spec: { template } } }
  expectStatus(await client.post(`${batch}/cronjobs`, { metadata: { name: 'hourly' }, spec: cronSpec }), 201)
  const names = new Set<string>()
  for (let hour = 0; hour < 3; hour++) {
    await server.clock.advance('1h')
    const { items } = await until(
      () => get(`${batch}/jobs`),
      (jobs) => jobs.items.length === 1 && !names.has(jobs.items[0]?.metadata.name ?? ''),
    )
    for (const { metadata } of items) names.add(metadata.name)
  }
  const minutes = [...names].map((name) => Number(name.replace('hourly-', '')))
  assert.deepEqual(
    minutes.map((minute) => minute - (minutes[0] ?? 0)),
    [0, 60, 120],
  )
  const { status } = await get(`${batch}/cronjobs/hourly`)
  assert.equal(Date.parse(status?.lastScheduleTime ?? ''), (minutes[2] ?? 0) * 60_000)
})

// Workload controllers of a whole server: off by default; ReplicaSets, ReplicationControllers and Deployments with admission and events.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { expectStatus, sleep, until } from '../../../../test/kit/fixtures.js'
import { makePodsReady, startWithFlags } from './start-with-flags.js'

/** The fields of lists, pods, quotas and workloads that these tests read. */
interface Workload {
  readonly metadata: { readonly name: string; readonly annotations: { readonly [name: string]: string } }
  readonly items: readonly Workload[]
  readonly reason: string
  readonly message: string
  readonly spec: { readonly replicas?: number; readonly serviceAccountName?: string }
  readonly status?: {
    readonly hard?: { readonly [name: string]: string }
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly availableReplicas?: number
    readonly conditions?: readonly { readonly type: string; readonly reason: string; readonly message: string }[]
  }
}

const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'main', image }] },
})

const workload = (kind: string, replicas: number, more: object = {}) => ({
  metadata: { name: 'web' },
  spec: {
    replicas,
    selector: kind === 'ReplicationController' ? { app: 'web' } : { matchLabels: { app: 'web' } },
    template: template('app:1'),
    ...more,
  },
})

async function start(t: TestContext, controllers: string) {
  const { client, namespace, core, get } = await startWithFlags<Workload>(t, `--controllers=${controllers}`)
  const apps = `/apis/apps/v1/namespaces/${namespace}`
  const pods = async () => (await get(`${core}/pods`)).items
  const makeReady = async () => makePodsReady({ client, core }, await pods())
  return { client, core, apps, get, pods, makeReady }
}

test('without the group workloads nothing happens to a Deployment', async (t) => {
  const { client, apps, get } = await start(t, '*')
  expectStatus(await client.post(`${apps}/deployments`, workload('Deployment', 1)), 201)
  await sleep(300)
  assert.deepEqual((await get(`${apps}/replicasets`)).items, [])
})

for (const [name, kind, path] of [
  ['replicaset', 'ReplicaSet', 'apps'],
  ['replicationcontroller', 'ReplicationController', 'core'],
] as const) {
  test(`${kind}: creates pods with defaults and admission, records events, reports a full quota`, async (t) => {
    const found = await start(t, `*,${name}`)
    const { client, core, get, pods, makeReady } = found
    const collection = `${found[path]}/${kind.toLowerCase()}s`
    expectStatus(await client.post(`${core}/resourcequotas`, { metadata: { name: 'few' }, spec: { hard: { pods: '2' } } }), 201)
    await until(
      () => get(`${core}/resourcequotas/few`),
      (quota) => quota.status?.hard?.['pods'] === '2',
    )
    expectStatus(await client.post(collection, workload(kind, 3)), 201)
    const failed = await until(
      () => get(`${collection}/web`),
      ({ status }) => status?.conditions?.[0]?.type === 'ReplicaFailure' && status.replicas === 2,
    )
    assert.match(failed.status?.conditions?.[0]?.message ?? '', /exceeded quota: few/)
    for (const { spec, metadata } of await pods()) {
      assert.equal(spec.serviceAccountName, 'default')
      assert.match(metadata.name, /^web-[a-z0-9]{5}$/)
    }
    expectStatus(await client.delete(`${core}/resourcequotas/few`), 200)
    await until(pods, ({ length }) => length === 3)
    await makeReady()
    await until(
      () => get(`${collection}/web`),
      ({ status }) => status?.availableReplicas === 3 && status.conditions === undefined,
    )
    const events = (await get(`${core}/events`)).items.map(({ reason }) => reason)
    assert.ok(events.includes('SuccessfulCreate') && events.includes('FailedCreate'), String(events))
  })
}

test('Deployment: rolls out a new template, and keeps the old ReplicaSet for a rollback', async (t) => {
  const { client, core, apps, get, pods, makeReady } = await start(t, '*,workloads')
  expectStatus(await client.post(`${apps}/deployments`, workload('Deployment', 3)), 201)
  const untilComplete = (generation: number) =>
    until(
      async () => {
        await makeReady()
        return get(`${apps}/deployments/web`)
      },
      ({ status }) =>
        status?.observedGeneration === generation &&
        status.updatedReplicas === 3 &&
        status.replicas === 3 &&
        status.conditions?.some(({ reason }) => reason === 'NewReplicaSetAvailable') === true,
    )
  await untilComplete(1)
  const [first = ''] = (await get(`${apps}/replicasets`)).items.map(({ metadata }) => metadata.name)
  const roll = async (image: string) => {
    const body = { spec: { template: template(image) } }
    expectStatus(await client.patch(`${apps}/deployments/web`, 'application/strategic-merge-patch+json', body), 200)
  }
  await roll('app:2')
  await untilComplete(2)
  const sizes = (await get(`${apps}/replicasets`)).items.map(({ spec }) => spec.replicas)
  assert.deepEqual(sizes.toSorted(), [0, 3])
  await roll('app:1')
  await untilComplete(3)
  const revived = await get(`${apps}/replicasets/${first}`)
  assert.equal(revived.metadata.annotations['deployment.kubernetes.io/revision'], '3')
  assert.equal(revived.metadata.annotations['deployment.kubernetes.io/revision-history'], '1')
  assert.ok((await pods()).every(({ metadata }) => metadata.name.startsWith(`${first}-`)))
  const messages = (await get(`${core}/events`)).items.filter(({ reason }) => reason === 'ScalingReplicaSet').map(({ message }) => message)
  assert.ok(messages.includes(`Scaled up replica set ${first} to 3`), String(messages))
})

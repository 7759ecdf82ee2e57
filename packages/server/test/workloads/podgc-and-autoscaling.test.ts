// Pod garbage collection and the horizontal pod autoscaler of a whole server, with a movable clock.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { expectStatus, until } from '../../../../test/kit/fixtures.js'
import { startWithFlags } from './start-with-flags.js'

interface Shown {
  readonly metadata: { readonly name: string }
  readonly items: readonly Shown[]
  readonly reason: string
  readonly message: string
  readonly spec: { readonly replicas?: number }
  readonly status?: {
    readonly phase?: string
    readonly conditions?: readonly { readonly type: string; readonly reason: string; readonly message: string }[]
  }
}

const start = (t: TestContext, ...flags: readonly string[]) => startWithFlags<Shown>(t, '--controllers=*,workloads', ...flags)

test('podgc deletes pods of missing nodes after the quarantine, and the oldest finished pods', async (t) => {
  const { client, core, get, server } = await start(t, '--terminated-pod-gc-threshold=1')
  const spec = { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] }
  expectStatus(await client.post(`${core}/pods`, { metadata: { name: 'lost' }, spec: { ...spec, nodeName: 'missing' } }), 201)
  for (const name of ['a', 'b']) {
    expectStatus(await client.post(`${core}/pods`, { metadata: { name }, spec }), 201)
    expectStatus(await client.patch(`${core}/pods/${name}/status`, 'application/merge-patch+json', { status: { phase: 'Succeeded' } }), 200)
  }
  const names = async () => (await get(`${core}/pods`)).items.map(({ metadata }) => metadata.name)
  await server.clock.advance('25s')
  assert.deepEqual(await until(names, ({ length }) => length === 2), ['b', 'lost'])
  await server.clock.advance('60s')
  assert.deepEqual(await until(names, ({ length }) => length === 1), ['b'])
})

test('podgc marks pods of missing nodes: running ones fail, finished ones keep their phase', async (t) => {
  const { client, core, get, server } = await start(t)
  const spec = { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }], nodeName: 'missing' }
  for (const [name, phase] of [
    ['lost', 'Running'],
    ['done', 'Succeeded'],
  ] as const) {
    expectStatus(await client.post(`${core}/pods`, { metadata: { name, finalizers: ['example.com/wait'] }, spec }), 201)
    expectStatus(await client.patch(`${core}/pods/${name}/status`, 'application/merge-patch+json', { status: { phase } }), 200)
  }
  await server.clock.advance('25s')
  await server.clock.advance('60s')
  const shown = async () =>
    (await get(`${core}/pods`)).items.map(({ metadata, status }) => [
      metadata.name,
      status?.phase,
      status?.conditions?.map(({ reason }) => reason),
    ])
  const marked = [
    ['done', 'Succeeded', ['DeletionByPodGC']],
    ['lost', 'Failed', ['DeletionByPodGC']],
  ]
  assert.deepEqual(await until(shown, (pods) => pods.every(([, , reasons]) => reasons !== undefined)), marked)
})

test('the autoscaler enforces its bounds, and reports that no metrics are served', async (t) => {
  const { client, core, namespace, get, server } = await start(t)
  const apps = `/apis/apps/v1/namespaces/${namespace}`
  const autoscalers = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`
  const labels = { app: 'web' }
  const template = { metadata: { labels }, spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] } }
  expectStatus(
    await client.post(`${apps}/deployments`, {
      metadata: { name: 'web' },
      spec: { replicas: 5, selector: { matchLabels: labels }, template },
    }),
    201,
  )
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
  expectStatus(await client.post(autoscalers, { metadata: { name: 'web' }, spec: { scaleTargetRef, maxReplicas: 3 } }), 201)
  await server.clock.advance('16s')
  await until(
    () => get(`${apps}/deployments/web`),
    ({ spec }) => spec.replicas === 3,
  )
  await server.clock.advance('16s')
  const shown = await until(
    () => get(`${autoscalers}/web`),
    ({ status }) => status?.conditions?.some(({ type }) => type === 'ScalingActive') === true,
  )
  const active = shown.status?.conditions?.find(({ type }) => type === 'ScalingActive')
  assert.equal(active?.reason, 'FailedGetResourceMetric')
  assert.match(active?.message ?? '', /could not find the requested resource \(get pods\.metrics\.k8s\.io\)$/)
  const rescale = (await get(`${core}/events`)).items.find(({ reason }) => reason === 'SuccessfulRescale')
  assert.equal(rescale?.message, 'New size: 3; reason: Current number of replicas above Spec.MaxReplicas')
})

test('an autoscaler does not scale cluster-scoped objects', async (t) => {
  const { client, namespace, get, server } = await start(t)
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'farms.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'farms', singular: 'farm', kind: 'Farm', listKind: 'FarmList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
        },
      ],
    },
  }
  expectStatus(await client.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd), 201)
  const farms = '/apis/example.com/v1/farms'
  await until(
    () => client.get(farms),
    ({ status }) => status === 200,
  )
  const farm = { apiVersion: 'example.com/v1', kind: 'Farm', metadata: { name: 'big' }, spec: { replicas: 5 } }
  expectStatus(await client.post(farms, farm), 201)
  const autoscalers = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`
  const scaleTargetRef = { apiVersion: 'example.com/v1', kind: 'Farm', name: 'big' }
  expectStatus(await client.post(autoscalers, { metadata: { name: 'big' }, spec: { scaleTargetRef, maxReplicas: 3 } }), 201)
  await server.clock.advance('16s')
  const shown = await until(
    () => get(`${autoscalers}/big`),
    ({ status }) => (status?.conditions ?? []).length > 0,
  )
  assert.deepEqual(
    shown.status?.conditions?.map(({ reason }) => reason),
    ['FailedGetScale'],
  )
  assert.equal((await get(`${farms}/big`)).spec.replicas, 5)
})

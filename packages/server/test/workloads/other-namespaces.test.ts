// Users of one namespace must not affect other namespaces through controllers: owner references with foreign uids, cluster-scoped targets.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from 'cluster-apiserver'
import { clientOf } from '../../../../test/kit/embedded.js'
import { until } from '../../../../test/kit/fixtures.js'

test('pods with an owner reference to a ReplicaSet of another namespace', async (t) => {
  const server = await startServer({ nodes: 1 })
  t.after(() => server.close({ immediately: true }))
  const { core, apps } = server.client
  await core.v1.namespaces().create({ metadata: { name: 'other' } })
  const labels = { app: 'web' }
  const spec = { containers: [{ name: 'main', image: 'app:1' }] }
  const sets = apps.v1.replicaSets('default')
  const { metadata } = await sets.create({
    metadata: { name: 'web' },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  })
  const readySet = (replicas: number) =>
    until(
      () => sets.get('web'),
      ({ status }) => status?.readyReplicas === replicas && status.replicas === replicas,
    )
  await readySet(1)
  // The second uid looks like the bucket of pods without a controller.
  const uids = [metadata?.uid ?? '', '/default', 'default/', '/other']
  // The garbage collector keeps dependents of unknown kinds.
  for (const [i, uid] of uids.entries())
    await core.v1.pods('other').create({
      metadata: {
        name: `foreign-${i}`,
        labels,
        ownerReferences: [{ apiVersion: 'example.org/v1', kind: 'Unknown', name: 'web', uid, controller: true }],
      },
      spec,
    })
  await sets.patch('web', { spec: { replicas: 3 } })
  await readySet(3)
  const own = (await core.v1.pods('default').list()).items
  assert.equal(own.length, 3)
  await sets.patch('web', { spec: { replicas: 0 } })
  await until(
    () => sets.get('web'),
    ({ status }) => status?.replicas === 0,
  )
  const foreign = (await core.v1.pods('other').list()).items
  assert.deepEqual(
    foreign.map((pod) => pod.metadata?.ownerReferences?.map(({ uid }) => uid)),
    uids.map((uid) => [uid]),
  )
})

test('an autoscaler cannot scale a cluster-scoped object', async (t) => {
  const server = await startServer({ nodes: 1 })
  t.after(() => server.close({ immediately: true }))
  const api = clientOf(server)
  t.after(() => api.close())
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { replicas: { type: 'integer' } } },
      status: { type: 'object', properties: { replicas: { type: 'integer' } } },
    },
  }
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
  const names = { plural: 'fleets', kind: 'Fleet' }
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {}, scale } }]
  const post = (path: string, body: object) => api.send({ method: 'POST', path, body, headers: { 'Content-Type': 'application/json' } })
  await post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', {
    metadata: { name: 'fleets.example.org' },
    spec: { group: 'example.org', scope: 'Cluster', names, versions },
  })
  const fleets = '/apis/example.org/v1/fleets'
  const fleet = { apiVersion: 'example.org/v1', kind: 'Fleet', metadata: { name: 'all' }, spec: { replicas: 1 } }
  await until(
    () => post(fleets, fleet),
    ({ status }) => status === 201,
  )
  const scaleTargetRef = { apiVersion: 'example.org/v1', kind: 'Fleet', name: 'all' }
  const autoscalers = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers'
  await post(autoscalers, { metadata: { name: 'a' }, spec: { minReplicas: 5, maxReplicas: 9, scaleTargetRef } })
  const read = async (path: string) => JSON.parse((await api.send({ path })).text)
  const { status } = await until(
    async () => {
      await server.clock.advance('15s')
      return read(`${autoscalers}/a`)
    },
    (autoscaler) => autoscaler.status?.conditions !== undefined,
  )
  assert.equal(status.conditions[0].reason, 'FailedGetScale')
  assert.equal((await read(`${fleets}/all`)).spec.replicas, 1)
})

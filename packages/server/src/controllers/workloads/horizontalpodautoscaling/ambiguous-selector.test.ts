// Two autoscalers of the same pods: the first one notices it in its second round, as in kube-controller-manager.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HorizontalPodAutoscaler } from '@cluster-apiserver/api/resources/autoscaling/v2.schema.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { namespace, type WorkloadCluster, workloadCluster } from '../workload.fixture.js'

async function withWeb(work: (cluster: WorkloadCluster) => Promise<void>): Promise<void> {
  const cluster = await workloadCluster(['deployment', 'replicaset', 'horizontalpodautoscaling'])
  try {
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'app:1' }] } }
    const spec = { replicas: 1, selector: { matchLabels: { app: 'web' } }, template }
    await cluster.create('apps', 'deployments', { metadata: { name: 'web' }, spec })
    await cluster.settle()
    assert.equal(cluster.list<Pod>('', 'pods').length, 1)
    await work(cluster)
  } finally {
    await cluster.close()
  }
}

const autoscalers = { group: 'autoscaling', plural: 'horizontalpodautoscalers' }
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
const resource = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } }
const add = (cluster: WorkloadCluster, name: string) =>
  cluster.create(autoscalers.group, autoscalers.plural, {
    metadata: { name },
    spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 3, metrics: [{ type: 'Resource', resource }] },
  })
const reasonsOf = (cluster: WorkloadCluster) =>
  cluster
    .list<HorizontalPodAutoscaler>(autoscalers.group, autoscalers.plural)
    .map(({ status }) => status?.conditions?.find(({ type }) => type === 'ScalingActive')?.reason)

test('autoscalers of the same pods stop, one round after the other', () =>
  withWeb(async (cluster) => {
    await add(cluster, 'one')
    await cluster.settle(1000)
    await add(cluster, 'two')
    await cluster.settle(15_000)
    assert.deepEqual(reasonsOf(cluster), ['FailedGetResourceMetric', 'AmbiguousSelector'])
    await cluster.settle(15_000)
    assert.deepEqual(reasonsOf(cluster), ['AmbiguousSelector', 'AmbiguousSelector'])
    await cluster.remove({ ...autoscalers, name: 'two' })
    await cluster.settle(15_000)
    assert.deepEqual(reasonsOf(cluster), ['FailedGetResourceMetric'])
  }))

test('an autoscaler that is deleted during its round does not stop the others', () =>
  withWeb(async (cluster) => {
    await add(cluster, 'one')
    await cluster.settle(1000)
    await add(cluster, 'two')
    await cluster.settle(15_000)
    const { store } = cluster.parts.engine
    const stored = store.readCached({ resource: cluster.find(autoscalers.group, autoscalers.plural), namespace, name: 'two' })
    await cluster.remove({ ...autoscalers, name: 'two' })
    // The next round reads the object as it was before the deletion.
    let reads = 0
    const { readCached } = store
    store.readCached = (address) => (address.name === 'two' && ++reads === 1 ? stored : readCached.call(store, address))
    await cluster.settle(60_000)
    assert.ok(reads > 1)
    assert.deepEqual(reasonsOf(cluster), ['FailedGetResourceMetric'])
  }))

// Two autoscalers of the same pods: the first one notices it in its second round, as in kube-controller-manager.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HorizontalPodAutoscaler } from '@cluster-apiserver/api/resources/autoscaling/v2.schema.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { workloadCluster } from '../workload.fixture.js'

test('autoscalers of the same pods stop, one round after the other', async () => {
  const cluster = await workloadCluster(['deployment', 'replicaset', 'horizontalpodautoscaling'])
  try {
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'app:1' }] } }
    const spec = { replicas: 1, selector: { matchLabels: { app: 'web' } }, template }
    await cluster.create('apps', 'deployments', { metadata: { name: 'web' }, spec })
    await cluster.settle()
    assert.equal(cluster.list<Pod>('', 'pods').length, 1)
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
    const resource = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } }
    const add = (name: string) =>
      cluster.create('autoscaling', 'horizontalpodautoscalers', {
        metadata: { name },
        spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 3, metrics: [{ type: 'Resource', resource }] },
      })
    const reasons = () =>
      cluster
        .list<HorizontalPodAutoscaler>('autoscaling', 'horizontalpodautoscalers')
        .map(({ status }) => status?.conditions?.find(({ type }) => type === 'ScalingActive')?.reason)
    await add('one')
    await cluster.settle(1000)
    await add('two')
    await cluster.settle(15_000)
    assert.deepEqual(reasons(), ['FailedGetResourceMetric', 'AmbiguousSelector'])
    await cluster.settle(15_000)
    assert.deepEqual(reasons(), ['AmbiguousSelector', 'AmbiguousSelector'])
    await cluster.remove({ group: 'autoscaling', plural: 'horizontalpodautoscalers', name: 'two' })
    await cluster.settle(15_000)
    assert.deepEqual(reasons(), ['FailedGetResourceMetric'])
  } finally {
    await cluster.close()
  }
})

// A scheduler on an engine: changes that arrive while it decides about its only pod.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { internalPatch } from '../../framework/internal-call.js'
import { workloadCluster } from '../workload.fixture.js'

test('a pod is bound after its victims were deleted while it preempted them', async () => {
  const cluster = await workloadCluster(['scheduler'])
  const { engine } = cluster.parts
  await cluster.create('', 'nodes', { metadata: { name: 'a' } })
  const allocatable = { cpu: '4', memory: '8Gi', pods: '20' }
  await internalPatch(engine, { resource: cluster.find('', 'nodes'), name: 'a', subresource: 'status' }, { status: { allocatable } })
  const create = (name: string, priority: number) =>
    cluster.create('', 'pods', {
      metadata: { name },
      spec: {
        schedulerName: 'default-scheduler',
        priority,
        // Eviction deletes the pod at once.
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'main', image: 'app:1', resources: { requests: { cpu: '4' } } }],
      },
      status: { phase: 'Pending' },
    })
  await create('low', 1)
  await cluster.settle()
  await create('high', 2)
  await cluster.settle(11_000)
  assert.deepEqual(
    cluster.list<Pod>('', 'pods').map(({ metadata, spec }) => [metadata?.name, spec?.nodeName]),
    [['high', 'a']],
  )
  await cluster.close()
})

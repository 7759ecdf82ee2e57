// Pods of a node that does not exist are marked and deleted.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { workloadCluster } from '../workload.fixture.js'

test('pods of a missing node get the condition of the disruption, finished ones keep their phase', async () => {
  const cluster = await workloadCluster(['podgc'])
  try {
    for (const [name, phase] of Object.entries({ running: 'Running', finished: 'Succeeded' })) {
      const metadata = { name, finalizers: ['example.com/keep'] }
      await cluster.create('', 'pods', { metadata, spec: { nodeName: 'gone', containers: [{ name: 'main', image: 'app:1' }] } })
      await cluster.patch({ group: '', plural: 'pods', name }, { status: { phase } }, 'status')
    }
    // Passes come every 20 s; the node must be missing for 40 s.
    for (let pass = 0; pass < 5; pass++) await cluster.settle(20_000)
    const seen = cluster.list<Pod>('', 'pods').map(({ metadata, status }) => ({
      name: metadata?.name,
      isTerminating: metadata?.deletionTimestamp !== undefined,
      phase: status?.phase,
      conditions: status?.conditions?.map(({ type, reason }) => `${type} ${reason}`),
    }))
    const conditions = ['DisruptionTarget DeletionByPodGC']
    assert.deepEqual(seen, [
      { name: 'finished', isTerminating: true, phase: 'Succeeded', conditions },
      { name: 'running', isTerminating: true, phase: 'Failed', conditions },
    ])
  } finally {
    await cluster.close()
  }
})

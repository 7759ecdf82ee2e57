// Selectors of the owners of pods: an owner reference that a client chose must not change how pods of other namespaces are spread.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReplicaSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import { create } from '../../../verbs/create.js'
import { withDefaults } from '../../../verbs/version-conversion.js'
import { internalCall } from '../../framework/internal-call.js'
import { workloadCluster } from '../workload.fixture.js'
import { testPod } from './cluster.fixture.js'
import { ClusterIndex } from './cluster-index.js'
import { ClusterView } from './cluster-view.js'

test('a pod with the uid of a ReplicaSet of another namespace does not change its selector', async () => {
  const cluster = await workloadCluster([])
  const { parts } = cluster
  const resource = cluster.find('apps', 'replicasets')
  const createReplicaSet = async (namespace: string, app: string): Promise<void> => {
    const call = internalCall(parts.engine, { resource, namespace, name: 'web' })
    const labels = { app }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'app' }] } }
    const object = { metadata: { name: 'web', namespace }, spec: { selector: { matchLabels: labels }, template } }
    await create(parts.engine, call, { object: withDefaults(call, object) })
  }
  await createReplicaSet('n', 'web')
  await createReplicaSet('other', 'none')
  const uid = cluster.list<ReplicaSet>('apps', 'replicasets')[0]?.metadata?.uid ?? ''
  const podOf = (namespace: string) => {
    const pod = testPod('pod', { namespace, labels: { app: 'web' } })
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid, controller: true }]
    return { ...pod, metadata: { ...pod.metadata, ownerReferences } }
  }
  const view = new ClusterView({ ...parts, controlled: {} as never }, new ClusterIndex())
  assert.equal(view.now().groupSelector(podOf('other'))?.matches({ app: 'web' }), false)
  assert.equal(view.now().groupSelector(podOf('n'))?.matches({ app: 'web' }), true)
  await cluster.close()
})

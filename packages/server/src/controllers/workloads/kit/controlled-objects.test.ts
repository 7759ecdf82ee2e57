// Owner references that a client of another namespace wrote: controllers must not count, adopt or release such objects.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReplicaSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { Job } from '@cluster-apiserver/api/resources/batch/v1.schema.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { create } from '../../../verbs/create.js'
import { withDefaults } from '../../../verbs/version-conversion.js'
import { internalCall } from '../../framework/internal-call.js'
import { namespace, type WorkloadCluster, workloadCluster } from '../workload.fixture.js'
import { readAll } from './workload-parts.js'

const labels = { app: 'web' }
const spec = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'app' }] }
const template = { metadata: { labels }, spec: { containers: spec.containers } }
const otherNamespace = 'other'

const podsIn = ({ parts, find }: WorkloadCluster, where: string): readonly Pod[] => [...readAll<Pod>(parts, find('', 'pods'), where)]

/** Creates a pod in another namespace, whose owner reference the client chose. */
async function createForeignPod(
  { parts, find }: WorkloadCluster,
  owner: { readonly kind: string; readonly name: string; readonly uid: string },
) {
  const apiVersion = owner.kind === 'Job' ? 'batch/v1' : 'apps/v1'
  const call = internalCall(parts.engine, { resource: find('', 'pods'), namespace: otherNamespace, name: 'foreign' })
  const ownerReferences = [{ apiVersion, ...owner, controller: true }]
  const pod = { metadata: { name: 'foreign', namespace: otherNamespace, labels, ownerReferences }, spec }
  await create(parts.engine, call, { object: withDefaults(call, pod) })
}

async function replicaSetCluster(): Promise<{ readonly cluster: WorkloadCluster; readonly uid: string }> {
  const cluster = await workloadCluster(['replicaset'])
  await cluster.create('apps', 'replicasets', {
    metadata: { name: 'web' },
    spec: { replicas: 2, selector: { matchLabels: labels }, template },
  })
  await cluster.settle()
  return { cluster, uid: cluster.list<ReplicaSet>('apps', 'replicasets')[0]?.metadata?.uid ?? '' }
}

test('a pod of another namespace with the uid of a ReplicaSet does not count as its pod', async () => {
  const { cluster, uid } = await replicaSetCluster()
  await createForeignPod(cluster, { kind: 'ReplicaSet', name: 'web', uid })
  await cluster.patch({ group: 'apps', plural: 'replicasets', name: 'web' }, { spec: { replicas: 3 } })
  await cluster.settle()
  assert.equal(podsIn(cluster, namespace).length, 3)
  await cluster.patch({ group: 'apps', plural: 'replicasets', name: 'web' }, { spec: { replicas: 0 } })
  await cluster.settle()
  assert.deepEqual([podsIn(cluster, namespace).length, podsIn(cluster, otherNamespace).length], [0, 1])
  await cluster.close()
})

test('a uid that looks like a namespace makes no pod an orphan of that namespace', async () => {
  const { cluster } = await replicaSetCluster()
  await createForeignPod(cluster, { kind: 'ReplicaSet', name: 'web', uid: `/${namespace}` })
  await cluster.patch({ group: 'apps', plural: 'replicasets', name: 'web' }, { spec: { replicas: 3 } })
  await cluster.settle()
  assert.equal(podsIn(cluster, namespace).length, 3)
  await cluster.close()
})

test('an owner name with the uid of a Job releases no pod of that Job', async () => {
  const cluster = await workloadCluster(['job'])
  await cluster.create('batch', 'jobs', { metadata: { name: 'work' }, spec: { template: { spec } } })
  await cluster.settle()
  const uid = cluster.list<Job>('batch', 'jobs')[0]?.metadata?.uid ?? ''
  await createForeignPod(cluster, { kind: 'Job', name: `work/${uid}`, uid: 'chosen' })
  await cluster.settle(2000)
  assert.deepEqual(
    podsIn(cluster, namespace).map(({ metadata }) => metadata?.finalizers),
    [['batch.kubernetes.io/job-tracking']],
  )
  await cluster.close()
})

test('a list that fails is repeated, so that controllers go on', async () => {
  const cluster = await workloadCluster(['replicaset'])
  const { store } = cluster.parts.engine
  const readAllObjects = store.readAll
  let failures = 1
  Object.assign(store, {
    readAll: (...query: Parameters<typeof readAllObjects>) => {
      if (query[0].resource.kind === 'Pod' && failures-- > 0) throw new Error('not now')
      return readAllObjects.apply(store, query)
    },
  })
  await cluster.create('apps', 'replicasets', {
    metadata: { name: 'web' },
    spec: { replicas: 2, selector: { matchLabels: labels }, template },
  })
  await cluster.settle(1000)
  assert.equal(podsIn(cluster, namespace).length, 2)
  await cluster.close()
})

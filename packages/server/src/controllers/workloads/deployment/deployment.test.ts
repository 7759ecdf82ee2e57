// Deployments: random histories of spec changes, pod failures and restarts; rollback by annotation; name collisions.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment, ReplicaSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import { workloadCluster } from '../workload.fixture.js'
import { playHistory } from './deployment-histories.fixture.js'

for (const seed of [1, 15, 24])
  test(`random history ${seed} stays within the limits of a rollout and ends as specified`, () => playHistory(seed))

const web = { group: 'apps', plural: 'deployments', name: 'web' }
const templateWith = (image: string) => ({ metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image }] } })

async function deploy() {
  const cluster = await workloadCluster(['deployment'])
  const spec = { replicas: 1, selector: { matchLabels: { app: 'web' } }, template: templateWith('app:1') }
  await cluster.create('apps', 'deployments', { metadata: { name: 'web', annotations: { cause: 'first' } }, spec })
  await cluster.settle()
  return {
    cluster,
    deployment: () => cluster.list<Deployment>('apps', 'deployments')[0] as Deployment,
    sets: () => cluster.list<ReplicaSet>('apps', 'replicasets'),
  }
}

test('the annotation of the former rollback subresource restores template and annotations of a revision', async () => {
  const { cluster, deployment } = await deploy()
  const annotations = { cause: 'second' }
  await cluster.patch(web, { metadata: { annotations }, spec: { template: templateWith('app:2') } })
  await cluster.settle()
  await cluster.patch(web, { metadata: { annotations: { 'deprecated.deployment.rollback.to': '0' } } })
  await cluster.settle()
  assert.equal(deployment().spec?.template?.spec?.containers?.[0]?.image, 'app:1')
  assert.deepEqual(deployment().metadata?.annotations, { cause: 'first', 'deployment.kubernetes.io/revision': '3' })
  await cluster.patch(web, { metadata: { annotations: { 'deprecated.deployment.rollback.to': '9' } } })
  await cluster.settle()
  assert.equal(deployment().spec?.template?.spec?.containers?.[0]?.image, 'app:1')
  assert.equal(deployment().metadata?.annotations?.['deprecated.deployment.rollback.to'], undefined)
  await cluster.close()
})

test('a paused Deployment keeps old revisions beyond the history limit while a rollback is requested', async () => {
  const { cluster, sets } = await deploy()
  await cluster.patch(web, { spec: { template: templateWith('app:2'), strategy: { type: 'Recreate', rollingUpdate: null } } })
  await cluster.settle()
  const annotations = { 'deprecated.deployment.rollback.to': '0' }
  await cluster.patch(web, { metadata: { annotations }, spec: { paused: true, revisionHistoryLimit: 0 } })
  // The test acts as the ReplicaSet controller.
  for (const { metadata } of sets())
    await cluster.patch(
      { group: 'apps', plural: 'replicasets', name: metadata?.name ?? '' },
      { status: { observedGeneration: metadata?.generation } },
      'status',
    )
  await cluster.settle()
  assert.equal(sets().length, 2)
  await cluster.patch(web, { metadata: { annotations: { 'deprecated.deployment.rollback.to': null } } })
  await cluster.settle()
  assert.equal(sets().length, 1)
  await cluster.close()
})

test('a name that another ReplicaSet has taken raises the collision count', async () => {
  const { cluster, deployment, sets } = await deploy()
  const [first] = sets()
  const name = first?.metadata?.name ?? ''
  await cluster.remove(web)
  await cluster.remove({ group: 'apps', plural: 'replicasets', name })
  await cluster.create('apps', 'replicasets', {
    metadata: { name },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: 'other' } },
      template: { ...templateWith('x'), metadata: { labels: { app: 'other' } } },
    },
  })
  const spec = { replicas: 1, selector: { matchLabels: { app: 'web' } }, template: templateWith('app:1') }
  await cluster.create('apps', 'deployments', { metadata: { name: 'web' }, spec })
  await cluster.settle(1000)
  assert.equal(deployment().status?.collisionCount, 1)
  assert.equal(sets().length, 2)
  await cluster.close()
})

test('a Deployment that selects everything is left alone', async () => {
  const cluster = await workloadCluster(['deployment'])
  await cluster
    .create('apps', 'deployments', { metadata: { name: 'web' }, spec: { selector: {}, template: templateWith('app:1') } })
    .catch(() => undefined)
  await cluster.settle()
  assert.deepEqual(cluster.list('apps', 'replicasets'), [])
  await cluster.close()
})

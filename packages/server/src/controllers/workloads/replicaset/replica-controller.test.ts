// ReplicaSets and ReplicationControllers: number of pods, adoption and release, availability, spreading, failures.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReplicaSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { Event, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { isActivePod } from '../kit/pod-state.js'
import { controllerRefOf } from '../kit/workload-parts.js'
import { type WorkloadCluster, workloadCluster } from '../workload.fixture.js'

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'app' }] } }
const kinds = {
  ReplicaSet: { name: 'replicaset', group: 'apps', plural: 'replicasets', selector: { matchLabels: { app: 'web' } } },
  ReplicationController: { name: 'replicationcontroller', group: '', plural: 'replicationcontrollers', selector: { app: 'web' } },
} as const

const podsIn = (cluster: WorkloadCluster): readonly Pod[] => cluster.list<Pod>('', 'pods')
const activeIn = (cluster: WorkloadCluster): readonly Pod[] => podsIn(cluster).filter(isActivePod)

for (const [kind, { name: controller, group, plural, selector }] of Object.entries(kinds)) {
  const web = { group, plural, name: 'web' }

  const setUp = async (spec: object = {}) => {
    const cluster = await workloadCluster([controller])
    await cluster.create(group, plural, { metadata: { name: 'web' }, spec: { replicas: 3, selector, template, ...spec } })
    await cluster.settle()
    const status = () => cluster.list<ReplicaSet>(group, plural)[0]?.status
    return { cluster, status }
  }

  test(`${kind}: as many active pods as replicas, also after failures and restarts`, async () => {
    const { cluster, status } = await setUp()
    assert.equal(podsIn(cluster).length, 3)
    assert.deepEqual(status(), { replicas: 3, fullyLabeledReplicas: 3, observedGeneration: 1 })
    const [first, second] = podsIn(cluster) as [Pod, Pod]
    await cluster.setPod(first, 'Running', true)
    await cluster.setPod(second, 'Failed', false)
    await cluster.restart()
    await cluster.settle()
    assert.equal(podsIn(cluster).length, 4)
    assert.equal(activeIn(cluster).length, 3)
    await cluster.patch(web, { spec: { replicas: 1 } })
    await cluster.settle()
    assert.deepEqual(
      activeIn(cluster).map(({ metadata }) => metadata?.name),
      [first.metadata?.name],
    )
    assert.deepEqual(status(), { replicas: 1, fullyLabeledReplicas: 1, readyReplicas: 1, availableReplicas: 1, observedGeneration: 2 })
    await cluster.patch(web, { spec: { replicas: 0 } })
    await cluster.settle()
    assert.equal(activeIn(cluster).length, 0)
    assert.deepEqual(status(), { observedGeneration: 3 })
    await cluster.close()
  })

  test(`${kind}: adopts matching pods without a controller, releases pods that stop matching`, async () => {
    const { cluster } = await setUp({ replicas: 1 })
    const [own] = podsIn(cluster) as [Pod]
    const podNames = () => activeIn(cluster).map(({ metadata }) => metadata?.name)
    const patchPod = (name: string, metadata: object) => cluster.patch({ group: '', plural: 'pods', name }, { metadata })
    await patchPod(own.metadata?.name ?? '', { labels: { app: 'other' } })
    await cluster.settle()
    assert.equal(podNames().length, 2)
    assert.equal(podsIn(cluster).find(({ metadata }) => metadata?.name === own.metadata?.name)?.metadata?.ownerReferences, undefined)
    await cluster.setPod(own, 'Running', true)
    await patchPod(own.metadata?.name ?? '', { labels: { app: 'web' } })
    await cluster.settle()
    assert.deepEqual(podNames(), [own.metadata?.name], 'the adopted pod is ready, so the other one is deleted')
    await patchPod(own.metadata?.name ?? '', { ownerReferences: null })
    await cluster.settle()
    assert.deepEqual(podNames(), [own.metadata?.name])
    assert.equal(controllerRefOf(podsIn(cluster)[0] as Pod)?.kind, kind)
    await cluster.close()
  })

  test(`${kind}: queues the former controller of a pod that another one takes over`, async () => {
    const { cluster } = await setUp({ replicas: 1 })
    const [own] = podsIn(cluster) as [Pod]
    const ownerReferences = [{ apiVersion: 'example.com/v1', kind: 'Thing', name: 't', uid: 'other', controller: true }]
    await cluster.patch({ group: '', plural: 'pods', name: own.metadata?.name ?? '' }, { metadata: { ownerReferences } })
    await cluster.settle()
    assert.equal(podsIn(cluster).length, 2)
    await cluster.close()
  })

  test(`${kind}: a ready pod is available after minReadySeconds`, async () => {
    const { cluster, status } = await setUp({ replicas: 1, minReadySeconds: 10 })
    await cluster.setPod(podsIn(cluster)[0] as Pod, 'Running', true)
    await cluster.settle(5000)
    assert.deepEqual([status()?.readyReplicas, status()?.availableReplicas], [1, undefined])
    await cluster.settle(6000)
    assert.equal(status()?.availableReplicas, 1)
    await cluster.close()
  })
}

test('a ReplicaSet of a Deployment deletes pods on the node with most pods of its siblings first', async () => {
  const cluster = await workloadCluster(['replicaset'])
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'd', controller: true }]
  const create = (name: string, replicas: number) => {
    const labels = { app: name }
    const spec = { replicas, selector: { matchLabels: labels }, template: { ...template, metadata: { labels } } }
    return cluster.create('apps', 'replicasets', { metadata: { name, ownerReferences }, spec })
  }
  await create('one', 2)
  await create('two', 2)
  await cluster.settle()
  const bind = async (pod: Pod, node: string) => {
    const { metadata } = pod
    const { store } = cluster.parts.engine
    const [resource, address] = [
      cluster.find('', 'pods'),
      { resource: cluster.find('', 'pods'), namespace: 'n', name: metadata?.name ?? '' },
    ]
    const bound = { ...pod, spec: { ...pod.spec, nodeName: node } }
    await store.put(address, store.encode(resource, bound as Pod), { expect: Number(metadata?.resourceVersion) })
  }
  const [first, second, ...others] = podsIn(cluster).toSorted((a, b) => ((a.metadata?.name ?? '') > (b.metadata?.name ?? '') ? 1 : -1))
  await bind(first as Pod, 'a')
  await bind(second as Pod, 'b')
  for (const pod of others) await bind(pod, 'b')
  await cluster.settle()
  await cluster.patch({ group: 'apps', plural: 'replicasets', name: 'one' }, { spec: { replicas: 1 } })
  await cluster.settle()
  const left = activeIn(cluster).filter(({ metadata }) => metadata?.labels?.['app'] === 'one')
  assert.deepEqual(
    left.map(({ spec }) => spec?.nodeName),
    ['a'],
  )
  await cluster.close()
})

test('a pod that cannot be created is reported and tried again', async () => {
  const cluster = await workloadCluster(['replicaset'])
  const { engine } = cluster.parts
  let isRefused = true
  Object.assign(engine.admission, {
    validate: async ({ call }: { readonly call: { readonly resource: { readonly kind: string } } }) => {
      if (isRefused && call.resource.kind === 'Pod') throw new Error('no more pods')
    },
  })
  const spec = { replicas: 2, selector: { matchLabels: { app: 'web' } }, template }
  await cluster.create('apps', 'replicasets', { metadata: { name: 'web' }, spec })
  await cluster.settle(10)
  const conditions = () =>
    cluster
      .list<ReplicaSet>('apps', 'replicasets')[0]
      ?.status?.conditions?.map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
  assert.deepEqual(conditions(), ['ReplicaFailure FailedCreate: no more pods'])
  isRefused = false
  await cluster.settle(2000)
  assert.equal(podsIn(cluster).length, 2)
  assert.equal(conditions(), undefined)
  await cluster.close()
})

test('a pod that cannot be deleted is reported', async () => {
  const cluster = await workloadCluster(['replicaset'])
  const spec = { replicas: 1, selector: { matchLabels: { app: 'web' } }, template }
  await cluster.create('apps', 'replicasets', { metadata: { name: 'web' }, spec })
  await cluster.settle()
  Object.assign(cluster.parts.engine.admission, {
    validate: async ({
      operation,
      call,
    }: {
      readonly operation: string
      readonly call: { readonly resource: { readonly kind: string } }
    }) => {
      if (operation === 'DELETE' && call.resource.kind === 'Pod') throw new Error('protected')
    },
  })
  await cluster.patch({ group: 'apps', plural: 'replicasets', name: 'web' }, { spec: { replicas: 0 } })
  await cluster.settle(10)
  assert.deepEqual(
    cluster
      .list<ReplicaSet>('apps', 'replicasets')[0]
      ?.status?.conditions?.map(({ type, reason, message }) => `${type} ${reason}: ${message}`),
    ['ReplicaFailure FailedDelete: unable to delete pods: protected'],
  )
  const messages = cluster.list<Event>('', 'events').map(({ reason, message }) => `${reason}: ${message}`)
  assert.ok(messages.includes('FailedDelete: Error deleting: protected'), String(messages))
  await cluster.close()
})

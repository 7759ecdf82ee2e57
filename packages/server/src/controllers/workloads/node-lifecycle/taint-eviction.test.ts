// Pods on a node with NoExecute taints: events and deletions over time; and which nodes count for the disruption of their zone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unavailable } from '@cluster-apiserver/api/api/api-error.js'
import type { Event, Node, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { type WorkloadCluster, workloadCluster } from '../workload.fixture.js'

const podKind = { group: '', plural: 'pods' }
const taint = (...keys: string[]) => ({ spec: { taints: keys.map((key) => ({ key, effect: 'NoExecute' })) } })
const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } }

async function withNodes(names: readonly string[], work: (cluster: WorkloadCluster) => Promise<void>): Promise<void> {
  const cluster = await workloadCluster(['nodelifecycle'])
  try {
    for (const name of names) await cluster.create('', 'nodes', { metadata: { name } })
    await work(cluster)
  } finally {
    await cluster.close()
  }
}

const addPod = (cluster: WorkloadCluster, name: string, tolerations: readonly object[], metadata: object = {}) =>
  cluster.create('', 'pods', {
    metadata: { name, ...metadata },
    spec: { nodeName: 'a', tolerations, containers: [{ name: 'main', image: 'app:1' }] },
  })
const tolerated = (key: string, tolerationSeconds?: number) => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
})
/** Pods that are not terminating. */
const podsOf = (cluster: WorkloadCluster) =>
  cluster.list<Pod>('', 'pods').flatMap(({ metadata }) => (metadata?.deletionTimestamp === undefined ? [metadata?.name] : []))
const eventsOf = (cluster: WorkloadCluster) =>
  cluster
    .list<Event>('', 'events')
    .filter(({ reason }) => reason === 'TaintManagerEviction')
    .map(({ message }) => message)
    .sort()

test('a second taint does not move the time of an eviction, unless the pod does not tolerate it', () =>
  withNodes(['a'], async (cluster) => {
    await addPod(cluster, 'both', [tolerated('one', 300), tolerated('two', 5)])
    await addPod(cluster, 'first', [tolerated('one', 300)])
    await cluster.patch({ group: '', plural: 'nodes', name: 'a' }, taint('one'))
    await cluster.settle(10_000)
    assert.deepEqual(podsOf(cluster), ['both', 'first'])
    await cluster.patch({ group: '', plural: 'nodes', name: 'a' }, taint('one', 'two'))
    await cluster.settle(10_000)
    assert.deepEqual(podsOf(cluster), ['both'])
    assert.deepEqual(eventsOf(cluster), ['Cancelling deletion of Pod n/first', 'Marking for deletion Pod n/first'])
    await cluster.settle(290_000)
    assert.deepEqual(podsOf(cluster), [])
    assert.deepEqual(eventsOf(cluster), [
      'Cancelling deletion of Pod n/first',
      'Marking for deletion Pod n/both',
      'Marking for deletion Pod n/first',
    ])
  }))

test('a pod that a finalizer keeps is evicted once, also if it was terminating before', () =>
  withNodes(['a'], async (cluster) => {
    await addPod(cluster, 'kept', [], { finalizers: ['example.com/keep'] })
    await cluster.remove({ ...podKind, name: 'kept' })
    await cluster.patch({ group: '', plural: 'nodes', name: 'a' }, taint('one'))
    await cluster.settle(1000)
    await cluster.patch({ ...podKind, name: 'kept' }, { metadata: { labels: { changed: 'yes' } } })
    await cluster.settle(1000)
    const [event, ...others] = cluster.list<Event>('', 'events').filter(({ reason }) => reason === 'TaintManagerEviction')
    assert.deepEqual([event?.message, event?.count ?? 1, others.length], ['Marking for deletion Pod n/kept', 1, 0])
    const conditions = cluster.list<Pod>('', 'pods')[0]?.status?.conditions ?? []
    assert.ok(conditions.some(({ type, reason }) => type === 'DisruptionTarget' && reason === 'DeletionByTaintManager'))
  }))

test('a pod that was evicted is not evicted again when the eviction of another one fails', () =>
  withNodes(['a'], async (cluster) => {
    for (const name of ['first', 'second']) await addPod(cluster, name, [], { finalizers: ['example.com/keep'] })
    const { store } = cluster.parts.engine
    const { put } = store
    let failures = 0
    store.put = (...parameters) => {
      const [{ resource, name }] = parameters
      if (resource.kind !== 'Pod' || name !== 'second' || ++failures > 1) return put.apply(store, parameters)
      return Promise.reject(unavailable('the store cannot write now'))
    }
    await cluster.patch({ group: '', plural: 'nodes', name: 'a' }, taint('one'))
    await cluster.settle(10_000)
    assert.ok(failures > 1)
    assert.deepEqual(podsOf(cluster), [])
    const events = cluster.list<Event>('', 'events').filter(({ reason }) => reason === 'TaintManagerEviction')
    assert.deepEqual(events.map(({ message, count }) => `${message} ${count}`).sort(), [
      'Marking for deletion Pod n/first 1',
      'Marking for deletion Pod n/second 2',
    ])
  }))

/** True if the node that fails next gets its taint. */
const isTainted = async (cluster: WorkloadCluster): Promise<boolean> => {
  const failed = { status: { conditions: [{ type: 'Ready', status: 'False' }] } }
  await cluster.patch({ group: '', plural: 'nodes', name: 'a' }, ready, 'status')
  await cluster.settle(5000)
  await cluster.patch({ group: '', plural: 'nodes', name: 'a' }, failed, 'status')
  await cluster.settle(11_000)
  const node = cluster.list<Node>('', 'nodes').find(({ metadata }) => metadata?.name === 'a')
  return node?.spec?.taints?.some(({ effect }) => effect === 'NoExecute') === true
}

test('nodes that never reported are not ready: evictions stop in a small zone where most nodes fail', () =>
  withNodes(['a', 'b', 'c', 'd', 'e'], async (cluster) => {
    await cluster.patch({ group: '', plural: 'nodes', name: 'b' }, ready, 'status')
    assert.equal(await isTainted(cluster), false)
  }))

test('a ready node keeps evictions on, unless its label excludes it', () =>
  withNodes(['a', 'b'], async (cluster) => {
    await cluster.patch({ group: '', plural: 'nodes', name: 'b' }, ready, 'status')
    assert.equal(await isTainted(cluster), true)
    const labels = { 'node.kubernetes.io/exclude-disruption': 'yes' }
    await cluster.patch({ group: '', plural: 'nodes', name: 'b' }, { metadata: { labels } })
    assert.equal(await isTainted(cluster), false)
  }))

// StatefulSets on an engine: random histories of spec changes, pod failures and restarts; claims, retention, revisions, repair.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ControllerRevision, StatefulSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { PersistentVolumeClaim, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { isReadyPod } from '../kit/pod-state.js'
import { namespace, randomFrom, type WorkloadCluster, workloadCluster } from '../workload.fixture.js'
import { ordinalOf, revisionOfPod } from './stateful-pods.js'

const db = { group: 'apps', plural: 'statefulsets', name: 'db' }
const templateWith = (image: string) => ({ metadata: { labels: { app: 'db' } }, spec: { containers: [{ name: 'main', image }] } })
const setIn = (cluster: WorkloadCluster): StatefulSet => cluster.list<StatefulSet>('apps', 'statefulsets')[0] as StatefulSet
const podsIn = (cluster: WorkloadCluster): readonly Pod[] => cluster.list<Pod>('', 'pods')
const namesOf = (objects: readonly { readonly metadata?: { readonly name?: string } }[]) => objects.map(({ metadata }) => metadata?.name)
const imageOf = ({ spec }: Pod): string => spec?.containers?.[0]?.image ?? ''
const isHealthy = (pod: Pod | undefined): boolean => pod?.status?.phase === 'Running' && isReadyPod(pod)
const ordinal = (pod: Pod): number => ordinalOf(pod, 'db') ?? -1

const create = (cluster: WorkloadCluster, spec: object, more: object = {}): Promise<void> =>
  cluster.create('apps', 'statefulsets', {
    metadata: { name: 'db', ...more },
    spec: { serviceName: 'db', selector: { matchLabels: { app: 'db' } }, template: templateWith('app:0'), ...spec },
  })

async function makeAllReady(cluster: WorkloadCluster): Promise<void> {
  for (let waves = 0; waves < 40; waves++) {
    await cluster.settle(1000)
    const waiting = podsIn(cluster).filter((pod) => !isHealthy(pod))
    if (waiting.length === 0) return
    // A failed pod never runs again.
    for (const pod of waiting) if (pod.status?.phase !== 'Failed') await cluster.setPod(pod, 'Running', true)
  }
}

/** Collects violations of the order by the controller. `isActing`: true while the test itself deletes pods. */
function watchOrder(cluster: WorkloadCluster, problems: string[], isActing: () => boolean): void {
  const resource = cluster.find('', 'pods')
  cluster.parts.engine.store.watch({
    resource,
    namespace,
    matches: undefined,
    deliver: ({ type, object }) => {
      const { spec, status } = setIn(cluster)
      const [pod, replicas] = [object.decode(resource) as Pod, spec?.replicas ?? 0]
      const others = podsIn(cluster)
      if (type === 'ADDED') {
        if (ordinal(pod) >= replicas) problems.push(`${pod.metadata?.name} of ${replicas} replicas`)
        const ready = others.filter((other) => ordinal(other) < ordinal(pod) && isHealthy(other))
        if (spec?.podManagementPolicy === 'OrderedReady' && ready.length < ordinal(pod)) problems.push(`${pod.metadata?.name} too early`)
      }
      if (type !== 'DELETED' || isActing() || pod.status?.phase === 'Failed') return
      const higher = others.filter((other) => ordinal(other) > ordinal(pod))
      const isOrdered = spec?.podManagementPolicy === 'OrderedReady'
      if (ordinal(pod) >= replicas) {
        if (isOrdered && higher.length > 0) problems.push(`${pod.metadata?.name} removed before ${namesOf(higher)}`)
      } else if (revisionOfPod(pod) === status?.updateRevision && revisionOfPod(pod) === newestRevision(cluster))
        problems.push(`${pod.metadata?.name} was up to date`)
      else if (!higher.every(isHealthy)) problems.push(`${pod.metadata?.name} replaced while a later pod is not ready`)
    },
  })
}

const revisionsIn = (cluster: WorkloadCluster): readonly ControllerRevision[] =>
  cluster
    .list<ControllerRevision>('apps', 'controllerrevisions')
    .toSorted((one, other) => Number(one.revision ?? 0) - Number(other.revision ?? 0))
const newestRevision = (cluster: WorkloadCluster): string => revisionsIn(cluster).at(-1)?.metadata?.name ?? ''

async function act(cluster: WorkloadCluster, random: (limit: number) => number): Promise<string> {
  const pods = podsIn(cluster).filter(({ status }) => status?.phase !== 'Failed')
  const pod = pods[random(pods.length)]
  const patch = (spec: object): Promise<void> => cluster.patch(db, { spec })
  switch (random(14)) {
    case 0: {
      const replicas = random(6)
      await patch({ replicas })
      return `scale ${replicas}`
    }
    case 1:
    case 2: {
      const image = `app:${random(4)}`
      await patch({ template: templateWith(image) })
      return image
    }
    case 3: {
      const partition = random(4)
      await patch({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } } })
      return `partition ${partition}`
    }
    case 4:
      await cluster.restart()
      return 'restart'
    case 5:
      if (pod !== undefined) await cluster.setPod(pod, 'Failed', false)
      return `fail ${pod?.metadata?.name}`
    case 6:
      if (pod !== undefined) await cluster.setPod(pod, 'Running', false)
      return `unready ${pod?.metadata?.name}`
    case 7:
      if (pod !== undefined) await cluster.remove({ group: '', plural: 'pods', name: pod.metadata?.name ?? '' })
      return `delete ${pod?.metadata?.name}`
    default:
      if (pod !== undefined) await cluster.setPod(pod, 'Running', true)
      return `ready ${pod?.metadata?.name}`
  }
}

async function playHistory(seed: number, podManagementPolicy: string): Promise<void> {
  const random = randomFrom(seed)
  const cluster = await workloadCluster(['statefulset'])
  const [log, problems]: [string[], string[]] = [[`seed ${seed}`], []]
  let isActing = false
  watchOrder(cluster, problems, () => isActing)
  await create(cluster, { replicas: 3, podManagementPolicy, revisionHistoryLimit: 1 })
  await cluster.settle()
  for (let step = 0; step < 60; step++) {
    isActing = true
    log.push(await act(cluster, random))
    isActing = false
    await cluster.settle()
  }
  await cluster.patch(db, { spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } } })
  await makeAllReady(cluster)
  assert.deepEqual(problems, [], log.join(', '))
  const { spec, status, metadata } = setIn(cluster)
  const wanted = spec?.replicas ?? 0
  const image = spec?.template?.spec?.containers?.[0]?.image ?? ''
  const pods = podsIn(cluster)
  assert.deepEqual(
    namesOf(pods),
    Array.from({ length: wanted }, (_, i) => `db-${i}`),
    log.join(', '),
  )
  assert.ok(pods.every((pod) => imageOf(pod) === image))
  const all =
    wanted === 0
      ? {}
      : { replicas: wanted, readyReplicas: wanted, availableReplicas: wanted, currentReplicas: wanted, updatedReplicas: wanted }
  const revision = newestRevision(cluster)
  assert.deepEqual(status, {
    observedGeneration: metadata?.generation,
    ...all,
    currentRevision: revision,
    updateRevision: revision,
    collisionCount: 0,
  })
  assert.ok(revisionsIn(cluster).length <= 3, 'one old revision is kept, and one that was in use in the last run')
  await cluster.close()
}

for (const [seed, policy] of [
  [1, 'OrderedReady'],
  [2, 'OrderedReady'],
  [3, 'Parallel'],
  [4, 'Parallel'],
] as const)
  test(`random history ${seed} (${policy}) keeps the order and ends as specified`, () => playHistory(seed, policy))

const claimTemplate = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
}

test('claims are owned by the set, by a removed pod, or have no owner', async () => {
  const cluster = await workloadCluster(['statefulset'], ['StatefulSetAutoDeletePVC'])
  const persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Delete', whenScaled: 'Delete' }
  const volumeClaimTemplates = [claimTemplate]
  await create(cluster, { replicas: 2, podManagementPolicy: 'Parallel', volumeClaimTemplates, persistentVolumeClaimRetentionPolicy })
  await cluster.settle()
  const owners = () =>
    cluster
      .list<PersistentVolumeClaim>('', 'persistentvolumeclaims')
      .map(({ metadata }) => metadata?.ownerReferences?.map(({ kind, name }) => `${kind} ${name}`).join() ?? '')
  assert.deepEqual(owners(), ['StatefulSet db', 'StatefulSet db'])
  await cluster.patch(db, { spec: { replicas: 1 } })
  await cluster.settle()
  assert.deepEqual(namesOf(podsIn(cluster)), ['db-0'])
  assert.deepEqual(owners(), ['StatefulSet db', 'Pod db-1'])
  await cluster.patch(db, { spec: { replicas: 2 } })
  await cluster.settle()
  assert.deepEqual(namesOf(podsIn(cluster)), ['db-0'], 'waits until the old claim is deleted')
  await cluster.remove({ group: '', plural: 'persistentvolumeclaims', name: 'data-db-1' })
  await cluster.settle(2000)
  assert.deepEqual(namesOf(podsIn(cluster)), ['db-0', 'db-1'])
  await cluster.patch(db, { spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' } } })
  await cluster.settle()
  assert.deepEqual(owners(), ['', ''])
  await cluster.close()
})

test('a pod without controller is adopted and gets its identity', async () => {
  const cluster = await workloadCluster(['statefulset'])
  await create(cluster, { replicas: 1 })
  await cluster.settle()
  const pods = { group: '', plural: 'pods' }
  await cluster.create('', 'pods', { ...templateWith('app:0'), metadata: { name: 'db-1', labels: { app: 'db' } } })
  await cluster.create('', 'pods', { ...templateWith('app:0'), metadata: { name: 'db-x', labels: { app: 'db' } } })
  await cluster.patch(db, { spec: { replicas: 2 } })
  await makeAllReady(cluster)
  const [, adopted, stranger] = podsIn(cluster)
  assert.equal(adopted?.metadata?.ownerReferences?.[0]?.name, 'db')
  assert.equal(adopted?.metadata?.labels?.['statefulset.kubernetes.io/pod-name'], 'db-1')
  assert.equal(stranger?.metadata?.ownerReferences, undefined)
  await cluster.patch({ ...pods, name: 'db-0' }, { metadata: { labels: { 'statefulset.kubernetes.io/pod-name': null } } })
  await cluster.settle()
  assert.equal(podsIn(cluster)[0]?.metadata?.labels?.['statefulset.kubernetes.io/pod-name'], 'db-0')
  await cluster.close()
})

test('minReadySeconds delays the next pod by the clock', async () => {
  const cluster = await workloadCluster(['statefulset'])
  await create(cluster, { replicas: 2, minReadySeconds: 30 })
  await cluster.settle()
  await cluster.setPod(podsIn(cluster)[0] as Pod, 'Running', true)
  await cluster.settle(29_000)
  assert.deepEqual([podsIn(cluster).length, setIn(cluster).status?.readyReplicas, setIn(cluster).status?.availableReplicas ?? 0], [1, 1, 0])
  await cluster.settle(2000)
  assert.deepEqual([podsIn(cluster).length, setIn(cluster).status?.availableReplicas], [2, 1])
  await cluster.close()
})

test('a template that comes back gets its old revision with a new number; annotations are recorded', async () => {
  const cluster = await workloadCluster(['statefulset'])
  await create(cluster, { replicas: 0 }, { annotations: { cause: 'first' } })
  await cluster.settle()
  const [first] = revisionsIn(cluster)
  for (const image of ['app:1', 'app:0']) {
    await cluster.patch(db, { spec: { template: templateWith(image) } })
    await cluster.settle()
  }
  const newest = revisionsIn(cluster).at(-1)
  assert.deepEqual([newest?.metadata?.name, Number(newest?.revision)], [first?.metadata?.name, 3])
  assert.deepEqual(newest?.metadata?.annotations, { cause: 'first' })
  await cluster.close()
})

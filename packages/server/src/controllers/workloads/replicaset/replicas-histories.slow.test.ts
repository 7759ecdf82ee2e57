// Random histories of ReplicaSets and ReplicationControllers whose selectors overlap, with pods that lose and gain labels, and restarts:
// each owner has as many active pods as it should, and no pod that could be adopted stays without an owner.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReplicaSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { Pod, ReplicationController } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { type HistoryPlan, nameOf, pick, playHistory, type Random } from '../histories.fixture.js'
import { isActivePod, isReadyPod } from '../kit/pod-state.js'
import { controllerRefOf } from '../kit/workload-parts.js'
import { namespace, type WorkloadCluster } from '../workload.fixture.js'
import type { ReplicaOwner } from './replica-status.js'

const tiers = ['a', 'b'] as const
const spec = { containers: [{ name: 'main', image: 'app' }] }

interface OwnerKind {
  readonly group: string
  readonly plural: string
  readonly selectorOf: (labels: object) => object
}

const kinds = [
  { group: 'apps', plural: 'replicasets', selectorOf: (matchLabels) => ({ matchLabels }) },
  { group: '', plural: 'replicationcontrollers', selectorOf: (labels) => labels },
] as const satisfies readonly OwnerKind[]

const ownersIn = (cluster: WorkloadCluster): readonly ReplicaOwner[] => [
  ...cluster.list<ReplicaSet>('apps', 'replicasets'),
  ...cluster.list<ReplicationController>('', 'replicationcontrollers'),
]
const podsIn = (cluster: WorkloadCluster): readonly Pod[] => cluster.list<Pod>('', 'pods')
const podsOf = (cluster: WorkloadCluster, { metadata }: ReplicaOwner): readonly Pod[] =>
  podsIn(cluster).filter((pod) => isActivePod(pod) && controllerRefOf(pod)?.uid === metadata?.uid)
const tierOf = ({ spec: of }: ReplicaOwner): string => of?.template?.metadata?.labels?.['tier'] ?? ''

/** Highest replicas of owners since the last check, by name: a run may go on while its owner is scaled down. */
type Allowed = Map<string, number>

/** Collects creations beyond the replicas of an owner. */
function watchCreations(cluster: WorkloadCluster, allowed: Allowed): readonly string[] {
  const problems: string[] = []
  const resource = cluster.find('', 'pods')
  cluster.parts.engine.store.watch({
    resource,
    namespace,
    matches: undefined,
    deliver: ({ type, object }) => {
      const uid = controllerRefOf(object.decode(resource))?.uid
      const owner = type === 'ADDED' ? ownersIn(cluster).find(({ metadata }) => metadata?.uid === uid) : undefined
      if (owner === undefined) return
      const { length } = podsOf(cluster, owner)
      const limit = Math.max(owner.spec?.replicas ?? 0, allowed.get(nameOf(owner)) ?? 0)
      if (length > limit) problems.push(`${nameOf(owner)} has ${length} pods of ${limit}`)
    },
  })
  return problems
}

function actionsOf(cluster: WorkloadCluster, random: Random, allowed: Allowed): readonly (() => Promise<string>)[] {
  let names = 0
  const addOwner = async (): Promise<string> => {
    if (ownersIn(cluster).length >= 4) return 'enough owners'
    const kind = pick(random, kinds) ?? kinds[0]
    const labels = { app: 'web', tier: pick(random, tiers) }
    const name = `o${++names}`
    await cluster.create(kind.group, kind.plural, {
      metadata: { name },
      spec: { replicas: random(4), selector: kind.selectorOf(labels), template: { metadata: { labels }, spec } },
    })
    return `add ${kind.plural} ${name} ${labels.tier}`
  }
  const onOwner = async (
    verb: string,
    act: (target: { group: string; plural: string; name: string }) => Promise<void>,
  ): Promise<string> => {
    const { group, plural } = pick(random, kinds) ?? kinds[0]
    const owner = pick(random, cluster.list<ReplicaSet>(group, plural))
    if (owner !== undefined) await act({ group, plural, name: nameOf(owner) })
    return `${verb} ${owner === undefined ? '' : nameOf(owner)}`
  }
  const scale = (): Promise<string> =>
    onOwner('scale', (target) => {
      const before = cluster.list<ReplicaSet>(target.group, target.plural).find((each) => nameOf(each) === target.name)
      allowed.set(target.name, Math.max(allowed.get(target.name) ?? 0, before?.spec?.replicas ?? 0))
      return cluster.patch(target, { spec: { replicas: random(5) } })
    })
  const orphan = (): Promise<string> => onOwner('orphan', (target) => cluster.remove(target, { propagationPolicy: 'Orphan' }))
  const addPod = async (): Promise<string> => {
    const labels = { app: 'web', tier: pick(random, tiers) }
    const name = `pod-${++names}`
    await cluster.create('', 'pods', { metadata: { name, labels }, spec })
    return `add ${name} ${labels.tier}`
  }
  const onPod = async (verb: string, act: (pod: Pod, target: { group: string; plural: string; name: string }) => Promise<void>) => {
    const pod = pick(random, podsIn(cluster))
    if (pod !== undefined) await act(pod, { group: '', plural: 'pods', name: nameOf(pod) })
    return `${verb} ${pod === undefined ? '' : nameOf(pod)}`
  }
  const relabel = (): Promise<string> =>
    onPod('relabel', (_, target) => cluster.patch(target, { metadata: { labels: { tier: pick(random, [...tiers, 'none']) } } }))
  const release = (): Promise<string> => onPod('release', (_, target) => cluster.patch(target, { metadata: { ownerReferences: null } }))
  const removePod = (): Promise<string> => onPod('remove', (_, target) => cluster.remove(target))
  // A failed pod never runs again.
  const ready = (): Promise<string> => onPod('ready', async (pod) => (isActivePod(pod) ? cluster.setPod(pod, 'Running', true) : undefined))
  const fail = (): Promise<string> => onPod('fail', (pod) => cluster.setPod(pod, 'Failed', false))
  return [addOwner, addOwner, scale, scale, orphan, addPod, relabel, relabel, release, removePod, ready, ready, fail]
}

const plan: HistoryPlan = {
  controllers: ['replicaset', 'replicationcontroller'],
  steps: 60,
  settleMs: 2000,
  begin: async (cluster, random) => {
    const allowed: Allowed = new Map()
    const problems = watchCreations(cluster, allowed)
    return {
      actions: actionsOf(cluster, random, allowed),
      // As the garbage collector, which removes the references to owners that were deleted without their pods.
      tidy: async () => {
        const uids = ownersIn(cluster).map(({ metadata }) => metadata?.uid)
        for (const pod of podsIn(cluster)) {
          const owner = controllerRefOf(pod)?.uid
          const target = { group: '', plural: 'pods', name: nameOf(pod) }
          if (owner !== undefined && !uids.includes(owner)) await cluster.patch(target, { metadata: { ownerReferences: null } })
        }
        for (const { group, plural } of kinds)
          for (const owner of cluster.list<ReplicaSet>(group, plural))
            if (owner.metadata?.deletionTimestamp !== undefined)
              await cluster.patch({ group, plural, name: nameOf(owner) }, { metadata: { finalizers: null } })
      },
      check: () => {
        assert.deepEqual(problems, [])
        allowed.clear()
        const owners = ownersIn(cluster).filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
        for (const owner of owners) {
          const pods = podsOf(cluster, owner)
          const { replicas = 0, readyReplicas = 0 } = owner.status ?? {}
          assert.deepEqual(
            [pods.length, replicas, readyReplicas],
            [owner.spec?.replicas, owner.spec?.replicas, pods.filter(isReadyPod).length],
            nameOf(owner),
          )
          assert.ok(pods.every((pod) => pod.metadata?.labels?.['tier'] === tierOf(owner)))
        }
        for (const pod of podsIn(cluster).filter((each) => isActivePod(each) && controllerRefOf(each) === undefined))
          assert.ok(!owners.some((owner) => tierOf(owner) === pod.metadata?.labels?.['tier']), `${nameOf(pod)} is not adopted`)
      },
    }
  },
}

for (const seed of [1, 2, 11, 17]) test(`random history ${seed}: owners have their pods`, () => playHistory(seed, plan))

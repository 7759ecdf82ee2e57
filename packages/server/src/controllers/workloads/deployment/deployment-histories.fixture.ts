// A random history of a Deployment: its ReplicaSets and pods stay within surge and unavailability, and the end state matches its spec.

import assert from 'node:assert/strict'
import type { Deployment, ReplicaSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { isActivePod, isAvailablePod } from '../kit/pod-state.js'
import { controllerRefOf } from '../kit/workload-parts.js'
import { namespace, randomFrom, type WorkloadCluster, workloadCluster } from '../workload.fixture.js'
import { replicasOf } from './replica-sets.js'
import { isRollingUpdate, rollingLimits } from './rollout-plan.js'

const web = { group: 'apps', plural: 'deployments', name: 'web' }
const steps = 40

const deploymentIn = (cluster: WorkloadCluster): Deployment => cluster.list<Deployment>('apps', 'deployments')[0] as Deployment
const setsIn = (cluster: WorkloadCluster): readonly ReplicaSet[] => cluster.list<ReplicaSet>('apps', 'replicasets')
const podsIn = (cluster: WorkloadCluster): readonly Pod[] => cluster.list<Pod>('', 'pods')
const activeIn = (cluster: WorkloadCluster): readonly Pod[] => podsIn(cluster).filter(isActivePod)
const availableIn = (cluster: WorkloadCluster): number =>
  activeIn(cluster).filter((pod) => isAvailablePod(pod, 0, cluster.parts.engine.clock.now())).length
const imageOf = ({ spec }: Pod): string => spec?.containers?.[0]?.image ?? ''
const templateWith = (image: string) => ({ metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image }] } })

/** Checks every write of the controllers. Returns a function that allows or forbids the controllers to delete available pods. */
function watchLimits(cluster: WorkloadCluster, log: readonly string[]): (mayShrink: boolean) => void {
  const { store } = cluster.parts.engine
  const problems: string[] = []
  let isShrinking = false
  let before = 0
  const check = (isRight: boolean, problem: string): void => {
    if (!isRight) problems.push(`${problem}; after ${log.join(', ')}`)
  }
  const [sets, pods] = [cluster.find('apps', 'replicasets'), cluster.find('', 'pods')]
  store.watch({
    resource: sets,
    namespace,
    matches: undefined,
    deliver: () => {
      const deployment = deploymentIn(cluster)
      const total = setsIn(cluster).reduce((sum, each) => sum + replicasOf(each), 0)
      const limit = replicasOf(deployment) + rollingLimits(deployment).maxSurge
      check(total <= Math.max(limit, before), `${total} replicas exceed ${limit}`)
      before = total
    },
  })
  store.watch({
    resource: pods,
    namespace,
    matches: undefined,
    deliver: ({ type, object }) => {
      const pod = object.decode(pods) as Pod
      const uid = controllerRefOf(pod)?.uid
      const owner = setsIn(cluster).find(({ metadata }) => metadata?.uid === uid)
      const owned = activeIn(cluster).filter((each) => controllerRefOf(each)?.uid === uid).length
      if (type === 'ADDED' && owner !== undefined) check(owned <= replicasOf(owner), `${owned} pods of ${replicasOf(owner)} replicas`)
      if (type !== 'DELETED' || isShrinking || !isAvailablePod(pod, 0, cluster.parts.engine.clock.now())) return
      const deployment = deploymentIn(cluster)
      const minimum = replicasOf(deployment) - rollingLimits(deployment).maxUnavailable
      check(!isRollingUpdate(deployment) || availableIn(cluster) >= minimum, `${availableIn(cluster)} available of at least ${minimum}`)
    },
  })
  return (mayShrink) => {
    assert.deepEqual(problems, [])
    isShrinking = mayShrink
  }
}

async function act(cluster: WorkloadCluster, random: (limit: number) => number): Promise<string> {
  const pods = activeIn(cluster)
  const pod = pods[random(pods.length)]
  const patch = (spec: object): Promise<void> => cluster.patch(web, { spec })
  switch (random(18)) {
    case 0: {
      const replicas = random(7)
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
      const paused = random(2) === 0
      await patch({ paused })
      return paused ? 'pause' : 'resume'
    }
    case 4: {
      const [maxSurge, maxUnavailable] = [random(3), `${random(5) * 10}%`]
      const type = random(4) === 0 ? 'Recreate' : 'RollingUpdate'
      await patch({
        strategy: type === 'Recreate' ? { type, rollingUpdate: null } : { type, rollingUpdate: { maxSurge: maxSurge + 1, maxUnavailable } },
      })
      return `strategy ${type} ${maxSurge + 1} ${maxUnavailable}`
    }
    case 5:
      await cluster.restart()
      return 'restart'
    case 6:
      if (pod !== undefined) await cluster.setPod(pod, 'Failed', false)
      return 'fail'
    case 7:
      if (pod !== undefined) await cluster.setPod(pod, 'Running', false)
      return 'unready'
    case 8:
      if (pod !== undefined) await cluster.remove({ group: '', plural: 'pods', name: pod.metadata?.name ?? '' })
      return 'delete'
    default:
      // One at a time: a pod that becomes ready while its ReplicaSet is about to delete it is no error of the controllers.
      if (pod !== undefined) await cluster.setPod(pod, 'Running', true)
      return 'ready'
  }
}

async function finish(cluster: WorkloadCluster): Promise<void> {
  await cluster.patch(web, { spec: { paused: false } })
  for (let waves = 0; waves < 30; waves++) {
    await cluster.settle(1000)
    const waiting = activeIn(cluster).filter((pod) => !isAvailablePod(pod, 0, cluster.parts.engine.clock.now()))
    if (waiting.length === 0) return
    for (const pod of waiting) await cluster.setPod(pod, 'Running', true)
  }
}

function checkEndState(cluster: WorkloadCluster): void {
  const { metadata, spec, status } = deploymentIn(cluster)
  const wanted = spec?.replicas ?? 0
  const image = spec?.template?.spec?.containers?.[0]?.image ?? ''
  assert.deepEqual(activeIn(cluster).map(imageOf), Array<string>(wanted).fill(image))
  const sets = setsIn(cluster)
  const revisionOf = ({ metadata: of }: Pick<ReplicaSet, 'metadata'>): number =>
    Number(of?.annotations?.['deployment.kubernetes.io/revision'])
  const current = sets.filter((each) => each.spec?.template?.spec?.containers?.[0]?.image === image)
  assert.equal(current.length, 1)
  assert.ok(
    sets.every((each) => each === current[0] || (each.spec?.replicas === 0 && revisionOf(each) < revisionOf(current[0] as ReplicaSet))),
  )
  assert.equal(revisionOf({ ...(metadata === undefined ? {} : { metadata }) }), revisionOf(current[0] as ReplicaSet))
  assert.ok(sets.length <= 3, 'two old revisions are kept')
  const { conditions = [], ...counts } = status ?? {}
  const all = wanted === 0 ? {} : { replicas: wanted, updatedReplicas: wanted, readyReplicas: wanted, availableReplicas: wanted }
  assert.deepEqual(counts, { observedGeneration: metadata?.generation, ...all })
  assert.deepEqual(conditions.map(({ type, status: is, reason }) => `${type} ${is} ${reason}`).sort(), [
    'Available True MinimumReplicasAvailable',
    'Progressing True NewReplicaSetAvailable',
  ])
}

/** Plays changes of the spec, of pods and restarts of the controllers; throws if a limit is exceeded or the end state is wrong. */
export async function playHistory(seed: number): Promise<void> {
  const random = randomFrom(seed)
  const cluster = await workloadCluster(['replicaset', 'deployment'])
  const log: string[] = [`seed ${seed}`]
  await cluster.create('apps', 'deployments', {
    metadata: { name: 'web' },
    spec: {
      replicas: 4,
      revisionHistoryLimit: 2,
      selector: { matchLabels: { app: 'web' } },
      template: templateWith('app:0'),
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
    },
  })
  const allowShrinking = watchLimits(cluster, log)
  await cluster.settle()
  for (let step = 0; step < steps; step++) {
    allowShrinking(true)
    const action = await act(cluster, random)
    log.push(action)
    allowShrinking(!/^(?:app|resume|ready)/.test(action))
    await cluster.settle()
  }
  allowShrinking(true)
  await finish(cluster)
  try {
    checkEndState(cluster)
  } catch (thrown) {
    throw new Error(`after ${log.join(', ')}`, { cause: thrown })
  }
  await cluster.close()
}

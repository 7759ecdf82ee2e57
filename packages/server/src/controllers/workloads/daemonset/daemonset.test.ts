// DaemonSets on an engine: random histories of nodes, templates, pod failures and restarts; back-off, adoption, revisions.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { ControllerRevision, DaemonSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { Node, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { isReadyPod } from '../kit/pod-state.js'
import { namespace, randomFrom, type WorkloadCluster, workloadCluster } from '../workload.fixture.js'
import { eligibilityOf, hashLabel, nodeOfPod } from './daemon-pods.js'

const agent = { group: 'apps', plural: 'daemonsets', name: 'agent' }
const templateWith = (image: string) => ({ metadata: { labels: { app: 'agent' } }, spec: { containers: [{ name: 'main', image }] } })
const setIn = (cluster: WorkloadCluster): DaemonSet => cluster.list<DaemonSet>('apps', 'daemonsets')[0] as DaemonSet
const podsIn = (cluster: WorkloadCluster): readonly Pod[] => cluster.list<Pod>('', 'pods')
const imageOf = ({ spec }: Pod): string => spec?.containers?.[0]?.image ?? ''
const revisionsIn = (cluster: WorkloadCluster): readonly ControllerRevision[] =>
  cluster
    .list<ControllerRevision>('apps', 'controllerrevisions')
    .toSorted((one, other) => Number(one.revision ?? 0) - Number(other.revision ?? 0))
const isUpdated = (cluster: WorkloadCluster, { metadata }: Pod): boolean =>
  metadata?.labels?.[hashLabel] === revisionsIn(cluster).at(-1)?.metadata?.labels?.[hashLabel]

const eligibleNodes = (cluster: WorkloadCluster): readonly string[] =>
  cluster
    .list<Node>('', 'nodes')
    .filter((node) => eligibilityOf(cluster.parts.engine.identity, setIn(cluster), node).shouldRun)
    .map(({ metadata }) => metadata?.name ?? '')

const create = (cluster: WorkloadCluster, spec: object = {}): Promise<void> =>
  cluster.create('apps', 'daemonsets', {
    metadata: { name: 'agent' },
    spec: { selector: { matchLabels: { app: 'agent' } }, template: templateWith('app:0'), ...spec },
  })
const addNode = (cluster: WorkloadCluster, name: string): Promise<void> => cluster.create('', 'nodes', { metadata: { name } })
const nodeTarget = (name: string) => ({ group: '', plural: 'nodes', name })

/** Collects violations by the controller. `isActing`: true while the test itself writes. */
function watchLimits(cluster: WorkloadCluster, problems: string[], isActing: () => boolean): void {
  const resource = cluster.find('', 'pods')
  /** Nodes that lost a ready pod to the controller. Old pods that are not ready are replaced at once and do not count. */
  const taken = new Set<string>()
  cluster.parts.engine.store.watch({
    resource,
    namespace,
    matches: undefined,
    deliver: ({ type, object }) => {
      const pod = object.decode(resource) as Pod
      const node = nodeOfPod(pod) ?? ''
      if (type !== 'ADDED') taken.delete(node)
      if (isActing() || type === 'MODIFIED') return
      const { maxUnavailable = 0, maxSurge = 0 } = setIn(cluster).spec?.updateStrategy?.rollingUpdate ?? {}
      const onNode = podsIn(cluster).filter((each) => nodeOfPod(each) === node)
      if (type === 'ADDED' && onNode.length > (maxSurge === 0 ? 1 : 2)) problems.push(`${onNode.length} pods on ${node}`)
      if (type === 'ADDED' || !isReadyPod(pod) || onNode.length > 0 || !eligibleNodes(cluster).includes(node)) return
      if (isUpdated(cluster, pod)) problems.push(`${pod.metadata?.name} was up to date`)
      if (maxSurge !== 0) problems.push(`${node} lost its pod while surging`)
      taken.add(node)
      if (taken.size > Number(maxUnavailable)) problems.push(`${taken.size} nodes without a pod exceed ${maxUnavailable}`)
    },
  })
}

async function act(cluster: WorkloadCluster, random: (limit: number) => number): Promise<string> {
  const pods = podsIn(cluster).filter(({ status }) => status?.phase !== 'Failed')
  const nodes = cluster.list<Node>('', 'nodes')
  const pod = pods[random(pods.length)]
  const node = nodes[random(nodes.length)]?.metadata?.name
  const patch = (spec: object): Promise<void> => cluster.patch(agent, { spec })
  switch (random(16)) {
    case 0: {
      const name = `n${random(8)}`
      if (!nodes.some(({ metadata }) => metadata?.name === name)) await addNode(cluster, name)
      return `node ${name}`
    }
    case 1:
      if (node !== undefined && nodes.length > 3) await cluster.remove(nodeTarget(node))
      return `node ${node} removed`
    case 2: {
      const taints = random(2) === 0 ? null : [{ key: 'k', effect: random(2) === 0 ? 'NoSchedule' : 'NoExecute' }]
      if (node !== undefined) await cluster.patch(nodeTarget(node), { spec: { taints } })
      return `taint ${node} ${taints?.[0]?.effect}`
    }
    case 3:
    case 4: {
      const image = `app:${random(4)}`
      await patch({ template: templateWith(image) })
      return image
    }
    case 5: {
      const rollingUpdate =
        random(2) === 0 ? { maxUnavailable: 1 + random(2), maxSurge: 0 } : { maxUnavailable: 0, maxSurge: 1 + random(2) }
      await patch({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } })
      return `strategy ${JSON.stringify(rollingUpdate)}`
    }
    case 6:
      await cluster.restart()
      return 'restart'
    case 7:
      if (pod !== undefined) await cluster.setPod(pod, 'Failed', false)
      return `fail ${pod?.metadata?.name}`
    case 8:
      if (pod !== undefined) await cluster.setPod(pod, 'Running', false)
      return `unready ${pod?.metadata?.name}`
    case 9:
      if (pod !== undefined) await cluster.remove({ group: '', plural: 'pods', name: pod.metadata?.name ?? '' })
      return `delete ${pod?.metadata?.name}`
    default:
      if (pod !== undefined) await cluster.setPod(pod, 'Running', true)
      return `ready ${pod?.metadata?.name}`
  }
}

async function playHistory(seed: number): Promise<void> {
  const random = randomFrom(seed)
  const cluster = await workloadCluster(['daemonset'])
  const [log, problems]: [string[], string[]] = [[`seed ${seed}`], []]
  let isActing = false
  for (const name of ['n0', 'n1', 'n2', 'n3']) await addNode(cluster, name)
  await create(cluster, { revisionHistoryLimit: 1 })
  watchLimits(cluster, problems, () => isActing)
  await cluster.settle()
  for (let step = 0; step < 40; step++) {
    isActing = true
    log.push(await act(cluster, random))
    isActing = false
    await cluster.settle()
  }
  for (let waves = 0; waves < 40; waves++) {
    await cluster.settle(60_000)
    const waiting = podsIn(cluster).filter((pod) => !isReadyPod(pod))
    if (waiting.length === 0) break
    // A failed pod never runs again.
    for (const pod of waiting) if (pod.status?.phase !== 'Failed') await cluster.setPod(pod, 'Running', true)
  }
  assert.deepEqual(problems, [], log.join(', '))
  const { spec, status } = setIn(cluster)
  const [eligible, pods] = [eligibleNodes(cluster), podsIn(cluster)]
  const wanted = pods.filter((pod) => eligible.includes(nodeOfPod(pod) ?? ''))
  assert.deepEqual(wanted.map(nodeOfPod).sort(), eligible, log.join(', '))
  assert.ok(wanted.every((pod) => imageOf(pod) === spec?.template?.spec?.containers?.[0]?.image))
  const { desiredNumberScheduled, numberAvailable, numberUnavailable, numberMisscheduled } = status ?? {}
  const { length } = eligible
  assert.deepEqual(
    [desiredNumberScheduled, numberAvailable, numberUnavailable, numberMisscheduled ?? 0],
    [length, length, undefined, pods.length - length],
  )
  assert.ok(revisionsIn(cluster).length <= 3, 'one old revision is kept, and one that pods on tainted nodes have')
  await cluster.close()
}

for (const seed of [1, 2, 3, 4])
  test(`random history ${seed} has one pod per node within the limits and ends as specified`, () => playHistory(seed))

test('failed pods are replaced with a growing delay, and events say so', async () => {
  const cluster = await workloadCluster(['daemonset'])
  await addNode(cluster, 'n')
  await create(cluster)
  const delays: number[] = []
  for (let failures = 0; failures < 3; failures++) {
    await cluster.settle(0)
    const [pod] = podsIn(cluster)
    await cluster.setPod(pod as Pod, 'Failed', false)
    let seconds = 0
    await cluster.settle(0)
    for (; podsIn(cluster)[0]?.metadata?.name === pod?.metadata?.name; seconds++) await cluster.settle(1000)
    delays.push(seconds)
  }
  assert.deepEqual(delays, [0, 1, 2])
  const events = cluster.list<ApiObject & { readonly reason?: string; readonly message?: string }>('', 'events')
  const messages = events.filter(({ reason }) => reason === 'FailedDaemonPod').map(({ message }) => message)
  assert.match(messages[0] ?? '', /^Found failed daemon pod n\/agent-\d+ on node n, will try to kill it$/)
  await cluster.close()
})

test('a deleted revision is created again; an adopted pod of another template is replaced', async () => {
  const cluster = await workloadCluster(['daemonset'])
  await addNode(cluster, 'n')
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } }
  const { metadata, spec } = templateWith('app:9')
  await cluster.create('', 'pods', { metadata: { ...metadata, name: 'orphan' }, spec: { ...spec, affinity } })
  await create(cluster)
  await cluster.settle()
  const [revision, pod] = [revisionsIn(cluster)[0]?.metadata?.name ?? '', podsIn(cluster)]
  assert.deepEqual([pod.length, imageOf(pod[0] as Pod)], [1, 'app:0'])
  await cluster.remove({ group: 'apps', plural: 'controllerrevisions', name: revision })
  await cluster.settle()
  assert.deepEqual(
    revisionsIn(cluster).map(({ metadata: of }) => of?.name),
    [revision],
  )
  await cluster.close()
})

// Random histories of nodes and pods with restarts of nodelifecycle and podgc: pods of silent, deleted or tainted nodes are deleted, and no
// other pod is deleted.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event, Node, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { ignoreErrors, internalPatch } from '../../framework/internal-call.js'
import { isTerminating, readAll } from '../kit/workload-parts.js'
import { randomFrom, type WorkloadCluster, workloadCluster } from '../workload.fixture.js'

const histories = 3
const steps = 9
const nodeCount = 6
/** Shorter than the grace period of a node. */
const beatMs = 30_000
/** Longer than the grace period and the rate of evictions together. */
const longBeats = 4

const nodesIn = (cluster: WorkloadCluster): readonly Node[] => [...readAll<Node>(cluster.parts, cluster.find('', 'nodes'), '')]
const taintsOf = ({ spec }: Node): readonly string[] => (spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`)
const unreachable = 'node.kubernetes.io/unreachable:NoExecute'

async function playHistory(seed: number): Promise<void> {
  const random = randomFrom(seed)
  const cluster = await workloadCluster(['nodelifecycle', 'podgc'])
  const log = [`seed ${seed}`]
  const silent = new Set<string>()
  const tainted = new Set<string>()
  /** Pods that the controllers must delete; they must delete no others. */
  const doomed = new Set<string>()
  let pods = 0
  const beat = async (): Promise<void> => {
    const time = new Date(cluster.parts.engine.clock.now()).toISOString()
    const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: time, lastTransitionTime: time }]
    for (const { metadata } of nodesIn(cluster)) {
      const name = metadata?.name ?? ''
      if (silent.has(name)) continue
      const target = { resource: cluster.find('', 'nodes'), namespace: '', name, subresource: 'status' }
      await ignoreErrors([404], internalPatch(cluster.parts.engine, target, { status: { conditions } }))
    }
  }
  const pass = async (beats: number): Promise<void> => {
    for (let i = 0; i < beats; i++) {
      await beat()
      await cluster.settle(beatMs)
    }
  }
  const pick = (): string => nodesIn(cluster)[random(nodesIn(cluster).length)]?.metadata?.name ?? ''
  const doom = (node: string): void => {
    for (const { metadata, spec } of cluster.list<Pod>('', 'pods'))
      if (spec?.nodeName === node && metadata?.labels?.['stays'] === undefined) doomed.add(metadata?.name ?? '')
  }
  for (let i = 0; i < nodeCount; i++) await cluster.create('', 'nodes', { metadata: { name: `n${i}` } })
  await pass(1)
  const actions: readonly (readonly [string, () => Promise<void>])[] = [
    [
      'pod',
      async () => {
        const stays = random(3) === 0
        const node = pick()
        if (silent.has(node) || tainted.has(node)) return
        const metadata = { name: `p${++pods}`, ...(stays ? { labels: { stays: '' } } : {}) }
        const tolerations = stays ? [{ operator: 'Exists' }] : []
        await cluster.create('', 'pods', { metadata, spec: { nodeName: node, tolerations, containers: [{ name: 'main', image: 'app' }] } })
      },
    ],
    [
      'silence',
      async () => {
        const name = pick()
        if (silent.size > 0) return
        silent.add(name)
        doom(name)
      },
    ],
    ['revive', async () => silent.clear()],
    [
      'taint',
      async () => {
        const name = pick()
        const taints = [{ key: 'example.com/out', value: '', effect: 'NoExecute' }]
        await cluster.patch({ group: '', plural: 'nodes', name }, { spec: { taints } })
        tainted.add(name)
        doom(name)
      },
    ],
    [
      'remove node',
      async () => {
        if (nodesIn(cluster).length <= 4) return
        const name = pick()
        await cluster.remove({ group: '', plural: 'nodes', name })
        silent.delete(name)
        for (const { metadata, spec } of cluster.list<Pod>('', 'pods')) if (spec?.nodeName === name) doomed.add(metadata?.name ?? '')
      },
    ],
    ['restart', () => cluster.restart()],
  ]
  let created = 0
  for (let step = 0; step < steps; step++) {
    const [name, act] = actions[random(3) === 0 ? 0 : random(actions.length)] as (typeof actions)[number]
    log.push(name)
    await act()
    if (name === 'pod') created = pods
    await pass(longBeats)
    // No kubelet finishes terminating pods.
    const left = cluster.list<Pod>('', 'pods').flatMap((pod) => (isTerminating(pod) ? [] : (pod.metadata?.name ?? '')))
    const living = Array.from({ length: created }, (_, i) => `p${i + 1}`).filter((each) => !doomed.has(each))
    assert.deepEqual(left.sort(), living.sort(), log.join(', '))
    for (const node of nodesIn(cluster)) {
      const isSilent = silent.has(node.metadata?.name ?? '')
      assert.equal(taintsOf(node).includes(unreachable), isSilent, `${node.metadata?.name}: ${log.join(', ')}`)
      const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')
      assert.equal(ready?.status, isSilent ? 'Unknown' : 'True', log.join(', '))
    }
  }
  const marked = new Set(cluster.list<Event>('', 'events').map(({ involvedObject }) => involvedObject?.name))
  const evicted = [...doomed].filter((each) => !marked.has(each) && !log.includes('remove node'))
  assert.deepEqual(evicted, [], `lost events: ${log.join(', ')}`)
  await cluster.close()
}

test('nodes and pods of random histories: only pods of broken nodes are deleted', async () => {
  for (let seed = 1; seed <= histories; seed++) await playHistory(seed)
})
